//! Split brain and negative controls on real servers of both services: what the checks must find is found, and told.

use bench_runner::exit;
use bench_runner::measure::figures::{Arm, ControlKind};
use bench_runner::results::summary::Summary;
use workloads::settings::Service;

use crate::place::Place;
use crate::running::finished;
use crate::written;

/// One node of each service.
const BASE: &str = r#"version = 1
[ensemble]
nodes = 1
[ensemble.zookeeper]
tick = "500ms"
heap = "128m"
fsync = false
[trials]
count = 1
warmup = "0s"
rest = "0s"
duration = "2s"
limit = "60s"
[bystanders]
sessions = 0
"#;

/// Runs a scenario to its good end, has it verified, and hands over what it came to and what it printed.
fn run(rest: &str, set: &[&str]) -> (Summary, String) {
    let place = Place::with_servers();
    place.write("mine.toml", &(BASE.to_owned() + rest));
    let set: Vec<&str> = set.iter().flat_map(|one| ["--set", one]).collect();
    let done = finished(&mut place.command(&[&["run", "mine.toml"], &set[..]].concat())).expect(exit::DONE);
    let folder = place.only_run_of("mine");
    // The rows say the same, by rules of their own.
    finished(&mut place.command(&["verify", &folder.to_string_lossy()])).expect(exit::DONE);
    let summary = written::summary(&folder);
    assert!(summary.complete);
    place.assert_nothing_left();
    (summary, done.stdout.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A holder is put to sleep while it updates the counter, for three times as long as its session lives: it writes first when it wakes.
#[test]
fn a_late_write_loses_updates_of_the_plain_store_and_the_fenced_one_refuses_it() {
    let scenario = r#"
[workers]
count = 4
hold = "forever"
session_timeout = "2s"
updates = "50ms"
[[fault]]
kind = "pause"
target = "holder"
for = "6s"
at = "500ms"
[[arm]]
recipe = "election/leader-latch"
label = "zookeeper"
[[arm]]
recipe = "lock/sequential"
service = "etcd"
label = "etcd"
"#;
    let (summary, told) = run(scenario, &["trials.duration=12s"]);
    assert_eq!(summary.arms.len(), 2);
    for Arm { label, trial, safety, series, split_brain, failovers, .. } in &summary.arms {
        assert!(trial[0].failovers[0].skipped.is_none(), "{label}");
        let counter = split_brain.as_ref().unwrap();
        assert_eq!(trial[0].split_brain.as_ref(), Some(counter));
        // The one that slept wrote once before it looked; everything that was written meanwhile is lost.
        assert_eq!((counter.stale, counter.plain.stale_acknowledged, counter.fenced.refused), (1, 1, 1), "{label}");
        assert!(counter.plain.lost > 0, "{label}: {counter:?}");
        assert_eq!((counter.fenced.lost, counter.fenced.stale_acknowledged), (0, 0), "{label}");
        assert_eq!(counter.plain.acknowledged, counter.updates);
        assert_eq!(counter.fenced.acknowledged, counter.updates - 1);
        assert_eq!(counter.plain.counter, counter.plain.acknowledged - counter.plain.lost);
        assert_eq!((counter.overlap_ms.count, series.stale_writes.len()), (1, 1), "{label}");
        // All of it was asked for.
        assert!(!safety.is_violated(), "{label}: {safety:?}");
        assert_eq!((safety.lost_updates, safety.lost_updates_asked), (Some(0), counter.plain.lost));
        let fencing = failovers.as_ref().unwrap().fencing;
        assert_eq!((fencing.acted_stale, fencing.refused), (1, 1), "{label}");
    }
    assert!(told.contains("the fenced store lost none, and refused 1 of 1 stale write."), "{told}");
}

#[test]
fn controls_are_caught_and_explained() {
    let scenario = r#"
[workers]
count = 12
hold = "5ms"
[[arm]]
recipe = "lock/naive"
label = "shared sessions"
workers = { mode = "drain", sessions = 3 }
[[arm]]
recipe = "lock/sequential"
service = "etcd"
label = "shared leases"
workers = { sessions = 3 }
[[arm]]
recipe = "control/unlocked"
label = "unlocked, zookeeper"
workers = { updates = "2ms" }
[[arm]]
recipe = "control/unlocked"
service = "etcd"
label = "unlocked, etcd"
"#;
    let (summary, told) = run(scenario, &[]);
    for arm in &summary.arms {
        let control = arm.control.unwrap();
        assert!(control.caught && !arm.safety.is_violated(), "{}: {:?}", arm.label, arm.safety);
        let shares = arm.label.starts_with("shared");
        assert_eq!(control.kind == ControlKind::SharedSessions, shares, "{}", arm.label);
        assert_eq!(control.sessions, shares.then_some(3));
        assert!(arm.safety.overlaps_asked > 0 || (shares && arm.service == Service::Zookeeper), "{}", arm.label);
    }
    // Each worker counts the event that its session got once.
    let books = &summary.arms[0].notifications;
    assert_eq!(books.client, 12 * 11 / 2);
    let (server, grants) = (books.server.unwrap(), summary.arms[0].grants);
    assert!(server <= 3 * grants && server >= grants - 1, "{server} for {grants} grants");
    // Without a lock, updates are lost, and asked for.
    let unlocked = &summary.arms[2];
    assert!(unlocked.split_brain.unwrap().plain.lost > 0 && unlocked.safety.lost_updates == Some(0));
    for words in [
        "Control shared sessions: caught. 12 workers share 3 sessions",
        "one notification for each session and path",
        "Control shared leases: caught. 12 workers share 3 leases",
        "named after the lease",
        "Control unlocked, etcd: caught. There is no lock",
    ] {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
}

/// One worker alone never holds together with another one: the checks have nothing to find, and that is told.
#[test]
fn a_control_that_is_not_caught_fails_the_run() {
    let place = Place::with_servers();
    let arm = "[[arm]]\nrecipe = \"control/unlocked\"\nservice = \"etcd\"\nworkers = { count = 1, hold = \"5ms\" }\n";
    place.write("mine.toml", &(BASE.to_owned() + arm));
    let done = finished(&mut place.command(&["run", "mine.toml"])).expect(exit::UNSAFE);
    let done = done.tells(&["control/unlocked: a control that is wrong on purpose was not caught"]);
    assert!(done.stdout.contains("NOT CAUGHT"), "{}", done.stdout);
    let folder = place.only_run_of("mine");
    let again = finished(&mut place.command(&["verify", &folder.to_string_lossy()])).expect(exit::UNSAFE);
    assert!(again.stdout.contains("the control was not caught"), "{}", again.stdout);
    place.assert_nothing_left();
}
