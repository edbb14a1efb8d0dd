//! Faults of a scenario, carried out on real ensembles of both services: what they cost, and that nothing breaks that the
//! scenario does not ask for.

use bench_runner::exit;
use bench_runner::measure::figures::{Arm, Failover};
use bench_runner::results::summary::Summary;

use crate::place::Place;
use crate::running::finished;

/// Three nodes of each service.
const BASE: &str = r#"version = 1
[ensemble]
nodes = 3
[ensemble.zookeeper]
tick = "500ms"
heap = "128m"
fsync = false
[trials]
count = 1
warmup = "0s"
rest = "0s"
duration = "DURATION"
[workers]
count = WORKERS
hold = "HOLD"
session_timeout = "TIMEOUT"
[bystanders]
sessions = 0
"#;

/// How long grants are held, and sessions live.
enum Grants {
    /// A leader leads until it is gone; its session ends two seconds after the last sign of life.
    ForEver,
    /// A lock that goes round; sessions outlive an election of the ensemble.
    Short,
}

/// How much later than the servers' rules a machine under load may make a detection, in milliseconds.
const SLACK_MS: f64 = 3_000.0;

/// An arm of each recipe on each service, named after both.
fn arms(recipes: &[&str]) -> String {
    let services = ["zookeeper", "etcd"];
    let arm = |recipe: &str, service: &str| {
        format!("[[arm]]\nrecipe = \"{recipe}\"\nservice = \"{service}\"\nlabel = \"{recipe} {service}\"\n")
    };
    recipes.iter().flat_map(|recipe| services.map(|service| arm(recipe, service))).collect()
}

/// Runs the scenario in a place of its own, sees that nothing is left, and hands the summary over.
fn run(duration: &str, workers: u32, grants: Grants, rest: &str) -> Summary {
    let place = Place::with_servers();
    let (hold, timeout) = match grants {
        Grants::ForEver => ("forever", "2s"),
        Grants::Short => ("20ms", "10s"),
    };
    let base = BASE.replace("DURATION", duration).replace("WORKERS", &workers.to_string());
    place.write("mine.toml", &(base.replace("HOLD", hold).replace("TIMEOUT", timeout) + rest));
    let done = finished(&mut place.command(&["run", "mine.toml", "--format", "json"])).expect(exit::DONE);
    place.assert_nothing_left();
    let summary: Summary = serde_json::from_str(&done.stdout).unwrap();
    assert!(summary.complete);
    for arm in &summary.arms {
        assert!(!arm.safety.is_violated(), "{}: {:?}", arm.label, arm.safety);
    }
    summary
}

/// The failovers of the only trial; none was left out.
fn failovers(arm: &Arm) -> &[Failover] {
    let failovers = &arm.trial[0].failovers;
    assert!(failovers.iter().all(|failover| failover.skipped.is_none()), "{}: {failovers:?}", arm.label);
    failovers
}

/// Client and server count the same.
fn the_books_agree(arm: &Arm) {
    assert_eq!(Some(arm.notifications.client), arm.notifications.server, "{}", arm.label);
}

#[test]
fn a_leader_that_crashes_wakes_all_or_one_and_is_seen_by_the_servers_rules() {
    const WORKERS: u32 = 20;
    let fault = "[[fault]]\nkind = \"crash\"\ntarget = \"holder\"\nat = \"500ms\"\nevery = \"3500ms\"\ncount = 3\n";
    let recipes = ["election/naive", "election/leader-latch", "election/leader-selector"];
    let summary = run("13s", WORKERS, Grants::ForEver, &(fault.to_owned() + &arms(&recipes)));
    assert_eq!(summary.arms.len(), 6);
    for arm in &summary.arms {
        let herds = arm.recipe == workloads::settings::Recipe::NaiveElection;
        let failovers = failovers(arm);
        assert_eq!(failovers.len(), 3, "{}", arm.label);
        for (number, failover) in (1..).zip(failovers) {
            assert!(failover.settled, "{}: {failover:?}", arm.label);
            let expected = if herds { u64::from(WORKERS) - number } else { 1 };
            assert_eq!(failover.notifications, Some(expected), "{}: {failover:?}", arm.label);
            assert_eq!((failover.overlap_ms, failover.victims), (Some(0.0), 1), "{}: {failover:?}", arm.label);
            assert_ne!(failover.holder, failover.successor);
            // Not sooner than the session may end (a millisecond is the clocks' own), nor much later than it must.
            let bounds = arm.failovers.as_ref().unwrap().bounds;
            let detection = failover.detection_ms.unwrap();
            assert!(detection >= bounds.from_ms - 1.0, "{}: {failover:?}", arm.label);
            assert!(detection <= bounds.to_ms + SLACK_MS, "{}: {failover:?}", arm.label);
        }
        assert_eq!((arm.grants, arm.safety.failed), (4, 0), "{}", arm.label);
        assert_eq!(arm.failover_ms.total.count, 3);
        the_books_agree(arm);
    }
}

