//! `capacity`: a whole small sweep on a real server, one that is killed and goes on, one that is interrupted, and scenarios that
//! it refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bench_runner::capacity::Capacity;
use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::Place;
use crate::process::eventually;
use crate::running::{Running, finished};

/// Two drains of each of the two locks at each of three sizes: their counts are known.
const TINY: &str = r#"version = 1
question = "How many?"
[ensemble]
nodes = 1
[ensemble.zookeeper]
heap = "128m"
fsync = false
[trials]
warmup = "0s"
rest = "300ms"
[workers]
mode = "drain"
[bystanders]
sessions = 1
[sweep]
workers = [3, 6, 12]
repeats = 2
stop_beyond = 1000
[slo]
limits = ["acquire_ms.p99 < 60000"]
[[arm]]
recipe = "lock/naive"
[[arm]]
recipe = "lock/sequential"
"#;

fn stored(run: &Path) -> Capacity {
    serde_json::from_str(&fs::read_to_string(run.join("capacity.json")).unwrap()).unwrap()
}

/// The files of the points that are there whole.
fn points(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(run.join("points")).into_iter().flatten().flatten();
    let whole = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "json"));
    whole.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
}

/// What a table of counts is: where each point is, and what a grant cost there.
fn table(capacity: &Capacity) -> Vec<String> {
    let row = |point: &bench_runner::capacity::point::Point| {
        let figure = |name| point.figure(name).unwrap();
        let (grants, notifications) = (point.workers, figure("notifications.per_grant"));
        let cell = point.cell;
        format!("{} {} {:?} {} {grants} {notifications:.6}", point.label, cell.x, cell.y, cell.repeat)
    };
    let mut rows: Vec<String> = capacity.points.iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn a_sweep_and_what_it_leaves() {
    let place = Place::with_servers();
    place.write("mine.toml", TINY);
    let done = finished(&mut place.command(&["capacity", "mine.toml", "--format", "json"])).expect(exit::DONE);
    let told: Capacity = serde_json::from_str(&done.stdout).unwrap();
    let run = place.only_run_of("mine");
    assert_eq!(stored(&run), told);
    assert!(told.complete && told.points.len() == 12 && told.answers.len() == 2, "{told:?}");
    // A drain of N costs N(N − 1)/2 notifications with the naive lock, and N − 1 with the other one.
    for point in &told.points {
        let n = point.cell.x;
        let known = if point.label == "lock/naive" { (n - 1.0) / 2.0 } else { (n - 1.0) / n };
        assert!((point.figure("notifications.per_grant").unwrap() - known).abs() < 1e-9, "{point:?}");
        assert!(point.little.unwrap().holds(), "{point:?}");
    }
    assert!(done.stderr.contains("left, about"), "{}", done.stderr);
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    assert!(read("report.html").contains("<svg") && !read("report.html").contains("http"));
    assert_eq!(read("points.csv").lines().count(), 13);
    assert!(run.join("charts/requests-per-grant.svg").exists() && run.join("mine.toml").exists());
    place.assert_nothing_left();

    // Drawn again from what is stored.
    fs::remove_file(run.join("report.html")).unwrap();
    let again = finished(&mut place.command(&["report", run.to_str().unwrap()])).expect(exit::DONE);
    let first = again.stdout.lines().next().unwrap();
    assert!(first.starts_with("lock/naive: more than 12 workers"), "{first}");
    assert!(run.join("report.html").exists());
}

#[test]
fn fresh_servers_are_warmed_for_as_long_as_asked() {
    let place = Place::with_servers();
    place.write("mine.toml", TINY);
    let set = ["trials.warmup=5s", "sweep.workers=[3, 6]", "sweep.repeats=1"];
    let mut command = place.command(&["capacity", "mine.toml", "--format", "json"]);
    command.args(set.iter().flat_map(|set| ["--set", set]));
    let told: Capacity = serde_json::from_str(&finished(&mut command).expect(exit::DONE).stdout).unwrap();
    let at = |moment: &str| humantime::parse_rfc3339(moment).unwrap();
    let first = told.points.iter().map(|point| at(&point.started)).min().unwrap();
    // A drain of three is over at once: it is repeated, five seconds for each of two arms. Both moments are cut to seconds.
    let before = first.duration_since(at(&told.started)).unwrap();
    assert!(before >= Duration::from_secs(9), "{before:?}");
    assert_eq!(told.points.len(), 4);
    place.assert_nothing_left();
}

#[test]
fn a_sweep_that_was_killed_goes_on_with_the_points_that_it_has() {
    let place = Place::with_servers();
    place.write("mine.toml", TINY);
    let whole = finished(&mut place.command(&["capacity", "mine.toml", "--format", "json", "--out", "whole"]));
    let whole: Capacity = serde_json::from_str(&whole.expect(exit::DONE).stdout).unwrap();

    let running = Running::start(&mut place.command(&["capacity", "mine.toml"]));
    eventually("some points are there", || place.runs_of("mine").first().is_some_and(|run| points(run).len() >= 3));
    running.signal(Signal::SIGKILL);
    running.finish();
    place.assert_nothing_left();
    let run = place.only_run_of("mine");
    let before = points(&run);
    assert!(run.to_string_lossy().ends_with(".partial") && before.len() < 12, "{} points", before.len());

    // Another scenario, and other overrides, are other sweeps.
    let other = ["capacity", "mine.toml", "--resume", "--set", "sweep.repeats=3"];
    finished(&mut place.command(&other)).expect(exit::USAGE).tells(&["no interrupted sweep", "--resume"]);
    let named = ["capacity", "mine.toml", "--set", "seed=9", "--resume", run.to_str().unwrap()];
    finished(&mut place.command(&named)).expect(exit::USAGE).tells(&["another scenario"]);

    let resumed = finished(&mut place.command(&["capacity", "mine.toml", "--resume", "--format", "json"]));
    let resumed = resumed.expect(exit::DONE).tells(&["points there already"]);
    let resumed: Capacity = serde_json::from_str(&resumed.stdout).unwrap();
    let after = points(&place.only_run_of("mine"));
    assert!(before.iter().all(|(name, content)| after.get(name) == Some(content)), "points are as they were");
    assert_eq!(after.len(), 12);
    assert!(resumed.complete);
    assert_eq!(table(&resumed), table(&whole));
    let order = |capacity: &Capacity| capacity.points.iter().map(|point| point.cell).collect::<Vec<_>>();
    assert_eq!(order(&resumed), order(&whole));
    place.assert_nothing_left();
}

#[test]
fn an_interrupted_sweep_keeps_its_points_and_says_how_to_go_on() {
    let place = Place::with_servers();
    place.write("mine.toml", TINY);
    let endless = ["capacity", "mine.toml", "--set", "sweep.repeats=100"];
    let mut running = Running::start(&mut place.command(&endless));
    running.wait_for("repeat 1:");
    running.signal(Signal::SIGINT);
    let done = running.finish().expect(exit::INTERRUPTED).tells(&["interrupted", "--resume"]);
    assert!(done.stdout.contains("Incomplete sweep: interrupted"), "{}", done.stdout);
    let run = place.only_run_of("mine");
    let capacity = stored(&run);
    assert!(run.to_string_lossy().ends_with(".partial") && !capacity.complete && !capacity.points.is_empty());
    assert_eq!(points(&run).len(), capacity.points.len());
    place.assert_nothing_left();
}

#[test]
fn an_interruption_before_the_first_point_leaves_nothing() {
    let place = Place::with_servers();
    place.write("mine.toml", TINY);
    let mut running = Running::start(&mut place.command(&["capacity", "mine.toml"]));
    running.wait_for("starting ZooKeeper");
    running.signal(Signal::SIGINT);
    let done = running.finish().expect(exit::INTERRUPTED);
    assert_eq!(done.stdout, "");
    place.assert_no_results();
    place.assert_nothing_left();
}

#[test]
fn a_search_closes_in_on_what_it_measured() {
    let place = Place::with_servers();
    // Notifications are exact: N(N − 1)/2 of them, so that 8 workers keep the limit and 9 do not.
    let text = TINY
        .replace("acquire_ms.p99 < 60000", "notifications.client <= 30")
        .replace("\n[[arm]]\nrecipe = \"lock/sequential\"", "");
    place.write("mine.toml", &text);
    let done = finished(&mut place.command(&["capacity", "mine.toml", "--search"])).expect(exit::DONE);
    let first = done.stdout.lines().next().unwrap();
    assert_eq!(first, "lock/naive: 8 workers (8–9), notifications.client <= 30 breaks first");
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_swept_is_refused() {
    let place = Place::without_servers();
    let refused = |text: &str, arguments: &[&str], words: &[&str]| {
        place.write("mine.toml", text);
        finished(&mut place.command(&[&["capacity", "mine.toml"], arguments].concat()))
            .expect(exit::USAGE)
            .tells(words);
    };
    let without = TINY.replace("[sweep]\nworkers = [3, 6, 12]\nrepeats = 2\nstop_beyond = 1000\n", "");
    refused(&without.replace("mode =", "count = 5\nmode ="), &[], &["mine.toml has no [sweep]"]);
    refused(&TINY.replace("workers = [3, 6, 12]\n", ""), &[], &["the sweep varies nothing", "mine.toml:15"]);
    refused(&TINY.replace("[3, 6, 12]", "[3, 0, 12]"), &[], &["with workers at 0", "mine.toml:16", "at least 1"]);
    refused(&TINY.replace("[3, 6, 12]", "[3, 6, 6]"), &[], &["6 stands in it twice", "mine.toml:16"]);
    refused(&TINY.replace("[3, 6, 12]\n", "[3]\nnodes = [1]\nlocks = [1]\n"), &[], &["varies 3 things at once"]);
    refused(
        &TINY.replace("[3, 6, 12]\n", "[3]\nnodes = [1, 2]\n"),
        &[],
        &["with workers at 3 and nodes at 2", "mine.toml:17"],
    );
    refused(&TINY.replace("[3, 6, 12]\n", "[3, 6]\nlocks = [1, 5]\n"), &[], &["with workers at 3 and locks at 5"]);
    refused(&TINY.replace("< 60000", "< 60s"), &[], &["no number", "mine.toml:20"]);
    refused(&TINY.replace("acquire_ms.p99 <", "nobody: acquire_ms.p99 <"), &[], &["there is no arm `nobody`"]);
    refused(&TINY.replace("acquire_ms.p99 < 60000", ""), &["--search"], &["write"]);
    refused(&TINY.replace("repeats = 2", "repeats = 0"), &[], &["`repeats` is 0", "mine.toml:17"]);
    refused(TINY, &["--resume"], &["no interrupted sweep"]);
    refused(TINY, &["--resume", "nowhere"], &["nowhere"]);
    place.assert_no_results();

    place.write("mine.toml", TINY);
    for command in [&["run", "mine.toml"][..], &["gate", "mine.toml", "--against", "seed=2"]] {
        finished(&mut place.command(command)).expect(exit::USAGE).tells(&["mine sweeps", "bench-runner capacity"]);
    }
    let told = finished(&mut place.command(&["check", "mine.toml"])).expect(exit::DONE).stdout;
    assert!(told.contains("sweep") && told.contains("workers 3 6 12"), "{told}");
    place.assert_no_results();
}
