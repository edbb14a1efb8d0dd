//! The forms of a bar.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::ink::{self, Area, Failure};
use super::panel::{Bar, Form};
use crate::report::palette::{self, AXIS, MUTED, Phase, SURFACE, TEXT};

/// Half the height of a plain bar, of the bar behind a range, of a lane, and of what stands out of a lane; pixels.
const PLAIN: i32 = 5;
const RANGE: i32 = 2;
const LANE: i32 = 6;
const OUT: i32 = 9;

/// How far a bar reaches to the right, with all that is drawn over it.
pub(super) fn reach(bar: &Bar) -> f64 {
    match bar.form {
        Form::Phases { bounds: Some((_, high)), .. } => bar.to.max(high),
        _ => bar.to,
    }
}

/// Draws a bar around the height `middle`; `left` is where the axis starts.
pub(super) fn draw<'a>(
    root: &Area<'a>,
    bar: &Bar,
    middle: i32,
    at: &impl Fn(f64) -> i32,
    left: i32,
) -> Result<(), Failure<'a>> {
    let colour = palette::arm(bar.arm).rgb();
    let to = at(bar.to);
    let block = |(from, to): (i32, i32), half: i32, style: ShapeStyle| {
        root.draw(&Rectangle::new([(from, middle - half), (to.max(from + 1), middle + half)], style))
    };
    match &bar.form {
        Form::Plain => block((left, to), PLAIN, colour.filled()),
        Form::Range(from) => {
            let from = at(*from);
            block((from, to), RANGE, colour.mix(0.55).filled())?;
            root.draw(&Rectangle::new([(to - 1, middle - 6), (to + 1, middle + 6)], colour.filled()))?;
            ink::marker(root, bar.arm, (from, middle), 5)
        }
        Form::Phases { middle: turn, bounds } => {
            let turn_at = at(*turn);
            block((left, turn_at), PLAIN, palette::phase(Phase::Unnoticed).rgb().filled())?;
            if bar.to > *turn {
                // Wide enough to be seen, however short it was.
                block((turn_at, to.max(turn_at + 2)), PLAIN, palette::phase(Phase::Takeover).rgb().filled())?;
            }
            match bounds {
                Some((low, high)) => bracket(root, (at(*low), at(*high)), middle),
                None => Ok(()),
            }
        }
        Form::Lane { stretches, overlaps, needles, rules } => {
            root.draw(&PathElement::new(vec![(left, middle), (to, middle)], AXIS.rgb().stroke_width(1)))?;
            for (index, (from, to)) in stretches.iter().enumerate() {
                block((at(*from), at(*to)), LANE, tint(bar.arm, index))?;
            }
            for (from, to) in overlaps {
                block((at(*from), at(*to)), OUT, TEXT.rgb().filled())?;
            }
            rules.iter().try_for_each(|rule| dashes(root, at(*rule), (middle - OUT - 1, middle + OUT + 1)))?;
            needles.iter().try_for_each(|at_needle| needle(root, at(*at_needle), middle))
        }
    }
}

/// The tint of an arm's stretch at this place among its stretches.
fn tint(arm: usize, index: usize) -> ShapeStyle {
    palette::arm(arm).rgb().mix(if index.is_multiple_of(2) { 0.95 } else { 0.5 }).filled()
}

/// A bracket over and under a bar.
pub(super) fn bracket<'a>(root: &Area<'a>, (low, high): (i32, i32), middle: i32) -> Result<(), Failure<'a>> {
    let stroke = TEXT.rgb().stroke_width(1);
    for x in [low, high] {
        root.draw(&PathElement::new(vec![(x, middle - OUT), (x, middle + OUT)], stroke))?;
    }
    root.draw(&PathElement::new(vec![(low, middle - OUT), (high, middle - OUT)], stroke))
}

/// A dashed upright line that marks a fault.
pub(super) fn dashes<'a>(root: &Area<'a>, x: i32, (from, to): (i32, i32)) -> Result<(), Failure<'a>> {
    root.draw(&DashedPathElement::new(vec![(x, from), (x, to)], 4, 3, MUTED.rgb().stroke_width(1)))
}

/// A needle that marks a moment in a lane: an outlined head above it, so that it stands out from what is below.
pub(super) fn needle<'a>(root: &Area<'a>, x: i32, middle: i32) -> Result<(), Failure<'a>> {
    let colour = palette::phase(Phase::Takeover).rgb();
    root.draw(&PathElement::new(vec![(x, middle - OUT), (x, middle + OUT)], colour.stroke_width(2)))?;
    root.draw(&Circle::new((x, middle - OUT + 1), 5, SURFACE.rgb().filled()))?;
    root.draw(&Circle::new((x, middle - OUT + 1), 4, colour.filled()))
}

/// Stretches and an overlap as they stand in the key, in no arm's colour.
pub(super) fn sample_lane<'a>(
    root: &Area<'a>,
    (from, to): (i32, i32),
    middle: i32,
    overlap: bool,
) -> Result<(), Failure<'a>> {
    let half = (from + to) / 2;
    if overlap {
        let corners = [(half - 6, middle - OUT), (half + 6, middle + OUT)];
        return root.draw(&Rectangle::new(corners, TEXT.rgb().filled()));
    }
    for (from, to, strength) in [(from, half, 0.95), (half, to, 0.5)] {
        let fill = MUTED.rgb().mix(strength).filled();
        root.draw(&Rectangle::new([(from, middle - LANE), (to, middle + LANE)], fill))?;
    }
    Ok(())
}
