//! What the reader has to know before trusting the figures: violated safety, an incomplete run, a saturated generator,
//! and the warnings of the run, each with what to do about it.

use crate::report::controls;
use crate::report::format;
use crate::report::view::arms;
use crate::results::summary::Summary;

/// How loud a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The recipe did not do its job.
    Violation,
    /// The run did not end as planned.
    Alarm,
    /// The figures have to be read with care.
    Caution,
}

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// How loud.
    pub level: Level,
    /// In a word or two.
    pub title: String,
    /// What was seen.
    pub text: String,
    /// What to do about it; may be empty.
    pub remedy: String,
}

/// What was violated, a line for each arm in which anything was, and for each control that no check found.
pub fn violations(summary: &Summary) -> Vec<String> {
    let mut all = broken(summary);
    all.extend(controls::not_caught(summary.arms.iter()));
    all
}

/// What was violated, a line for each arm in which anything was.
fn broken(summary: &Summary) -> Vec<String> {
    let arms = arms(summary);
    let violated = arms.iter().filter(|view| view.arm.safety.is_violated()).map(|view| {
        let safety = &view.arm.safety;
        let seen: Vec<String> = [
            (safety.overlaps, "overlapping grant", "overlapping grants"),
            (safety.token_regressions, "token regression", "token regressions"),
            (safety.lost_updates.unwrap_or(0), "lost update", "lost updates"),
            (safety.early_passages, "member through a barrier too early", "members through a barrier too early"),
        ]
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| format::plural(number, one, many))
        .collect();
        format!("{}: {}", view.label, seen.join(", "))
    });
    violated.collect()
}

/// All notices, the loudest first.
pub(super) fn notices(summary: &Summary) -> Vec<Notice> {
    let mut notices = Vec::new();
    for violation in broken(summary) {
        notices.push(Notice {
            level: Level::Violation,
            title: "Safety violated".to_owned(),
            text: format!("{violation}."),
            remedy: match summary.arms.iter().any(|arm| arm.safety.early_passages > 0) {
                true => "Do not trust this barrier: its speed means nothing until nobody passes early.".to_owned(),
                false => "Do not trust this lock: its speed means nothing until mutual exclusion holds.".to_owned(),
            },
        });
    }
    for missed in controls::not_caught(summary.arms.iter()) {
        notices.push(Notice {
            level: Level::Violation,
            title: "Control not caught".to_owned(),
            text: format!("{missed}."),
            remedy: "What this run says of the safety of its other arms proves nothing until its controls are caught."
                .to_owned(),
        });
    }
    if !summary.complete {
        let reason =
            summary.incomplete_reason.as_deref().map_or_else(|| "no reason was recorded".to_owned(), format::plain);
        notices.push(Notice {
            level: Level::Alarm,
            title: "Incomplete run".to_owned(),
            text: format!("Not every planned trial ran to its end: {}.", reason.trim_end_matches('.')),
            remedy: "The figures are of what ran until then; do not compare them with those of a complete run."
                .to_owned(),
        });
    }
    if summary.generator.saturated {
        notices.push(Notice {
            level: Level::Alarm,
            title: "Generator saturated".to_owned(),
            text: "The load generator was saturated: the numbers are the generator's, not the ensemble's.".to_owned(),
            remedy: "Run it with fewer workers or a lower rate, or give the generator more CPU.".to_owned(),
        });
    }
    notices.extend(summary.warnings.iter().map(|warning| Notice {
        level: Level::Caution,
        title: "Warning".to_owned(),
        text: format::plain(&warning.text),
        remedy: format::plain(&warning.remedy),
    }));
    notices
}
