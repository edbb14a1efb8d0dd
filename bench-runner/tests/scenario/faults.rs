//! `[[fault]]`, and what elections have of their own: what is valid, and every mistake as its author sees it.

use std::time::Duration;

use bench_runner::scenario::{
    CutHow, FaultKind, FaultSettings, NodeFault, NodeTarget, WorkerFault, WorkerTarget, schema,
};
use workloads::settings::Delay;

use super::errors::complaints;
use super::valid;

/// A scenario of one arm, with trials of 30 s, around some lines of a fault.
fn fault(lines: &str) -> String {
    of_arm("recipe = \"lock/naive\"", &format!("[[fault]]\n{lines}"))
}

/// A scenario around the lines of an arm, and some lines behind it.
fn of_arm(arm: &str, rest: &str) -> String {
    format!("version = 1\nworkers = {{ count = 50 }}\ntrials = {{ duration = \"30s\" }}\n\n[[arm]]\n{arm}\n\n{rest}\n")
}

/// The kind that some lines stand for.
fn kind(lines: &str) -> FaultKind {
    valid(&fault(&format!("at = \"5s\"\n{lines}")), &[]).faults[0].kind
}

const TEN: Duration = Duration::from_secs(10);

#[test]
fn each_kind_becomes_what_it_says() {
    let worker = |fault, target| FaultKind::Worker { fault, target };
    let node = |fault, target| FaultKind::Node { fault, target };
    assert_eq!(kind("kind = \"close\"\ntarget = \"holder\""), worker(WorkerFault::Close, WorkerTarget::Holder));
    assert_eq!(kind("kind = \"crash\"\ntarget = 0.5"), worker(WorkerFault::Crash, WorkerTarget::Share(0.5)));
    assert_eq!(kind("kind = \"crash\"\ntarget = 1"), worker(WorkerFault::Crash, WorkerTarget::Share(1.0)));
    assert_eq!(
        kind("kind = \"pause\"\ntarget = \"waiter\"\nfor = \"10s\""),
        worker(WorkerFault::Pause(TEN), WorkerTarget::Waiter)
    );
    let cut = |how, length| worker(WorkerFault::Cut { how, length }, WorkerTarget::Holder);
    assert_eq!(kind("kind = \"cut\"\ntarget = \"holder\""), cut(CutHow::Sever, None));
    assert_eq!(
        kind("kind = \"cut\"\ntarget = \"holder\"\nhow = \"sever\"\nfor = \"10s\""),
        cut(CutHow::Sever, Some(TEN))
    );
    assert_eq!(kind("kind = \"cut\"\ntarget = \"holder\"\nhow = \"blackhole\""), cut(CutHow::Blackhole, None));
    assert_eq!(
        kind("kind = \"kill-node\"\ntarget = \"leader\"\nfor = \"10s\""),
        node(NodeFault::Kill { length: Some(TEN) }, NodeTarget::Leader)
    );
    assert_eq!(
        kind("kind = \"pause-node\"\ntarget = \"follower\""),
        node(NodeFault::Pause { length: None }, NodeTarget::Follower)
    );
    assert_eq!(kind("kind = \"restart-node\"\ntarget = \"random\""), node(NodeFault::Restart, NodeTarget::Random));
}

#[test]
fn a_fault_keeps_its_moments() {
    let text = fault("kind = \"crash\"\ntarget = \"holder\"\nat = \"5s\"\nevery = \"6s\"\ncount = 4");
    let scenario = valid(&text, &[]);
    let [FaultSettings { at, every, count, .. }] = scenario.faults[..] else { panic!("one fault") };
    assert_eq!((at, every, count), (Duration::from_secs(5), Some(Duration::from_secs(6)), Some(4)));
    assert_eq!(scenario.faults[0].due(scenario.trials.duration).len(), 4);
    // To the end of the trial.
    let scenario = valid(&text, &["fault.0.count="]);
    assert_eq!(scenario.faults[0].due(scenario.trials.duration).len(), 5);
    assert_eq!(valid(&of_arm("recipe = \"lock/naive\"", ""), &[]).faults, []);
}

