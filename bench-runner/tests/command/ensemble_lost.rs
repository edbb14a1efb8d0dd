//! Servers that die in the middle of a run: exit code 3, which node, how, and the end of its log.

use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::{Place, SMALL};
use crate::process;
use crate::running::{Running, Server};
use crate::written::assert_partial;

#[test]
fn a_node_that_dies_while_workers_contend_ends_the_run() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    // So many that some are surely with the node that is to die: each picks one at random.
    let set = ["--set", "ensemble.nodes=3", "--set", "workers.count=60", "--set", "trials.duration=10m"];
    let running = Running::start(&mut place.command(&[&["run", "mine.toml"], &set[..]].concat()));
    let node = Server::wait_for(&place, "zookeeper-3");
    node.wait_for_contention();
    process::signal(node.pid, Signal::SIGKILL).unwrap();
    let done = running.finish().expect(exit::ENSEMBLE).tells(&[
        "error: zookeeper-3 was lost: it was killed by SIGKILL",
        "run again",
        "its log ends with:\n  | ",
        ".partial, marked as incomplete",
    ]);
    assert!(done.stdout.contains("Incomplete run"), "{}", done.stdout);
    assert!(!done.stdout.contains("4lw"), "nothing is wrong with the counters: {}", done.stdout);
    assert_partial(&place.only_run_of("mine"), "zookeeper-3 was lost");
    place.assert_nothing_left();
}

#[test]
fn a_node_that_dies_before_anything_was_measured_is_named_all_the_same() {
    // Twelve connections: a bystander is about to connect. Thirteen: it looks on, and the workers wait for the start.
    for (set, connections) in [("trials.warmup=10m", 12), ("trials.rest=10m", 12), ("trials.rest=10m", 13)] {
        let place = Place::with_servers();
        place.write("mine.toml", SMALL);
        let running = Running::start(&mut place.command(&["run", "mine.toml", "--set", set]));
        let node = Server::wait_for(&place, "zookeeper-1");
        process::eventually("the workers are connected", || {
            node.figure("zk_num_alive_connections").is_some_and(|now| now >= connections)
        });
        process::signal(node.pid, Signal::SIGKILL).unwrap();
        let done = running.finish().expect(exit::ENSEMBLE).tells(&["zookeeper-1 was lost", "its log ends with"]);
        assert_eq!(done.stdout, "");
        place.assert_no_results();
        place.assert_nothing_left();
    }
}

#[test]
fn a_node_that_dies_while_workers_connect_is_named() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let slowly = ["--set", "workers.count=4000", "--set", "workers.connect_concurrency=1"];
    let running = Running::start(&mut place.command(&[&["run", "mine.toml"], &slowly[..]].concat()));
    let node = Server::wait_for(&place, "zookeeper-1");
    process::eventually("some are connected", || {
        node.figure("zk_num_alive_connections").is_some_and(|connections| connections > 5)
    });
    process::signal(node.pid, Signal::SIGKILL).unwrap();
    running.finish().expect(exit::ENSEMBLE).tells(&["zookeeper-1 was lost: it was killed by SIGKILL"]);
    place.assert_no_results();
    place.assert_nothing_left();
}
