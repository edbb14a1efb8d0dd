//! What was broken, and what came of it: a row for each failover.

use maud::{Markup, html};

use super::tables;
use crate::measure::figures::{Arm, Failover};
use crate::report::charts::is_crash;
use crate::report::format::{self, ABSENT, Unit, maybe_count, maybe_ms, plain};
use crate::report::table::Table;
use crate::report::view::ArmView;

/// So many rows of an arm are shown at once; more are behind its summary.
const MOST_ROWS: usize = 8;

/// The faults of each arm; nothing where no arm had any.
pub(super) fn section(arms: &[ArmView]) -> Markup {
    let tables: Vec<(&ArmView, Table)> =
        arms.iter().map(|view| (view, table(view))).filter(|(_, table)| !table.rows.is_empty()).collect();
    if tables.is_empty() {
        return html! {};
    }
    html! {
        section.faults {
            h2 { "Faults" }
            p.lead {
                "What was broken and what came of it, a row for each holder that was struck. Detection lasts until the servers take \
                 the old holder for gone (of a node that led: until another one leads), takeover from then on until the next \
                 grant. Fan-out is what the end of the old holder woke; ~ where not everybody else stood in the queue."
            }
            @for (view, table) in &tables {
                details open[table.rows.len() <= MOST_ROWS] {
                    summary { (view.label) ": " (number(view.arm)) }
                    @if let Some(words) = timeout(view.arm) { p.note { (words) } }
                    (tables::table(table))
                }
            }
        }
    }
}

/// How many there were, in words.
fn number(arm: &Arm) -> String {
    let all = arm.trial.iter().flat_map(|trial| &trial.failovers);
    let (skipped, done): (Vec<&Failover>, Vec<&Failover>) = all.partition(|failover| failover.skipped.is_some());
    let mut words = format::plural(done.len() as u64, "failover", "failovers");
    if !skipped.is_empty() {
        words += &format!(", {} not carried out", format::count(skipped.len() as u64));
    }
    words
}

/// What the session timeout makes of a detection, where a holder crashed.
fn timeout(arm: &Arm) -> Option<String> {
    let bounds = arm.failovers.as_ref()?.bounds;
    let mut all = arm.trial.iter().flat_map(|trial| &trial.failovers);
    let (low, high) = (Unit::Milliseconds.show(bounds.from_ms), Unit::Milliseconds.show(bounds.to_ms));
    let has_crash = all.any(|failover| failover.holder.is_some() && is_crash(&failover.fault));
    has_crash.then(|| {
        format!("By the session timeout, and what the servers add to it, a crash is detected after {low} to {high}.")
    })
}

fn table(view: &ArmView) -> Table {
    let head = [
        "fault",
        "struck",
        "the old holder",
        "trial",
        "at second",
        "detection",
        "takeover",
        "next grant",
        "fan-out",
        "requests in 100 ms",
        "overlap",
        "mended at",
    ];
    let mut table = Table::new(format!("Faults of {}", view.label), 3, &head);
    for trial in &view.arm.trial {
        for one in &trial.failovers {
            let at = |seconds: f64| format!("{seconds:.3}");
            table.row([
                plain(&one.fault),
                struck(one),
                fate(one),
                trial.position.to_string(),
                at(one.seconds),
                maybe_ms(one.detection_ms),
                maybe_ms(one.takeover_ms),
                maybe_ms(one.total_ms),
                format!(
                    "{}{}",
                    if one.notifications.is_some() && !one.settled { "~" } else { "" },
                    maybe_count(one.notifications)
                ),
                maybe_count(one.requests_100ms),
                maybe_ms(one.overlap_ms),
                one.healed_seconds.map_or_else(|| ABSENT.to_owned(), at),
            ]);
        }
    }
    table
}

/// Whom or what it struck.
fn struck(failover: &Failover) -> String {
    if failover.skipped.is_some() {
        return "nobody".to_owned();
    }
    let node = failover.node.as_deref().map(plain);
    let workers = match (failover.victims, failover.holder) {
        (0, _) => None,
        (1, Some(holder)) => Some(format!("worker {holder}")),
        (1, None) => Some("1 worker".to_owned()),
        (many, holder) => {
            let workers = format::plural(many, "worker", "workers");
            Some(holder.map_or(workers.clone(), |holder| format!("{workers}, {holder} held")))
        }
    };
    let both: Vec<String> = node.into_iter().chain(workers).collect();
    if both.is_empty() { ABSENT.to_owned() } else { both.join(", ") }
}

/// What became of the old holder, or why there is none.
fn fate(failover: &Failover) -> String {
    match failover {
        Failover { skipped: Some(why), .. } => format!("not carried out: {}", plain(why)),
        Failover { holder: None, .. } => ABSENT.to_owned(),
        Failover { stale_writes: 0, told: true, .. } => "told before it acted".to_owned(),
        Failover { stale_writes: 0, .. } => "did not act again".to_owned(),
        Failover { stale_writes, .. } => {
            format!("{} refused", format::plural(*stale_writes, "stale write", "stale writes"))
        }
    }
}