#[test]
fn nodes_may_fall_as_long_as_a_quorum_is_left() {
    let kill = |rest: &str| fault(&format!("kind = \"kill-node\"\ntarget = \"leader\"\nat = \"5s\"\n{rest}"));
    // The next one falls a moment after the last has healed.
    valid(&kill("every = \"10001ms\"\nfor = \"10s\""), &[]);
    let another = kill("\n[[fault]]\nkind = \"pause-node\"\ntarget = \"random\"\nat = \"6s\"");
    valid(&another, &["ensemble.nodes=5"]);
    valid(&fault("kind = \"restart-node\"\ntarget = \"leader\"\nat = \"5s\"\nevery = \"5s\""), &["ensemble.nodes=1"]);
}

#[test]
fn an_idle_session_can_be_broken_too() {
    let share = "[[fault]]\nkind = \"crash\"\ntarget = 0.5\nat = \"5s\"";
    assert_eq!(valid(&of_arm("recipe = \"session/idle\"", share), &[]).faults.len(), 1);
}

#[test]
fn a_grant_may_be_held_for_ever() {
    let hold = |lines: &str| valid(&of_arm(&format!("recipe = \"election/leader-latch\"\n{lines}"), ""), &[]);
    assert_eq!(hold("workers = { hold = \"forever\" }").arms[0].workers.hold, Delay::Forever);
}

#[test]
fn a_selector_queues_again_unless_it_is_told_otherwise() {
    let arm = |lines: &str, overrides: &[&str]| valid(&of_arm(lines, ""), overrides).arms[0].workers.auto_requeue;
    let selector = "recipe = \"election/leader-selector\"";
    assert!(arm(selector, &[]));
    assert!(arm(selector, &["workers.auto_requeue=true", "workers.think=0s"]));
    assert!(!arm(selector, &["workers.auto_requeue=false", "workers.think=1s"]));
    assert!(!arm(selector, &["workers.mode=open", "workers.arrivals.rate=5"]));
    assert!(!arm("recipe = \"election/leader-latch\"", &[]));
    // For one of the arms; the others take no notice.
    let both = format!("{selector}\n[[arm]]\nrecipe = \"lock/naive\"");
    let arms = valid(&of_arm(&both, ""), &["workers.auto_requeue=true"]).arms;
    assert_eq!([&arms[0], &arms[1]].map(|arm| arm.workers.auto_requeue), [true, false]);
}

