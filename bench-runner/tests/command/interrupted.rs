//! Ctrl-C, SIGTERM and SIGHUP, at every stage of a run: exit code 130; what was measured is kept and marked.

use std::fs;

use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::{Place, SMALL};
use crate::process;
use crate::running::{Finished, Running, Server};
use crate::written::{assert_partial, summary};

/// Starts a run that does not end by itself, and waits until its workers contend.
fn contending(place: &Place, arguments: &[&str]) -> (Running, Server) {
    place.write("mine.toml", SMALL);
    let endless = ["run", "mine.toml", "--set", "trials.duration=10m"];
    let running = Running::start(&mut place.command(&[&endless, arguments].concat()));
    let server = Server::wait_for(place, "zookeeper-1");
    server.wait_for_contention();
    (running, server)
}

fn nothing_was_kept(place: &Place, done: Finished) {
    let done = done.expect(exit::INTERRUPTED).tells(&["interrupted before anything was measured"]);
    assert_eq!(done.stdout, "");
    place.assert_no_results();
    place.assert_nothing_left();
}

#[test]
fn what_was_measured_until_an_interruption_is_kept_and_marked() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let place = Place::with_servers();
        let (running, _) = contending(&place, &[]);
        running.signal(signal);
        let done = running.finish().expect(exit::INTERRUPTED).tells(&["interrupted", ".partial, marked as incomplete"]);
        assert!(done.stdout.contains("Incomplete run"), "{}", done.stdout);
        let run = place.only_run_of("mine");
        assert_partial(&run, "interrupted");
        assert!(!summary(&run).arms[0].trial[0].complete);
        place.assert_nothing_left();
    }
}

#[test]
fn json_of_an_interrupted_run_is_one_document_that_says_so() {
    let place = Place::with_servers();
    let (running, _) = contending(&place, &["--format", "json", "--quiet"]);
    running.signal(Signal::SIGINT);
    let done = running.finish().expect(exit::INTERRUPTED);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(json["complete"], false);
    assert_eq!(json["incomplete_reason"], "interrupted");
    place.assert_nothing_left();
}

#[test]
fn trials_that_were_over_stay_in_the_figures() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "trials.count=1000"]));
    running.wait_for("trial 2 of 1000");
    running.signal(Signal::SIGINT);
    running.finish().expect(exit::INTERRUPTED);
    let run = place.only_run_of("mine");
    assert_partial(&run, "interrupted");
    let summary = summary(&run);
    assert!(summary.arms[0].trial[0].complete && summary.arms[0].trial[0].grants > 0);
    place.assert_nothing_left();
}

#[test]
fn a_second_interruption_ends_the_run_at_once() {
    let place = Place::with_servers();
    let (mut running, server) = contending(&place, &[]);
    // A server that does not answer makes the books take their time, so that the second signal comes before they close.
    process::signal(server.pid, Signal::SIGSTOP).unwrap();
    running.signal(Signal::SIGINT);
    running.wait_for("once more to stop at once");
    running.signal(Signal::SIGINT);
    let done = running.finish().expect(exit::INTERRUPTED);
    assert_eq!(done.stdout, "");
    let run = place.only_run_of("mine");
    assert!(run.to_string_lossy().ends_with(".partial") && !run.join("report.html").exists());
    place.assert_nothing_left();
}

#[test]
fn an_interruption_while_the_servers_start_leaves_nothing() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "ensemble.nodes=3"]));
    running.wait_for("starting ZooKeeper");
    running.signal(Signal::SIGINT);
    nothing_was_kept(&place, running.finish());
}

#[test]
fn an_interruption_while_the_workers_connect_leaves_nothing() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let slowly = ["--set", "workers.count=4000", "--set", "workers.connect_concurrency=1"];
    let running = Running::start(&mut place.command(&[&["run", "mine.toml"], &slowly[..]].concat()));
    let server = Server::wait_for(&place, "zookeeper-1");
    process::eventually("some are connected", || {
        server.figure("zk_num_alive_connections").is_some_and(|connections| connections > 5)
    });
    running.signal(Signal::SIGINT);
    nothing_was_kept(&place, running.finish());
}

#[test]
fn an_interruption_before_the_workers_start_leaves_nothing() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "trials.rest=10m"]));
    let server = Server::wait_for(&place, "zookeeper-1");
    // Ten workers, a bystander, the one who tidies up, and this question.
    process::eventually("all are connected", || {
        server.figure("zk_num_alive_connections").is_some_and(|connections| connections >= 13)
    });
    running.signal(Signal::SIGINT);
    nothing_was_kept(&place, running.finish());
}

#[test]
fn an_interruption_of_the_warm_up_leaves_nothing() {
    let place = Place::with_servers();
    let (running, _) = contending(&place, &["--set", "trials.warmup=10m"]);
    running.signal(Signal::SIGTERM);
    nothing_was_kept(&place, running.finish());
}

#[test]
fn a_run_under_nohup_does_not_end_with_its_terminal() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let command =
        format!("trap '' HUP; exec {} run mine.toml --set trials.duration=10s", env!("CARGO_BIN_EXE_bench-runner"));
    let running = Running::start(&mut place.in_place("sh", &["-c", &command]));
    Server::wait_for(&place, "zookeeper-1").wait_for_contention();
    running.signal(Signal::SIGHUP);
    running.finish().expect(exit::DONE);
    assert!(fs::exists(place.only_run_of("mine").join("report.html")).unwrap());
    place.assert_nothing_left();
}
