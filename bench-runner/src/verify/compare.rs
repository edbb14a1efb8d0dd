//! Where the rows and `summary.json` differ. That is a finding of its own: one of the two was changed, or worked out wrongly.

use std::path::Path;

use super::VerifyError;
use super::figures::{Difference, TrialVerdict};
use crate::measure::figures::Trial;
use crate::results::summary::Summary;

fn trials(summary: &Summary) -> impl Iterator<Item = (&str, &Trial)> {
    summary.arms.iter().flat_map(|arm| arm.trial.iter().map(move |trial| (arm.label.as_str(), trial)))
}

/// Sees that every grant of the summary has its row: a table that was cut at the end of a line looks whole otherwise.
///
/// # Errors
///
/// [`VerifyError::Line`], with the last line that is there.
pub fn are_all_there(
    summary: &Summary,
    verdicts: &[TrialVerdict],
    path: &Path,
    written: u64,
) -> Result<(), VerifyError> {
    for (label, trial) in trials(summary) {
        let rows = verdicts.iter().find(|verdict| verdict.trial == trial.position).map_or(0, |verdict| verdict.grants);
        if rows != trial.grants {
            let why = format!(
                "the table ends here with {rows} grants of trial {} ({label}), of which summary.json has {}",
                trial.position, trial.grants
            );
            return Err(VerifyError::Line { path: path.to_owned(), line: written, why });
        }
    }
    Ok(())
}

/// Everything in which they differ, trial by trial.
pub fn differences(summary: &Summary, verdicts: &[TrialVerdict]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (label, trial) in trials(summary) {
        let Some(rows) = verdicts.iter().find(|verdict| verdict.trial == trial.position) else { continue };
        let safety = &trial.safety;
        let figures = [
            ("overlaps", rows.overlaps, safety.overlaps),
            ("overlaps_asked", rows.overlaps_asked, safety.overlaps_asked),
            ("token_regressions", rows.token_regressions, safety.token_regressions),
            ("token_regressions_asked", rows.token_regressions_asked, safety.token_regressions_asked),
            ("fifo_inversions", rows.fifo_inversions, safety.fifo_inversions),
            ("starved", rows.starved, safety.starved),
            ("failed", rows.failed, safety.failed),
            ("early_passages", rows.early_passages, safety.early_passages),
        ];
        let counter = trial.split_brain.filter(|counter| counter.updates > 0).map(|counter| {
            let counted = rows.counter.unwrap_or_default();
            [
                ("updates", counted.updates, counter.updates),
                ("stale", counted.stale, counter.stale),
                ("fenced.refused", counted.refused, counter.fenced.refused),
                ("plain.lost", counted.lost_plain, counter.plain.lost),
                ("fenced.lost", counted.lost_fenced, counter.fenced.lost),
            ]
        });
        let differ =
            figures.into_iter().chain(counter.into_iter().flatten()).filter(|(_, rows, summary)| rows != summary);
        differences.extend(differ.map(|(figure, rows, summary)| Difference {
            trial: trial.position,
            arm: label.to_owned(),
            figure: figure.to_owned(),
            rows,
            summary,
        }));
    }
    differences
}
