//! Results that cannot be written although they could when the run began: the figures are shown all the same, the message
//! has the remedy, and what is there is marked as incomplete.

use std::fs;
use std::os::unix::fs::symlink;

use bench_runner::exit;

use crate::place::{Place, SMALL};
use crate::process::eventually;
use crate::running::{Finished, Running, Server, finished};

/// Runs the small scenario, and lets one file of its folder be on a full disk.
fn with_a_full_disk_for(place: &Place, file: &str) -> Finished {
    place.write("mine.toml", SMALL);
    let mut running = Running::start(&mut place.command(&["run", "mine.toml"]));
    running.wait_for("starting ZooKeeper");
    // The file is written beside its place and moved there.
    symlink("/dev/full", place.only_run_of("mine").join(format!("{file}.new"))).unwrap();
    let done = running.finish().expect(exit::INTERNAL).tells(&[
        &format!("/{file}: "),
        "No space left",
        "free some room, or choose another disk with --out",
        ".partial, marked as incomplete",
    ]);
    assert!(done.stdout.contains("grants per second"), "{}", done.stdout);
    assert!(done.stdout.contains("Incomplete run") && done.stdout.contains("No space left"), "{}", done.stdout);
    let run = place.only_run_of("mine");
    assert!(run.to_string_lossy().ends_with(".partial"), "{run:?}");
    place.assert_nothing_left();
    done
}

#[test]
fn a_disk_that_is_full_after_a_trial_costs_no_figures() {
    let place = Place::with_servers();
    with_a_full_disk_for(&place, "histograms/trial-1-lock-naive.hlog");
    // There was room for the rest.
    let run = place.only_run_of("mine");
    assert!(!crate::written::summary(&run).complete && run.join("report.html").exists());
}

#[test]
fn a_disk_that_is_full_at_the_end_costs_no_figures() {
    let place = Place::with_servers();
    with_a_full_disk_for(&place, "report.html");
    assert!(!crate::written::summary(&place.only_run_of("mine")).complete);
}

#[test]
fn a_disk_that_is_full_for_the_summary_costs_no_figures() {
    let place = Place::with_servers();
    let done = with_a_full_disk_for(&place, "summary.json");
    assert!(!done.stdout.contains("\nreport: "), "{}", done.stdout);
    assert!(!place.only_run_of("mine").join("summary.json").exists());
}

#[test]
fn a_limit_of_a_files_size_is_an_error_like_a_full_disk() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    // Long enough to be caught in the middle, however busy the machine is.
    let running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "trials.duration=15s"]));
    Server::wait_for(&place, "zookeeper-1").wait_for_contention();
    // Of the runner alone: its servers have started.
    let limit = ["--fsize=4096", "--pid", &running.pid().to_string()];
    finished(&mut place.in_place("prlimit", &limit)).expect(exit::DONE);
    let done = running.finish().expect(exit::INTERNAL).tells(&["File too large", "ulimit -f"]);
    assert!(done.stdout.contains("grants per second"), "{}", done.stdout);
    assert!(place.only_run_of("mine").to_string_lossy().ends_with(".partial"));
    place.assert_nothing_left();
}

#[test]
fn a_folder_that_vanishes_is_told() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut running = Running::start(&mut place.command(&["run", "mine.toml"]));
    running.wait_for("starting ZooKeeper");
    eventually("it is there", || place.runs_of("mine").len() == 1);
    fs::rename(place.path("results"), place.path("moved")).unwrap();
    place.write("results", "something else");
    let done = running.finish().expect(exit::INTERNAL).tells(&["results/mine", "--out"]);
    assert!(done.stdout.contains("grants per second"), "{}", done.stdout);
    place.assert_nothing_left();
}
