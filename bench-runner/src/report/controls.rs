//! Negative controls in words: what was wrong on purpose, what the checks found, and why it looks as it does.

use workloads::settings::Service;

use crate::measure::figures::{Arm, Control, ControlKind};
use crate::report::format::{self, plain, trimmed};

/// An arm that is wrong on purpose, explained.
pub(super) struct Explained {
    /// Whether the checks found it.
    pub caught: bool,
    /// What is wrong with it.
    pub wrong: String,
    /// What was found.
    pub found: String,
    /// Why that is what it comes to.
    pub why: String,
}

/// Explains an arm; `None` for one that is no control.
pub(super) fn explain(arm: &Arm) -> Option<Explained> {
    let control = arm.control.as_ref()?;
    let (wrong, why) = match (control.kind, arm.service) {
        (ControlKind::Unlocked, _) => (
            "There is no lock: every worker takes its own place in the queue for a grant, and never looks who is before it.".to_owned(),
            "Nobody waits, so several hold whenever several want to. Each has a token of its own, and the order of the grants is chance: \
             tokens may go backwards too."
                .to_owned(),
        ),
        (ControlKind::SharedSessions, Service::Zookeeper) => (
            format!("{}, where each must have its own.", shared(arm, control)),
            "A ZooKeeper server sends one notification for each session and path, however many watches a client holds there: the client's \
             library hands that one event to every worker on the session. So the herd all but vanishes from the servers' book, down to at \
             most the number of sessions for each release, while the workers still count each of themselves. A benchmark with shared sessions \
             would have called the naive lock cheap."
                .to_owned(),
        ),
        (ControlKind::SharedSessions, Service::Etcd) => (
            format!("{}, where each must have its own.", shared(arm, control).replace("session", "lease")),
            "The key of etcd's lock is named after the lease. A worker that finds the key of its lease in the queue takes it for its own \
             place: whoever shares the lease of the holder holds too, with the same token, and the first of them to release takes \
             the lock from the others (etcd #10756)."
                .to_owned(),
        ),
    };
    Some(Explained { caught: control.caught, wrong, found: found(arm, control), why })
}

fn shared(arm: &Arm, control: &Control) -> String {
    let workers = format::plural(u64::from(arm.workers), "worker", "workers");
    let sessions = format::plural(u64::from(control.sessions.unwrap_or(0)), "session", "sessions");
    format!("{workers} share {sessions}")
}

fn found(arm: &Arm, control: &Control) -> String {
    let safety = &arm.safety;
    let mut found = Vec::new();
    if safety.overlaps_asked > 0 {
        let longest = format::Unit::Milliseconds.show(safety.longest_overlap_us as f64 / 1e3);
        let overlaps = format::plural(safety.overlaps_asked, "grant", "grants");
        found.push(format!("{overlaps} began while another was held, for {longest} at the longest"));
    }
    if safety.token_regressions_asked > 0 {
        found.push(format::plural(safety.token_regressions_asked, "token did not rise", "tokens did not rise"));
    }
    let books = &arm.notifications;
    if let (ControlKind::SharedSessions, Some(server)) =
        (control.kind, books.server.filter(|server| *server < books.client))
    {
        let each = control.server_fan_out.zip(control.client_fan_out).map_or_else(String::new, |(server, client)| {
            format!(": {} for each release instead of {}", trimmed(server), trimmed(client))
        });
        found.push(format!(
            "the servers sent {} notifications where the workers counted {}{each}",
            format::count(server),
            format::count(books.client)
        ));
    }
    match found.is_empty() {
        true => "Nothing was found.".to_owned(),
        false => format!("Found: {}.", found.join("; ")),
    }
}

/// The controls that no check found, a line for each.
pub(super) fn not_caught<'a>(arms: impl Iterator<Item = &'a Arm>) -> Vec<String> {
    let missed = arms.filter(|arm| arm.control.is_some_and(|control| !control.caught));
    // A trial that was cut short may not have come to it.
    let missed = missed.filter(|arm| arm.trial.iter().all(|trial| trial.complete));
    missed
        .map(|arm| {
            format!(
                "{}: a control that is wrong on purpose was not caught: no check found anything; \
                 give it more workers or a longer hold",
                plain(&arm.label)
            )
        })
        .collect()
}
