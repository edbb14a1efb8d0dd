//! The key above the panels.

use plotters::prelude::*;

use super::ink::{self, Area, End, Failure, fit, write};
use super::panel::Key;
use crate::report::format;
use crate::report::palette::{self, HEAT, MUTED, TEXT};
use crate::report::view::ArmView;

/// Height of one line of the key, pixels.
const LINE: i32 = 22;

/// Length of the sample of an arm's line, pixels: long enough that the longest dashes show their gaps beside the marker.
const SAMPLE: i32 = 44;

/// One entry: an arm, its text, and where it stands.
struct Entry {
    arm: usize,
    text: String,
    place: (i32, i32),
}

/// The arms that a key names, and how; `None` for a key that is not of arms.
fn named(key: &Key, arms: &[ArmView]) -> Option<Vec<(usize, String)>> {
    match key {
        Key::Arms(which) => {
            let shown = arms.iter().filter(|view| which.contains(&view.index));
            Some(shown.map(|view| (view.index, view.label.clone())).collect())
        }
        Key::Named(named) => Some(named.clone()),
        Key::Heat(_) => None,
    }
}

/// Arms from left to right, on as many lines as they need within `width` pixels.
fn entries(named: &[(usize, String)], width: i32) -> Vec<Entry> {
    let (mut x, mut line) = (0, 0);
    let mut entries = Vec::new();
    for (arm, name) in named {
        let text = fit(name, f64::from(width - SAMPLE - 8));
        let takes = SAMPLE + 8 + ink::width(&text).ceil() as i32 + 20;
        if x > 0 && x + takes - 20 > width {
            x = 0;
            line += 1;
        }
        entries.push(Entry { arm: *arm, text, place: (x, line * LINE + LINE / 2) });
        x += takes;
    }
    entries
}

/// How high the key is within `width` pixels.
pub(super) fn height(key: &Key, arms: &[ArmView], width: i32) -> i32 {
    match named(key, arms) {
        Some(named) => entries(&named, width).last().map_or(0, |entry| entry.place.1 + LINE / 2 + 10),
        None => LINE + 10,
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
        Key::Arms(_) | Key::Named(_) => {
            for entry in entries(&named(key, arms).unwrap_or_default(), width) {
                let (left, middle) = (x + entry.place.0, y + entry.place.1);
                ink::line(area, entry.arm, vec![(left, middle), (left + SAMPLE, middle)])?;
                ink::marker(area, entry.arm, (left + SAMPLE / 2, middle), 4)?;
                write(area, &entry.text, (left + SAMPLE + 8, middle), End::Left, TEXT, false)?;
            }
            Ok(())
        }
        Key::Heat(most) => {
            let middle = y + LINE / 2;
            let text = "grants in a cell: 1";
            write(area, text, (x, middle), End::Left, MUTED, false)?;
            let mut left = x + ink::width(text).ceil() as i32 + 8;
            for level in HEAT {
                area.draw(&Rectangle::new([(left, middle - 6), (left + 18, middle + 6)], level.rgb().filled()))?;
                left += 18;
            }
            write(area, &format::tick(*most as f64), (left + 8, middle), End::Left, MUTED, false)
        }
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
