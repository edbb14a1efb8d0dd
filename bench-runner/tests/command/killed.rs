//! `kill -9` of the runner: nothing of its ensemble survives, and nothing that it leaves looks whole.

use nix::sys::signal::Signal;

use crate::place::{Place, SMALL};
use crate::running::{Running, Server};
use crate::written::summary;

#[test]
fn a_killed_runner_leaves_no_server_and_no_result_that_looks_whole() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let set = ["--set", "ensemble.nodes=3", "--set", "trials.count=1000"];
    let mut running = Running::start(&mut place.command(&[&["run", "mine.toml"], &set[..]].concat()));
    running.wait_for("trial 2 of 1000");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code, None);
    place.assert_nothing_left();

    let run = place.only_run_of("mine");
    assert!(run.to_string_lossy().ends_with(".partial"), "{run:?}");
    let summary = summary(&run);
    assert!(!summary.complete && summary.incomplete_reason.is_some());
    assert!(summary.arms[0].trial[0].complete && summary.arms[0].grants > 0);
    // What it left can be looked at like any other run.
    crate::running::finished(&mut place.command(&["report", run.to_str().unwrap()])).expect(bench_runner::exit::DONE);
}

#[test]
fn a_runner_that_is_killed_in_its_first_trial_leaves_no_figures() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "trials.duration=10m"]));
    Server::wait_for(&place, "zookeeper-1").wait_for_contention();
    running.signal(Signal::SIGKILL);
    running.finish();
    place.assert_nothing_left();
    let run = place.only_run_of("mine");
    assert!(run.to_string_lossy().ends_with(".partial") && !run.join("summary.json").exists());
    assert!(run.join("mine.toml").exists());
}