#[test]
fn a_leader_that_closes_is_seen_long_before_its_session_would_expire() {
    let fault = "[[fault]]\nkind = \"close\"\ntarget = \"holder\"\nat = \"500ms\"\nevery = \"1s\"\ncount = 3\n";
    let summary = run("5s", 10, Grants::ForEver, &(fault.to_owned() + &arms(&["election/leader-latch"])));
    for arm in &summary.arms {
        for failover in failovers(arm) {
            assert!(failover.detection_ms.unwrap() < 1_000.0, "{}: {failover:?}", arm.label);
            assert_eq!(failover.notifications, Some(1));
        }
        assert_eq!(arm.grants, 4, "{}", arm.label);
        the_books_agree(arm);
    }
}

#[test]
fn a_leader_that_stood_still_is_told_or_refused_and_the_overlap_is_found() {
    let fault = "[[fault]]\nkind = \"pause\"\ntarget = \"holder\"\nfor = \"5s\"\nat = \"500ms\"\n";
    let summary = run("8s", 5, Grants::ForEver, &(fault.to_owned() + &arms(&["election/leader-latch"])));
    for arm in &summary.arms {
        let failover = &failovers(arm)[0];
        // It believed that it leads until it woke, while another one led.
        assert_eq!(arm.safety.overlaps_asked, 1, "{}", arm.label);
        assert!(failover.overlap_ms.unwrap() > 0.0 && arm.safety.longest_overlap_us > 0, "{}: {failover:?}", arm.label);
        let all = arm.failovers.as_ref().unwrap();
        assert_eq!(all.fencing.told + all.fencing.acted_stale, 1, "{}: {all:?}", arm.label);
        assert_eq!(failover.told, failover.stale_writes == 0);
        // It came back, with a session of its own.
        assert_eq!(all.sessions_lost, 1, "{}", arm.label);
        assert!(failover.healed_seconds.is_some());
    }
}

#[test]
fn a_holder_that_is_cut_off_gives_up_before_another_is_granted() {
    for how in ["sever", "blackhole"] {
        let fault =
            format!("[[fault]]\nkind = \"cut\"\nhow = \"{how}\"\ntarget = \"holder\"\nfor = \"5s\"\nat = \"500ms\"\n");
        let summary = run("8s", 5, Grants::ForEver, &(fault + &arms(&["election/leader-latch"])));
        for arm in &summary.arms {
            let failover = &failovers(arm)[0];
            assert_eq!(
                (failover.overlap_ms, failover.stale_writes),
                (Some(0.0), 0),
                "{how} {}: {failover:?}",
                arm.label
            );
            assert!(failover.told, "{how} {}: {failover:?}", arm.label);
            assert_eq!(failover.notifications, Some(1), "{how} {}", arm.label);
        }
    }
}

#[test]
fn nobody_loses_a_place_in_the_queue_when_the_ensembles_leader_dies() {
    let fault = "[[fault]]\nkind = \"kill-node\"\ntarget = \"leader\"\nfor = \"3s\"\nat = \"3s\"\n";
    let summary = run("12s", 60, Grants::Short, &(fault.to_owned() + &arms(&["lock/sequential"])));
    for arm in &summary.arms {
        let failover = &failovers(arm)[0];
        assert!(failover.node.is_some() && failover.detection_ms.is_some(), "{}: {failover:?}", arm.label);
        let safety = &arm.safety;
        assert_eq!((safety.overlaps, safety.token_regressions, safety.fifo_inversions), (0, 0, 0), "{}", arm.label);
        assert_eq!(arm.failovers.as_ref().unwrap().sessions_lost, 0, "{}", arm.label);
        // There is no book of a node whose counters began again, and the report says so.
        assert_eq!(arm.notifications.server, None);
        assert!(
            arm.notifications.server_missing.as_ref().unwrap().contains("started again"),
            "{:?}",
            arm.notifications
        );
        // It went on: grants came after the fault.
        let after = arm.series.leaderships.iter().filter(|grant| grant.from_seconds > failover.seconds + 1.0).count();
        assert!(after > 0, "{}: {failover:?}", arm.label);
    }
}
