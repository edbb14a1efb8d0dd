//! A sweep over servers that are not bench-runner's own: what it would do, what it finds, and that nothing of it stays.
use std::fs;

use bench_runner::capacity::Capacity;
use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::Place;
use crate::process::eventually;
use crate::running::{Running, finished};
use crate::{on_etcd, on_zookeeper, servers, tree};

const SWEEP: &str =
    "\n[sweep]\nworkers = [3, 6, 12]\nrepeats = 2\nstop_beyond = 1000\n[slo]\nlimits = [\"acquire_ms.p99 < 60000\"]\n";
/// With sessions that the servers, whose ticks are of 500 ms, do not grant.
const DRAINS: [&str; 4] = ["--set", "workers.mode=drain", "--set", "workers.session_timeout=12s"];
const ALLOWED: [&str; 3] = ["capacity", "theirs.toml", "--allow-external"];

/// The only sweep there is, as it is stored.
fn stored(place: &Place) -> Capacity {
    serde_json::from_str(&fs::read_to_string(place.only_run_of("theirs").join("capacity.json")).unwrap()).unwrap()
}

#[test]
fn it_is_refused_unless_it_is_allowed_and_tells_the_hardest_of_its_points() {
    let place = Place::without_servers();
    let nowhere = ["127.0.0.1:1".to_owned()];
    place.write("theirs.toml", &(on_zookeeper("max_workers = 12", &nowhere) + SWEEP));
    let words = ["--allow-external", "127.0.0.1:1", "12 at once (max_workers = 12)", "at most 5000 a second"];
    finished(&mut place.command(&["capacity", "theirs.toml"])).expect(exit::USAGE).tells(&words);
    let told = finished(&mut place.command(&["capacity", "theirs.toml", "--dry-run"])).expect(exit::DONE).stdout;
    assert!(told.contains("workers 3 6 12") && words[1..].iter().all(|word| told.contains(word)), "{told}");
    let ceiling = ["--set", "ensemble.max_workers=11"];
    let told = finished(&mut place.command(&[&ALLOWED[..], &ceiling].concat())).expect(exit::USAGE);
    told.tells(&["workers at 12", "above the ceiling of 11"]);
    place.assert_no_results();
}

/// Interrupted, killed, and gone on with to its end: the servers are as they were, the points are all there, and their counts
/// are those that are known.
#[test]
fn whatever_becomes_of_it_the_servers_are_left_as_they_were() {
    let place = Place::with_servers();
    let server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    tree::furnish_zookeeper(&server);
    let before = tree::of_zookeeper(&server);
    place.write("theirs.toml", &(on_zookeeper("", &[server.endpoint()]) + SWEEP));
    let sweep = [&ALLOWED[..], &DRAINS].concat();
    let go_on = [&sweep[..], &["--resume"]].concat();

    let mut running = Running::start(&mut place.command(&sweep));
    running.wait_for("repeat 1:");
    running.signal(Signal::SIGINT);
    let done = running.finish().expect(exit::INTERRUPTED).tells(&["interrupted", "--resume"]);
    assert!(!done.stderr.contains("still there"), "{}", done.stderr);
    assert_eq!(tree::of_zookeeper(&server), before);
    let interrupted = stored(&place).points.len();

    let mut running = Running::start(&mut place.command(&go_on));
    running.wait_for("repeat 1:");
    eventually("its root is there", || tree::of_zookeeper(&server) != before);
    running.signal(Signal::SIGKILL);
    running.finish();

    let done = finished(&mut place.command(&go_on)).expect(exit::DONE);
    done.tells(&["points there already", "which a killed run has left"]);
    assert_eq!(tree::of_zookeeper(&server), before);
    let capacity = stored(&place);
    assert!(capacity.complete && capacity.points.len() == 6 && interrupted < 6, "{capacity:?}");
    for point in &capacity.points {
        // A drain of N costs N(N − 1)/2 notifications with the naive lock.
        assert_eq!(point.figure("notifications.per_grant"), Some((point.cell.x - 1.0) / 2.0), "{point:?}");
        assert_eq!((point.nodes, point.held_back), (1, 0));
        assert_eq!(point.figure("nodes_cpu_percent"), None);
    }
    for words in ["not bench-runner's own", "granted session timeouts of 10 s where 12 s"] {
        assert!(capacity.warnings.iter().any(|warning| warning.text.contains(words)), "{:?}", capacity.warnings);
    }
}

#[test]
fn points_that_the_ceiling_held_back_are_marked() {
    let place = Place::with_servers();
    let server = servers::etcd(&place, "etcd", None);
    tree::furnish_etcd(&server);
    let before = tree::of_etcd(&server);
    place.write("theirs.toml", &(on_etcd("max_rate = 200", &[server.endpoint()]) + SWEEP));
    let few = ["--set", "sweep.workers=[3, 12]", "--set", "sweep.repeats=1", "--set", "workers.session_timeout=30s"];
    let done = finished(&mut place.command(&[&ALLOWED[..], &few].concat())).expect(exit::DONE);
    assert_eq!(tree::of_etcd(&server), before);
    let capacity = stored(&place);
    assert!(capacity.points.iter().all(|point| point.held_back > 0), "{capacity:?}");
    let told = "held requests back at 2 of 2 points";
    assert!(done.stdout.contains(told), "{}", done.stdout);
    let page = fs::read_to_string(place.only_run_of("theirs").join("report.html")).unwrap();
    assert!(page.contains(told) && page.contains("held back by the ceiling"));
}
