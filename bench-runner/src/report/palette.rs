//! Colours, dashes and shapes. The charts are drawn with the light colours as they stand here, so that an SVG file is a
//! valid light chart by itself; in the HTML report the style sheet overrides exactly these values by attribute selectors,
//! which outrank presentation attributes, with custom properties that change with the theme.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// A colour in both themes, as 0xRRGGBB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink {
    name: &'static str,
    light: u32,
    dark: u32,
}

const fn ink(name: &'static str, light: u32, dark: u32) -> Ink {
    Ink { name, light, dark }
}

impl Ink {
    /// The colour that charts are drawn with.
    pub fn rgb(self) -> RGBColor {
        let [_, red, green, blue] = self.light.to_be_bytes();
        RGBColor(red, green, blue)
    }

    /// The custom property's name in the style sheet.
    pub fn property(self) -> String {
        format!("--{}", self.name)
    }
}

/// Behind everything in a chart.
pub(super) const SURFACE: Ink = ink("surface", 0xFFFFFF, 0x14191F);
/// Titles and values.
pub(super) const TEXT: Ink = ink("text", 0x1B222B, 0xE8ECF1);
/// Names of axes and their ticks.
pub(super) const MUTED: Ink = ink("muted", 0x5A6572, 0x9DA9B6);
/// Lines of the grid.
pub(super) const GRID: Ink = ink("grid", 0xE6EAEE, 0x262E37);
/// Axes and rules.
pub(super) const AXIS: Ink = ink("axis", 0xB3BCC6, 0x4A5561);

/// One for each arm, told apart by people with any colour vision (after Okabe and Ito, darkened or lightened until each
/// has at least 3:1 against its surface); further arms begin again with another dash and shape.
const ARMS: [Ink; 6] = [
    ink("arm-1", 0xC4500A, 0xF0894A),
    ink("arm-2", 0x0B6BAE, 0x55AEEA),
    ink("arm-3", 0x00795A, 0x35C39A),
    ink("arm-4", 0xA0468F, 0xDD93CF),
    ink("arm-5", 0x8A6500, 0xDDB63C),
    ink("arm-6", 0x4B5563, 0xB4BFCC),
];

/// The stretches of a failover: of the whole strength in a bar, washed out behind a line.
const PHASES: [Ink; 3] =
    [ink("unnoticed", 0xB88600, 0xE3B341), ink("takeover", 0xB3123F, 0xFF7F9C), ink("mending", 0x687889, 0x8FA0B2)];

/// A stretch of a failover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// From the fault on until the old holder is gone in the servers' view.
    Unnoticed,
    /// From then on until somebody else is granted.
    Takeover,
    /// From the fault on until it is mended.
    Mending,
}

/// The colour of a stretch of a failover.
pub(super) fn phase(phase: Phase) -> Ink {
    PHASES[phase as usize]
}

/// From few to many, in the heat map.
pub(super) const HEAT: [Ink; 7] = [
    ink("heat-1", 0xDCEAF5, 0x15293B),
    ink("heat-2", 0xB7D4EA, 0x1A4263),
    ink("heat-3", 0x88BADC, 0x215E8C),
    ink("heat-4", 0x589ACA, 0x347FB5),
    ink("heat-5", 0x3279B4, 0x5FA5D8),
    ink("heat-6", 0x185995, 0x9ACAEC),
    ink("heat-7", 0x0A3969, 0xDBEEFC),
];

/// The colour of the arm at this place.
pub(super) fn arm(index: usize) -> Ink {
    ARMS[index % ARMS.len()]
}

/// The form of an arm's markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A disc.
    Disc,
    /// A square on its side.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle that points down.
    Wedge,
}

/// The shape of the arm at this place.
pub(super) fn shape(index: usize) -> Shape {
    [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Wedge][index % 5]
}

/// Dash and gap in pixels of the arm at this place; `None` is a solid line.
pub(super) fn dash(index: usize) -> Option<(u32, u32)> {
    [None, Some((9, 4)), Some((3, 3)), Some((14, 5)), Some((6, 3)), Some((2, 5)), Some((18, 4))][index % 7]
}

/// Every ink.
fn all() -> impl Iterator<Item = Ink> {
    [SURFACE, TEXT, MUTED, GRID, AXIS].into_iter().chain(ARMS).chain(PHASES).chain(HEAT)
}

/// The part of the style sheet that gives the charts their theme.
pub(super) fn style_sheet() -> String {
    let properties = |theme: fn(Ink) -> u32| {
        all().fold(String::new(), |mut out, ink| {
            let _ = write!(out, "{}:#{:06X};", ink.property(), theme(ink));
            out
        })
    };
    let mut css = format!(":root{{{}}}\n", properties(|ink| ink.light));
    let _ = writeln!(css, "@media (prefers-color-scheme:dark){{:root{{{}}}}}", properties(|ink| ink.dark));
    for ink in all() {
        for attribute in ["fill", "stroke"] {
            let _ = writeln!(css, ".chart [{attribute}=\"#{:06X}\"]{{{attribute}:var({})}}", ink.light, ink.property());
        }
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_inks_share_a_light_colour() {
        // The style sheet tells inks apart by their light colour alone.
        let mut seen: Vec<u32> = all().map(|ink| ink.light).collect();
        let number = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), number);
    }

    #[test]
    fn every_arm_and_phase_stands_out_from_its_surface() {
        for ink in ARMS.into_iter().chain(PHASES).chain([TEXT, MUTED]) {
            assert!(contrast(ink.light, SURFACE.light) >= 3.0, "{ink:?} in the light theme");
            assert!(contrast(ink.dark, SURFACE.dark) >= 3.0, "{ink:?} in the dark theme");
        }
    }

    #[test]
    fn neighbouring_arms_differ_in_colour_shape_and_dash() {
        for index in 0..40 {
            assert_ne!(arm(index), arm(index + 1));
            assert_ne!(shape(index), shape(index + 1));
            assert_ne!(dash(index), dash(index + 1));
        }
    }

    /// WCAG's contrast ratio.
    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour: u32| {
            let part = |shift: u32| {
                let value = f64::from((colour >> shift) & 0xFF) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}
