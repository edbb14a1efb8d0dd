//! Split brain, and negative controls.

use maud::{Markup, html};

use super::tables;
use crate::measure::figures::{Overlaps, SplitBrain};
use crate::report::controls;
use crate::report::format::{self, ABSENT, maybe_ms};
use crate::report::metrics::lost;
use crate::report::table::Table;
use crate::report::view::ArmView;

/// What a shared counter came to in a plain store and in a fenced one; nothing where none was kept.
pub(super) fn split_brain(arms: &[ArmView]) -> Markup {
    let counted: Vec<(&ArmView, &SplitBrain)> =
        arms.iter().filter_map(|view| Some((view, view.arm.split_brain.as_ref()?))).collect();
    if counted.is_empty() {
        return html! {};
    }
    let mut all = Table::new("Split brain", 1, &[&["arm"], &HEAD[..]].concat());
    let mut each = Table::new("Split brain, trial by trial", 1, &[&["arm", "trial"], &HEAD[..]].concat());
    for (view, figures) in &counted {
        all.row([view.label.clone()].into_iter().chain(row(figures)));
        for trial in &view.arm.trial {
            if let Some(figures) = &trial.split_brain {
                each.row([view.label.clone(), trial.position.to_string()].into_iter().chain(row(figures)));
            }
        }
    }
    html! {
        section.split-brain {
            h2 { "Split brain" }
            p.lead {
                "Each holder reads a shared counter and some time later writes one more, to a plain store and to a fenced one side by side. \
                 A holder that stood still in between writes late, while another one holds: the plain store takes that write, and with it \
                 loses what was written meanwhile; the fenced store has seen a later token, and refuses. Lost are the updates that were \
                 acknowledged and of which nothing is left in the counter."
            }
            (tables::table(&all))
            details {
                summary { "Trial by trial" }
                (tables::table(&each))
            }
        }
    }
}

/// Columns behind the arm's.
const HEAD: [&str; 10] = [
    "updates",
    "stale writes",
    "plain: acknowledged",
    "plain: stale taken",
    "plain: lost",
    "fenced: acknowledged",
    "fenced: stale refused",
    "fenced: lost",
    "overlaps",
    "overlap min, median, max",
];

fn row(figures: &SplitBrain) -> [String; 10] {
    let SplitBrain { updates, stale, plain, fenced, overlap_ms } = figures;
    [
        format::count(*updates),
        format::count(*stale),
        format::count(plain.acknowledged),
        format::count(plain.stale_acknowledged),
        lost(plain),
        format::count(fenced.acknowledged),
        format::count(fenced.refused),
        lost(fenced),
        format::count(overlap_ms.count),
        overlap(overlap_ms),
    ]
}

fn overlap(overlaps: &Overlaps) -> String {
    match overlaps.count {
        0 => ABSENT.to_owned(),
        _ => [overlaps.min, overlaps.p50, overlaps.max].map(maybe_ms).join(", "),
    }
}

/// What came of the arms that are wrong on purpose; nothing where there are none.
pub(super) fn controls(arms: &[ArmView]) -> Markup {
    let explained: Vec<_> = arms.iter().filter_map(|view| Some((view, controls::explain(view.arm)?))).collect();
    if explained.is_empty() {
        return html! {};
    }
    html! {
        section.controls {
            h2 { "Negative controls" }
            p.lead {
                "Arms that are wrong on purpose: a check that cannot fail proves nothing. What they come to was asked for and fails no run; \
                 that nothing was found would."
            }
            @for (view, one) in &explained {
                h3 { (view.label) ": " @if one.caught { "caught" } @else { "not caught" } }
                p { (one.wrong) }
                p { strong { (one.found) } }
                p { (one.why) }
            }
        }
    }
}
