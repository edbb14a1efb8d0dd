//! Fitted curves: the curve, its band, the spread of what was measured, and the limit across.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::ink::{self, Area, End, Failure, fit, write};
use super::panel::Plot;
use crate::report::palette::{self, HEAT, MUTED, SURFACE, TEXT};

/// How strong a band is: two of them are seen where they overlap.
const BAND: f64 = 0.16;

/// Half the width of a whisker's end, pixels.
const CAP: i32 = 3;

/// Ramp levels from which on a text in a cell is drawn in the surface's colour.
const DARK: usize = 4;

/// The area between two edges, cut to the panel.
pub(super) fn area<'a>(
    root: &Area<'a>,
    plot: &Plot,
    arm: usize,
    points: &[(f64, f64, f64)],
    at: &impl Fn((f64, f64)) -> (i32, i32),
) -> Result<(), Failure<'a>> {
    let inside: Vec<&(f64, f64, f64)> = points.iter().filter(|(x, ..)| plot.x.holds(*x)).collect();
    let upper = inside.iter().map(|(x, _, high)| at((*x, plot.y.clamp(*high))));
    let lower = inside.iter().rev().map(|(x, low, _)| at((*x, plot.y.clamp(*low))));
    let outline: Vec<(i32, i32)> = upper.chain(lower).collect();
    if outline.len() < 4 {
        return Ok(());
    }
    root.draw(&Polygon::new(outline, palette::arm(arm).rgb().mix(BAND).filled()))
}

/// The curve: solid where it was measured; beyond it dashed, and it says so.
pub(super) fn curve<'a>(
    root: &Area<'a>,
    plot: &Plot,
    arm: usize,
    points: &[(f64, f64)],
    beyond: bool,
    at: &impl Fn((f64, f64)) -> (i32, i32),
) -> Result<(), Failure<'a>> {
    let held = points.iter().filter(|(x, y)| plot.x.holds(*x) && plot.y.holds(*y));
    let mut places: Vec<(i32, i32)> = held.map(|point| at(*point)).collect();
    places.dedup();
    if places.len() < 2 {
        return Ok(());
    }
    let stroke = palette::arm(arm).rgb().stroke_width(2);
    if !beyond {
        return root.draw(&PathElement::new(places, stroke));
    }
    root.draw(&DashedPathElement::new(places.clone(), 5, 4, stroke))?;
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(()) };
    let text = "extrapolated";
    // Beside the dashes, on the side that they leave free; where they are short, they alone have to do.
    if f64::from(last.0 - first.0) < ink::width(text) * 0.5 {
        return Ok(());
    }
    let rises = last.1 <= first.1;
    let top = at((plot.x.low(), plot.y.clamp(f64::MAX))).1;
    let ground = at((plot.x.low(), plot.y.low())).1;
    let y = if rises { last.1 + 16 } else { last.1 - 12 };
    write(root, text, (last.0, y.clamp(top + 8, ground - 8)), End::Right, MUTED, false)
}

/// From the smallest to the largest of what was measured.
pub(super) fn whiskers<'a>(
    root: &Area<'a>,
    plot: &Plot,
    arm: usize,
    points: &[(f64, f64, f64)],
    at: &impl Fn((f64, f64)) -> (i32, i32),
) -> Result<(), Failure<'a>> {
    let stroke = palette::arm(arm).rgb().stroke_width(1);
    for (x, low, high) in points.iter().filter(|(x, low, _)| plot.x.holds(*x) && plot.y.holds(*low)) {
        let (from, to) = (at((*x, *low)), at((*x, plot.y.clamp(*high))));
        root.draw(&PathElement::new(vec![from, to], stroke))?;
        for end in [from, to] {
            root.draw(&PathElement::new(vec![(end.0 - CAP, end.1), (end.0 + CAP, end.1)], stroke))?;
        }
    }
    Ok(())
}

/// A line across the panel, with its name at the left end.
pub(super) fn level<'a>(
    root: &Area<'a>,
    plot: &Plot,
    level: f64,
    text: &str,
    at: &impl Fn((f64, f64)) -> (i32, i32),
) -> Result<(), Failure<'a>> {
    if !plot.y.holds(level) {
        return Ok(());
    }
    let (left, right) = (at((plot.x.low(), level)), at((plot.x.clamp(f64::MAX), level)));
    root.draw(&PathElement::new(vec![left, right], TEXT.rgb().stroke_width(1)))?;
    let text = fit(text, f64::from(right.0 - left.0));
    let top = at((plot.x.low(), plot.y.clamp(f64::MAX))).1;
    let above = if left.1 - 16 < top { left.1 + 10 } else { left.1 - 9 };
    write(root, &text, (left.0 + 6, above), End::Left, TEXT, false)
}

/// Texts in the middle of cells.
pub(super) fn texts<'a>(
    root: &Area<'a>,
    plot: &Plot,
    texts: &[(f64, f64, String, usize)],
    at: &impl Fn((f64, f64)) -> (i32, i32),
) -> Result<(), Failure<'a>> {
    let cell = f64::from(at((plot.x.clamp(1.0), plot.y.low())).0 - at((plot.x.low(), plot.y.low())).0);
    for (x, y, text, level) in texts {
        let text = fit(text, cell - 4.0);
        let (middle, height) = at((*x, *y));
        let half = (ink::width(&text) * 0.45).round() as i32;
        let colour = if *level >= DARK.min(HEAT.len()) { SURFACE } else { TEXT };
        write(root, &text, (middle - half, height), End::Left, colour, false)?;
    }
    Ok(())
}