#[test]
fn faults_that_are_not_written_right() {
    let shown = complaints(&[
        fault(""),
        fault("kind = \"kill\"\ntarget = \"leader\"\nat = \"5s\""),
        fault("kind = \"kill-node\"\nat = 5"),
        fault("kind = \"crash\"\ntarget = \"holdr\"\nat = \"5s\"\nfro = \"1s\""),
        fault("kind = \"crash\"\ntarget = \"0.5\"\nat = \"5s\""),
        fault("kind = \"crash\"\ntarget = true\nat = \"5s\""),
        fault("kind = \"crash\"\ntarget = 50\nat = \"5s\""),
        fault("kind = \"crash\"\ntarget = nan\nat = \"5s\""),
        of_arm("recipe = \"lock/naive\"", "[fault]\nkind = \"crash\""),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn faults_whose_keys_do_not_suit_their_kind() {
    let shown = complaints(&[
        fault("kind = \"crash\"\ntarget = \"leader\"\nat = \"5s\""),
        fault("kind = \"kill-node\"\ntarget = \"holder\"\nat = \"5s\""),
        fault("kind = \"pause-node\"\ntarget = 0.5\nat = \"5s\""),
        fault("kind = \"pause\"\ntarget = \"holder\"\nat = \"5s\""),
        fault("kind = \"pause\"\ntarget = \"holder\"\nat = \"5s\"\nfor = \"0s\""),
        fault("kind = \"close\"\ntarget = \"holder\"\nat = \"5s\"\nfor = \"1s\"\nhow = \"sever\""),
        fault("kind = \"restart-node\"\ntarget = \"leader\"\nat = \"5s\"\nfor = \"1s\""),
        of_arm("recipe = \"session/idle\"", "[[fault]]\nkind = \"crash\"\ntarget = \"holder\"\nat = \"5s\""),
        fault("kind = \"crash\"\ntarget = \"holder\"\nat = \"5s\"")
            .replace("count = 50", "count = 50, mode = \"drain\""),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn faults_that_do_not_fall_into_a_trial() {
    let crash = |lines: &str| fault(&format!("kind = \"crash\"\ntarget = \"holder\"\n{lines}"));
    let shown = complaints(&[
        crash("at = \"30s\""),
        crash("at = \"5s\"\nevery = \"25s\""),
        crash("at = \"5s\"\nevery = \"6s\"\ncount = 20"),
        crash("at = \"5s\"\nevery = \"1ns\""),
        crash("at = \"5s\"\nevery = \"0s\""),
        crash("at = \"5s\"\nevery = \"6s\"\ncount = 0"),
        crash("at = \"5s\"\ncount = 3"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn faults_that_leave_no_quorum() {
    let node =
        |kind: &str, lines: &str| fault(&format!("kind = \"{kind}\"\ntarget = \"follower\"\nat = \"5s\"\n{lines}"));
    let two = |other: &str| node("kill-node", &format!("for = \"5s\"\n\n[[fault]]\ntarget = \"leader\"\n{other}"));
    let one_node = |text: String| text.replace("\n\n[[arm]]", "\nensemble = { nodes = 1 }\n\n[[arm]]");
    let shown = complaints(&[
        node("kill-node", "every = \"6s\""),
        node("kill-node", "every = \"6s\"\nfor = \"6s\""),
        two("kind = \"pause-node\"\nat = \"9s\""),
        two("kind = \"restart-node\"\nat = \"9s\""),
        one_node(node("kill-node", "for = \"1s\"")),
        one_node(node("pause-node", "for = \"1s\"")),
        one_node(node("restart-node", "")),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn grants_that_do_not_fit() {
    let arm = |recipe: &str, workers: &str| of_arm(&format!("recipe = \"{recipe}\"\nworkers = {{ {workers} }}"), "");
    let shown = complaints(&[
        arm("lock/naive", "hold = \"forever\", mode = \"drain\""),
        arm("lock/naive", "think = \"forever\""),
        arm("lock/naive", "hold = \"for ever\""),
        arm("election/leader-latch", "auto_requeue = true"),
        arm("election/leader-selector", "auto_requeue = true, mode = \"drain\""),
        arm("election/leader-selector", "think = \"5ms\""),
        arm("election/leader-selector", "think = { uniform = [\"0s\", \"5ms\"] }, auto_requeue = true"),
        arm("lock/naive", "locks = 60").replace("count = 50", "count = 50, auto_requeue = true"),
    ]);
    insta::assert_snapshot!(shown);
}

/// What the file takes and what editors are told is the same.
#[test]
fn the_schema_knows_every_kind_and_target() {
    let schema = schema();
    let words = |name: &str| {
        let key = &schema["definitions"]["Fault"]["properties"][name];
        let choices = key["oneOf"].as_array().expect("choices").clone();
        choices.into_iter().filter_map(|choice| choice["const"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (kinds, targets) = (words("kind"), words("target"));
    assert_eq!((kinds.len(), targets.len()), (8, 5));
    for kind in kinds {
        let fits = |target: &&String| {
            let length = if kind == "pause" { "for = \"1s\"" } else { "" };
            let text = fault(&format!("kind = \"{kind}\"\ntarget = \"{target}\"\nat = \"5s\"\n{length}"));
            // With containers there are all of them.
            bench_runner::scenario::parse("test", &text, &["ensemble.provider=docker".to_owned()]).is_ok()
        };
        let expected = if kind.ends_with("-node") { 3 } else { 2 };
        assert_eq!(targets.iter().filter(fits).count(), expected, "{kind}");
    }
}
