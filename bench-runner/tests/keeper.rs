//! The keeper on its own, with a harmless command in the place of a server.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Waits until `condition` holds.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not after a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A keeper with its pipes, in an ensemble's folder of its own.
struct Kept {
    keeper: Child,
    reports: BufReader<ChildStdout>,
    ensemble: PathBuf,
}

impl Kept {
    fn start(place: &Path, command: &[&str]) -> Kept {
        let ensemble = place.join("bench-runner-1-2-3-4");
        let folder = ensemble.join("node-1");
        fs::create_dir_all(&folder).unwrap();
        let mut keeper = Command::new(env!("CARGO_BIN_EXE_bench-runner"))
            .arg("keep")
            .args([&folder, &folder.join("node.log")])
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let reports = BufReader::new(keeper.stdout.take().unwrap());
        Kept { keeper, reports, ensemble }
    }

    fn report(&mut self) -> String {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        line.trim_end().into()
    }

    fn order(&mut self, order: &str) {
        writeln!(self.keeper.stdin.as_mut().unwrap(), "{order}").unwrap();
    }

    fn started(&mut self) -> Pid {
        Pid::from_raw(self.report().strip_prefix("started ").expect("it starts").parse().unwrap())
    }

    /// Closes the keeper's stdin, as the runner's end does, and waits for the keeper's.
    fn let_go(mut self) {
        drop(self.keeper.stdin.take());
        assert!(self.keeper.wait().unwrap().success());
        assert!(!self.ensemble.exists());
    }
}

#[test]
fn a_server_ends_with_the_pipe_and_its_folder_goes() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sleep", "1000"]);
    let server = kept.started();
    kill(server, None).unwrap();
    kept.let_go();
    // Reaped, so not even a zombie is there.
    assert!(kill(server, None).is_err());
}

#[test]
fn a_stopped_server_leaves_its_folder_until_the_pipe_is_closed() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sleep", "1000"]);
    kept.started();
    kept.order("stop");
    assert_eq!(kept.report(), "ended was killed by SIGKILL");
    assert!(kept.ensemble.join("node-1/node.log").exists());
    kept.let_go();
}

#[test]
fn a_stopped_server_is_started_again_in_its_folder() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sh", "-c", "echo here >> marks; exec sleep 1000"]);
    let first = kept.started();
    // One that runs is left alone: the next report is that of its end.
    kept.order("start");
    let folder = kept.ensemble.join("node-1");
    let marks = || fs::read_to_string(folder.join("marks")).unwrap_or_default();
    eventually("it has begun", || !marks().is_empty());
    kept.order("stop");
    assert_eq!(kept.report(), "ended was killed by SIGKILL");
    kept.order("start");
    let second = kept.started();
    assert_ne!(first, second);
    eventually("it has begun again", || marks() == "here\nhere\n");
    // As often as it is wanted, and noticed each time.
    kill(second, Signal::SIGTERM).unwrap();
    assert_eq!(kept.report(), "ended was killed by SIGTERM");
    kept.order("start");
    let third = kept.started();
    kept.let_go();
    assert!(kill(third, None).is_err());
}

#[test]
fn a_server_that_stands_still_is_killed_too() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sleep", "1000"]);
    let first = kept.started();
    kill(first, Signal::SIGSTOP).unwrap();
    kept.order("stop");
    assert_eq!(kept.report(), "ended was killed by SIGKILL");
    kept.order("start");
    let second = kept.started();
    kill(second, Signal::SIGSTOP).unwrap();
    kept.let_go();
    assert!(kill(second, None).is_err());
}

#[test]
fn the_end_of_a_server_is_reported_with_its_output_in_the_log() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sh", "-c", "echo out; echo err >&2; pwd; exit 3"]);
    kept.started();
    assert_eq!(kept.report(), "ended exited with code 3");
    let folder = kept.ensemble.join("node-1");
    let log = fs::read_to_string(folder.join("node.log")).unwrap();
    assert_eq!(log, format!("out\nerr\n{}\n", folder.canonicalize().unwrap().display()));
    kept.let_go();
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["/nonexistent/java"]);
    let report = kept.report();
    assert!(report.starts_with("failed ") && report.contains("No such file"), "{report}");
    kept.let_go();
}

#[test]
fn signals_that_end_a_runner_do_not_end_a_keeper_and_do_end_a_server() {
    let place = tempfile::tempdir().unwrap();
    let mut kept = Kept::start(place.path(), &["sleep", "1000"]);
    let server = kept.started();
    let keeper = Pid::from_raw(kept.keeper.id().cast_signed());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        kill(keeper, signal).unwrap();
    }
    // It still takes orders and reports.
    kill(server, Signal::SIGTERM).unwrap();
    assert_eq!(kept.report(), "ended was killed by SIGTERM");
    kept.let_go();
}

#[test]
fn a_killed_keeper_takes_its_server_along() {
    let place = tempfile::tempdir().unwrap();
    // The server alone holds the write end of a pipe: reading ends when it ends.
    let fifo = place.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = format!("exec sleep 1000 3>'{}'", fifo.display());
    let mut kept = Kept::start(place.path(), &["sh", "-c", &script]);
    kept.started();
    let mut held = fs::File::open(&fifo).unwrap();
    kept.keeper.kill().unwrap();
    kept.keeper.wait().unwrap();
    assert_eq!(held.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_folder_that_is_no_ensembles_is_not_touched() {
    let place = tempfile::tempdir().unwrap();
    let precious = place.path().join("precious/node-1");
    fs::create_dir_all(&precious).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_bench-runner"))
        .arg("keep")
        .args([&precious, &precious.join("node.log")])
        .arg("true")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(precious.exists());
}
