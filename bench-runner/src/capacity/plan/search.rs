//! Closes in on the place at which the first limit breaks: up through the values of the sweep until one breaks, then by
//! bisection in equal ratios, each place measured as often as the sweep repeats its points.

use super::branch::{Rules, by_place};
use crate::capacity::point::{Cell, Point};
use crate::scenario::SweepSettings;

/// A bracket whose ends are this close, as a ratio, is narrow enough: repeats of one place differ by more.
const NARROW: f64 = 1.05;

/// What is known of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bracket {
    /// The largest place that keeps every limit, below everything that breaks one.
    pub kept: Option<f64>,
    /// The smallest place that breaks one.
    pub broken: Option<f64>,
}

/// The bracket of a branch, by the places that were measured often enough.
pub fn bracket(rules: &Rules<'_>, repeats: u32, points: &[&Point]) -> Bracket {
    let mut bracket = Bracket::default();
    for (x, points) in by_place(points.iter().copied()) {
        match verdict(rules, repeats, &points) {
            Some(true) => bracket.kept = Some(x),
            Some(false) => {
                bracket.broken = Some(x);
                break;
            }
            None => {}
        }
    }
    bracket
}

/// Whether a place keeps every limit; `None` while it was not measured often enough to tell.
fn verdict(rules: &Rules<'_>, repeats: u32, points: &[&Point]) -> Option<bool> {
    if rules.end(points).is_some() {
        return Some(false);
    }
    (points.len() >= repeats as usize).then(|| rules.kept(points))
}

/// The next point: of the branch that was measured least, so that all come along side by side.
pub fn next(rules: &Rules<'_>, sweep: &SweepSettings, arms: usize, done: &[Point]) -> Option<Cell> {
    let seconds: Vec<Option<f64>> = match &sweep.second {
        Some(axis) => axis.values.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    // One second value after the other: it may be the number of nodes.
    seconds.into_iter().find_map(|y| {
        let open = (0..arms).filter_map(|arm| {
            let own: Vec<&Point> = done.iter().filter(|point| point.cell.is_beside(arm, y)).collect();
            let x = place(rules, sweep, &own)?;
            let measured = own.iter().filter(|point| point.cell.x == x).count();
            Some((own.len(), Cell { arm, x, y, repeat: measured as u32 + 1 }))
        });
        open.min_by_key(|(measured, _)| *measured).map(|(_, cell)| cell)
    })
}

/// Where a branch is to be measured next; `None` where its bracket is narrow, or no limit breaks in the whole sweep.
fn place(rules: &Rules<'_>, sweep: &SweepSettings, own: &[&Point]) -> Option<f64> {
    let Bracket { kept, broken } = bracket(rules, sweep.repeats, own);
    // A place that was begun is brought to its end.
    let begun = by_place(own.iter().copied()).into_iter();
    let mut begun = begun.filter(|(x, points)| {
        verdict(rules, sweep.repeats, points).is_none() && broken.is_none_or(|broken| *x < broken)
    });
    if let Some((x, _)) = begun.next() {
        return Some(x);
    }
    let values = &sweep.first.values;
    match (kept, broken) {
        (kept, None) => values.iter().copied().find(|x| kept.is_none_or(|kept| *x > kept)),
        (None, Some(_)) => None,
        (Some(kept), Some(broken)) => {
            let middle = (kept * broken).sqrt();
            let middle = if sweep.first.variable.is_whole() { middle.round() } else { middle };
            (broken / kept > NARROW && middle > kept && middle < broken).then_some(middle)
        }
    }
}
