//! What can be known to be wrong before anything starts: exit code 2, the line or the remedy, and nothing left behind.

use std::fs;

use bench_runner::exit;

use crate::place::{Place, SMALL};
use crate::running::finished;

/// Runs `bench-runner run` with a scenario and more arguments, and sees that it is refused in these words.
fn refused(scenario: &str, arguments: &[&str], words: &[&str]) {
    let place = Place::without_servers();
    place.write("mine.toml", scenario);
    let done =
        finished(&mut place.command(&[&["run", "mine.toml"], arguments].concat())).expect(exit::USAGE).tells(words);
    assert_eq!(done.stdout, "");
    assert!(!done.stderr.contains("starting"), "{}", done.stderr);
    place.assert_no_results();
    place.assert_nothing_left();
}

/// The small scenario with something in it replaced.
fn with(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old));
    SMALL.replace(old, new)
}

#[test]
fn a_scenario_that_is_wrong_is_refused_with_the_line() {
    for (scenario, words) in [
        (with("count = 10", "cuont = 10"), ["mine.toml:13", "unknown key `cuont`", "did you mean `count`?"]),
        (with("count = 10", "count = \"ten\""), ["mine.toml:13", "count", "whole number"]),
        (with("count = 10", "count = 0"), ["mine.toml:13", "count", "1"]),
        (with("lock/naive", "lock/naiv"), ["mine.toml:17", "lock/naiv", "lock/naive"]),
        (with("\"1s\"", "\"1\""), ["mine.toml:10", "has no unit", "\"10s\""]),
        (with("\"1s\"", "1"), ["mine.toml:10", "duration", "\"10s\""]),
        (with("nodes = 1", "nodes = 1 1"), ["mine.toml:3", "error", "nodes"]),
    ] {
        refused(&scenario, &[], &words);
    }
}

#[test]
fn an_override_that_is_wrong_is_refused_by_its_own_words() {
    for (set, words) in [
        ("gaga", ["--set gaga", "there is no `=`"]),
        ("workers.cuont=3", ["--set workers.cuont=3", "did you mean `count`?"]),
        ("workers.count=many", ["--set workers.count=many", "whole number"]),
        ("arm.7.label=mine", ["--set arm.7.label=mine", "arm"]),
        ("trials.duration=3", ["--set trials.duration=3", "has no unit"]),
        ("=", ["--set =", "key"]),
    ] {
        refused(SMALL, &["--set", set], &words);
    }
}

#[test]
fn a_scenario_that_is_not_there_is_told_with_those_that_are() {
    let place = Place::without_servers();
    place.write("mine.toml", SMALL);
    finished(&mut place.command(&["run", "mien.toml"])).expect(exit::USAGE).tells(&["mien.toml", "mine.toml"]);
    fs::create_dir(place.path("folder")).unwrap();
    finished(&mut place.command(&["run", "folder"])).expect(exit::USAGE).tells(&["folder"]);
    place.assert_no_results();
}

#[test]
fn results_that_cannot_be_written_are_found_out_before_anything_starts() {
    let place = Place::without_servers();
    place.write("mine.toml", SMALL);
    place.write("taken", "a file");
    fs::create_dir(place.path("elsewhere")).unwrap();
    place.write("elsewhere/mine", "a file");
    for out in ["taken", "taken/below", "elsewhere", "/proc/no-such-folder"] {
        let done = finished(&mut place.command(&["run", "mine.toml", "--out", out])).expect(exit::USAGE);
        let done = done.tells(&["error: cannot make the folder", out, "--out"]);
        assert!(!done.stderr.contains("starting"), "{}", done.stderr);
    }
    assert_eq!(fs::read_to_string(place.path("taken")).unwrap(), "a file");
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 1);
    place.assert_nothing_left();
}

#[test]
fn too_few_files_are_told_with_the_limit_and_the_remedy() {
    let place = Place::without_servers();
    place.write("mine.toml", SMALL);
    let program = env!("CARGO_BIN_EXE_bench-runner");
    let limited = |nofile: &str, set: &str| {
        finished(&mut place.in_place("prlimit", &[nofile, program, "run", "mine.toml", "--set", set]))
    };
    // Ten workers fit, three hundred do not.
    limited("--nofile=400:400", "workers.count=300").expect(exit::USAGE).tells(&[
        "open files are needed",
        "is 400",
        "use fewer workers",
        "ulimit -Hn",
    ]);
    place.assert_no_results();
    place.assert_nothing_left();
}

#[test]
fn a_command_line_that_is_wrong_is_refused() {
    let place = Place::without_servers();
    let refused =
        |arguments: &[&str], words: &[&str]| finished(&mut place.command(arguments)).expect(exit::USAGE).tells(words);
    refused(&["rnu"], &["rnu", "run"]);
    refused(&[], &["Usage:", "run", "report"]);
    refused(&["run"], &["SCENARIO"]);
    refused(&["run", "mine.toml", "--format", "xml"], &["xml", "json"]);
    refused(&["run", "mine.toml", "--qiet"], &["--qiet", "--quiet"]);
    refused(&["report", "nothing-there"], &["nothing-there", "name a run's folder"]);
    refused(&["schema", "report"], &["scenario", "summary"]);
    place.assert_no_results();
}

#[test]
fn a_summary_that_cannot_be_read_is_told() {
    let place = Place::without_servers();
    let refused = |text: &str, words: &[&str]| {
        place.write("summary.json", text);
        finished(&mut place.command(&["report", "."])).expect(exit::USAGE).tells(words);
    };
    refused("", &["summary.json", "no summary of a run"]);
    refused("{\"schema_version\": 1}", &["summary.json", "missing field"]);
    refused("{\"schema_version\": 99}", &["version 99", "use a newer one"]);
    assert!(!place.path("report.html").exists());
}

#[test]
fn the_help_names_every_command_and_exit_code() {
    let place = Place::without_servers();
    let help = finished(&mut place.command(&["--help"])).expect(exit::DONE).stdout;
    for word in [
        "run",
        "check",
        "gate",
        "compare",
        "history",
        "report",
        "schema",
        "--set",
        "130",
        "a safety check failed",
        ".partial",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(!help.contains("keep "), "the keeper is not for people: {help}");
}
