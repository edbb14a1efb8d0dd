//! Judges counts: promises by their breaches, numbers that are known beforehand exactly, and other numbers within a band.
//!
//! A count is not noisy as a time is: who runs first moves it by a few per cent, and the band is there for that. So two things
//! suffice to call it changed: its median left the band, and the two sides' trials do not mix: either every trial of one side
//! is beyond every trial of the other, or the rank test says so.

use super::statistics::{mann_whitney, median};
use super::verdict::{Finding, Ratio, Verdict};
use crate::scenario::gate::{Better, Metric};

/// Judges a promise. Breaches are never averaged: the worst trial counts.
pub fn promise(finding: &mut Finding) {
    let worst = |values: &[f64]| values.iter().copied().reduce(f64::max);
    let (before, after) = (worst(&finding.baseline), worst(&finding.candidate));
    (finding.verdict, finding.note) = match (before, after) {
        (_, None) => (Verdict::Regressed, Some("the candidate does not check it any more".to_owned())),
        (before, Some(after)) => {
            let before = before.unwrap_or(0.0);
            if after > before {
                (Verdict::Regressed, Some(format!("up to {after} in a trial, where it was {before}")))
            } else if after < before {
                (Verdict::Improved, None)
            } else {
                let is_broken = after > 0.0 && finding.metric != Metric::Failed;
                (Verdict::Unchanged, is_broken.then(|| format!("broken on both sides: up to {after} in a trial")))
            }
        }
    };
}

/// Judges a number. `is_exact`: it is known beforehand, so that any other is a change.
pub fn number(finding: &mut Finding, is_exact: bool, alpha: f64) {
    let (Some(before), Some(after)) = (median(&finding.baseline), median(&finding.candidate)) else {
        let both = finding.baseline.is_empty() && finding.candidate.is_empty();
        finding.verdict = if both { Verdict::Unchanged } else { Verdict::Inconclusive };
        finding.note = Some(if both { "not measured by either side" } else { "measured by one side alone" }.to_owned());
        return;
    };
    if before != 0.0 {
        let ratio = after / before;
        finding.ratio = Some(Ratio { estimate: ratio, low: None, high: None });
    }
    let turned = finding.better == Better::Higher;
    let (less, more) =
        if turned { (Verdict::Regressed, Verdict::Improved) } else { (Verdict::Improved, Verdict::Regressed) };
    if is_exact && finding.band == 0.0 {
        let (low, high) = ends(&finding.baseline);
        let (candidate_low, candidate_high) = ends(&finding.candidate);
        // The far end first: one trial beyond is one too many.
        finding.verdict = match (candidate_high > high, candidate_low < low) {
            (true, true) => Verdict::Regressed,
            (true, false) => more,
            (false, true) => less,
            (false, false) => Verdict::Unchanged,
        };
        return;
    }
    let room = finding.band * before.abs();
    let above = after > before + room && apart(&finding.baseline, &finding.candidate, alpha);
    let below = after < before - room && apart(&finding.candidate, &finding.baseline, alpha);
    finding.verdict = if above {
        more
    } else if below {
        less
    } else {
        Verdict::Unchanged
    };
    let beyond = after > before + room && !turned || after < before - room && turned;
    if finding.verdict == Verdict::Unchanged && beyond {
        finding.verdict = Verdict::Inconclusive;
        finding.note = Some("its median is beyond the band, and its trials overlap with the baseline's".to_owned());
        finding.more_trials = Some(finding.candidate.len().max(5) as u32);
    }
}

/// Whether the second side's trials lie above the first's.
fn apart(lower: &[f64], upper: &[f64], alpha: f64) -> bool {
    ends(upper).0 > ends(lower).1 || mann_whitney(lower, upper) <= alpha
}

/// The smallest and the largest.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}
