//! The key above the panels.

use plotters::prelude::*;

use super::ink::{self, Area, End, Failure, fit, write};
use super::panel::{Band, Key, Sign};
use super::{bars, xy};
use crate::report::format;
use crate::report::palette::{self, HEAT, MUTED, TEXT};
use crate::report::view::ArmView;

/// Height of one line of the key, pixels.
const LINE: i32 = 22;

/// Width of the samples of shaded and of upright signs, pixels.
const SHADE: i32 = 28;
const UPRIGHT: i32 = 12;

/// Length of the sample of an arm's line, pixels: long enough that the longest dashes show their gaps beside the marker.
const SAMPLE: i32 = 44;

/// What an entry explains.
#[derive(Clone, Copy)]
enum Sample {
    Arm(usize),
    Curve(usize),
    Sign(Sign),
}

impl Sample {
    fn width(self) -> i32 {
        match self {
            Sample::Arm(_) | Sample::Curve(_) => SAMPLE,
            Sample::Sign(Sign::Rule | Sign::Overlap | Sign::Needle) => UPRIGHT,
            Sample::Sign(_) => SHADE,
        }
    }
}

/// One entry: what it explains, its text, and where it stands.
struct Entry {
    sample: Sample,
    text: String,
    place: (i32, i32),
}

/// What the key explains, each with its text; nothing in the key of a heat map, which is a ramp.
fn samples(key: &Key, arms: &[ArmView]) -> Vec<(Sample, String)> {
    match key {
        Key::Arms(which) => {
            let drawn = arms.iter().filter(|view| which.contains(&view.index));
            drawn.map(|view| (Sample::Arm(view.index), view.label.clone())).collect()
        }
        Key::Named(named) => named.iter().map(|(arm, name)| (Sample::Arm(*arm), name.clone())).collect(),
        Key::Signs(signs) => signs.iter().map(|(sign, text)| (Sample::Sign(*sign), (*text).to_owned())).collect(),
        Key::Curves(named) => named.iter().map(|(arm, name)| (Sample::Curve(*arm), name.clone())).collect(),
        Key::Heat(_) | Key::Ramp { .. } => Vec::new(),
    }
}

/// Entries from left to right, on as many lines as they need within `width` pixels.
fn entries(key: &Key, arms: &[ArmView], width: i32) -> Vec<Entry> {
    let (mut x, mut line) = (0, 0);
    let mut entries = Vec::new();
    for (sample, text) in samples(key, arms) {
        let text = fit(&text, f64::from(width - SAMPLE - 8));
        let takes = sample.width() + 8 + ink::width(&text).ceil() as i32 + 20;
        if x > 0 && x + takes - 20 > width {
            x = 0;
            line += 1;
        }
        entries.push(Entry { sample, text, place: (x, line * LINE + LINE / 2) });
        x += takes;
    }
    entries
}

/// How high the key is within `width` pixels.
pub(super) fn height(key: &Key, arms: &[ArmView], width: i32) -> i32 {
    match key {
        Key::Arms(_) | Key::Named(_) | Key::Curves(_) | Key::Signs(_) => {
            entries(key, arms, width).last().map_or(0, |entry| entry.place.1 + LINE / 2 + 10)
        }
        Key::Heat(_) | Key::Ramp { .. } => LINE + 10,
    }
}

/// Draws the key with its upper left corner at `(x, y)`.
pub(super) fn draw<'a>(
    area: &Area<'a>,
    key: &Key,
    arms: &[ArmView],
    (x, y): (i32, i32),
    width: i32,
) -> Result<(), Failure<'a>> {
    match key {
        Key::Arms(_) | Key::Named(_) | Key::Curves(_) | Key::Signs(_) => {
            for entry in entries(key, arms, width) {
                let (left, middle) = (x + entry.place.0, y + entry.place.1);
                match entry.sample {
                    Sample::Arm(arm) => {
                        ink::line(area, arm, vec![(left, middle), (left + SAMPLE, middle)])?;
                        ink::marker(area, arm, (left + SAMPLE / 2, middle), 4)?;
                    }
                    Sample::Curve(arm) => {
                        let stroke = palette::arm(arm).rgb().stroke_width(2);
                        area.draw(&PathElement::new(vec![(left, middle), (left + SAMPLE, middle)], stroke))?;
                        ink::marker(area, arm, (left + SAMPLE / 2, middle), 4)?;
                    }
                    Sample::Sign(sign) => draw_sign(area, sign, (left, left + entry.sample.width()), middle)?,
                }
                write(area, &entry.text, (left + entry.sample.width() + 8, middle), End::Left, TEXT, false)?;
            }
            Ok(())
        }
        Key::Heat(most) => ramp(area, "grants in a cell: 1", &format::tick(*most as f64), (x, y)),
        Key::Ramp { name, low, high } => {
            ramp(area, &fit(&format!("{name}: {low}"), f64::from(width) * 0.5), high, (x, y))
        }
    }
}

/// The ramp between the texts of its ends.
fn ramp<'a>(area: &Area<'a>, low: &str, high: &str, (x, y): (i32, i32)) -> Result<(), Failure<'a>> {
    let middle = y + LINE / 2;
    write(area, low, (x, middle), End::Left, MUTED, false)?;
    let mut left = x + ink::width(low).ceil() as i32 + 8;
    for level in HEAT {
        area.draw(&Rectangle::new([(left, middle - 6), (left + 18, middle + 6)], level.rgb().filled()))?;
        left += 18;
    }
    write(area, high, (left + 8, middle), End::Left, MUTED, false)
}

fn draw_sign<'a>(area: &Area<'a>, sign: Sign, (left, right): (i32, i32), middle: i32) -> Result<(), Failure<'a>> {
    let block = |half: i32, style: ShapeStyle| {
        area.draw(&Rectangle::new([(left, middle - half), (right, middle + half)], style))
    };
    match sign {
        Sign::Line => area.draw(&PathElement::new(vec![(left, middle), (right, middle)], MUTED.rgb().stroke_width(2))),
        Sign::Columns => block(7, MUTED.rgb().mix(xy::COLUMN).filled()),
        Sign::Rule => bars::dashes(area, (left + right) / 2, (middle - 9, middle + 9)),
        Sign::Band(phase) => {
            xy::draw_band(area, &Band { x: (0.0, 0.0), phase }, (left, right), (middle - 7, middle + 7))
        }
        Sign::Part(phase) => block(5, palette::phase(phase).rgb().filled()),
        Sign::Bracket => bars::bracket(area, (left, right), middle),
        Sign::Stretches => bars::sample_lane(area, (left, right), middle, false),
        Sign::Overlap => bars::sample_lane(area, (left, right), middle, true),
        Sign::Needle => bars::needle(area, (left + right) / 2, middle),
    }
}

/// The place in the ramp of a cell with this many of at most `most` grants: in equal ratios, so that few are seen beside
/// many.
pub(in crate::report) fn heat_level(grants: u64, most: u64) -> usize {
    let top = palette::HEAT.len() - 1;
    if grants <= 1 || most <= 1 {
        return if most <= 1 { top } else { 0 };
    }
    let share = (grants as f64).ln() / (most as f64).ln();
    ((share * palette::HEAT.len() as f64) as usize).min(top)
}
