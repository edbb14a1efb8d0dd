//! Judges times and rates: by the size of the change *and* by its significance, on the figures of the trials.
//!
//! The figures are compared as logarithms, so that a shift is a ratio. A change is called one where the rank test, corrected for
//! all metrics of the round, says that it is no chance, *and* its estimate is beyond the band. That nothing changed is said
//! where the interval's worse end lies within the band: the absence of a significant difference is no evidence of sameness
//! (D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure …", Journal of Pharmacokinetics and Biopharmaceutics
//! 15, 1987). Everything between is inconclusive.

use super::statistics::{Shift, fewest_trials, holm, mann_whitney, paired, signed_rank, unpaired};
use super::verdict::{Finding, Ratio, Verdict};
use crate::scenario::gate::Better;

/// What may lie beyond each end of an interval: 5 %, the convention of equivalence tests.
const TAIL: f64 = 0.05;

/// No more trials than this are advised: where more are needed, it is the machine that has to change.
pub const MOST_TRIALS: u32 = 200;

/// Smaller figures are taken for this one: a nanosecond in milliseconds. A logarithm needs something.
const LEAST: f64 = 1e-6;

/// A metric on its way to a verdict.
struct Tested {
    /// The logarithm of the ratio, turned so that above 0 is worse.
    shift: Option<Shift>,
    /// One-sided p of a change for the worse, for the better.
    worse: f64,
    better: f64,
}

/// Gives every finding its ratio, p and verdict. `is_paired`: the trials of the two sides ran next to one another, so that
/// each pair has seen the same machine.
pub fn judge(findings: &mut [&mut Finding], alpha: f64, is_paired: bool) {
    let tested: Vec<Tested> = findings.iter().map(|finding| test(finding, is_paired)).collect();
    let worse = holm(&tested.iter().map(|one| one.worse).collect::<Vec<_>>());
    let better = holm(&tested.iter().map(|one| one.better).collect::<Vec<_>>());
    let metrics = findings.len().max(1) as f64;
    for (((finding, tested), worse), better) in findings.iter_mut().zip(&tested).zip(worse).zip(better) {
        let Some(shift) = tested.shift else {
            finding.verdict = Verdict::Inconclusive;
            finding.note = Some(missing(finding).to_owned());
            continue;
        };
        finding.ratio = Some(ratio(shift, finding.better));
        finding.p = Some(if shift.estimate >= 0.0 { worse } else { better });
        let band = finding.band.ln_1p();
        finding.verdict = if worse <= alpha && shift.estimate > band {
            Verdict::Regressed
        } else if better <= alpha && shift.estimate < -band {
            Verdict::Improved
        } else if shift.high <= band {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        };
        if finding.verdict == Verdict::Inconclusive {
            let have = finding.baseline.len().min(finding.candidate.len());
            let wanted = wanted(shift, band, worse, have, alpha / metrics, is_paired);
            finding.more_trials = Some(wanted.saturating_sub(have as u32).max(1));
        }
    }
}

fn missing(finding: &Finding) -> &'static str {
    match (finding.baseline.is_empty(), finding.candidate.is_empty()) {
        (true, true) => "neither side has measured it",
        (true, false) => "the baseline has not measured it",
        _ => "the candidate has not measured it",
    }
}

fn test(finding: &Finding, is_paired: bool) -> Tested {
    let sign = if finding.better == Better::Lower { 1.0 } else { -1.0 };
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| sign * value.max(LEAST).ln()).collect() };
    let (before, after) = (logs(&finding.baseline), logs(&finding.candidate));
    if is_paired && before.len() == after.len() {
        let differences: Vec<f64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
        let turned: Vec<f64> = differences.iter().map(|difference| -difference).collect();
        return Tested {
            shift: paired(&differences, TAIL),
            worse: signed_rank(&differences),
            better: signed_rank(&turned),
        };
    }
    Tested {
        shift: unpaired(&before, &after, TAIL),
        worse: mann_whitney(&before, &after),
        better: mann_whitney(&after, &before),
    }
}

/// The ratio in the metric's own direction.
fn ratio(shift: Shift, better: Better) -> Ratio {
    let end = |log: f64| log.is_finite().then(|| log.exp());
    match better {
        Better::Lower => Ratio { estimate: shift.estimate.exp(), low: end(shift.low), high: end(shift.high) },
        Better::Higher => Ratio { estimate: (-shift.estimate).exp(), low: end(-shift.high), high: end(-shift.low) },
    }
}

/// How many trials of each side would probably tell, if the estimate stayed: the interval's half shrinks with the root of the
/// number of trials. Capped; never below what a rank test needs to say anything at all.
fn wanted(shift: Shift, band: f64, worse: f64, have: usize, alpha: f64, is_paired: bool) -> u32 {
    let fewest = fewest_trials(alpha, is_paired);
    let have = have.max(1) as f64;
    let half = shift.high - shift.estimate;
    let room = (shift.estimate - band).abs();
    let scaled = if !half.is_finite() || room <= 0.0 {
        // Too few to say how far the trials scatter: what is needed at the least.
        if half.is_finite() { f64::from(MOST_TRIALS) } else { f64::from(fewest) }
    } else if shift.estimate > band && worse > alpha {
        // Beyond the band, and not yet significant: the interval has to leave 0 behind at the corrected level, which takes
        // about twice the width of this one.
        have * (2.0 * half / shift.estimate).powi(2)
    } else {
        have * (half / room).powi(2)
    };
    (scaled.ceil().min(f64::from(MOST_TRIALS)) as u32).max(fewest)
}
