//! Ensembles that cannot be started: exit code 3, what to install or set, and nothing left behind.

use std::fs;
use std::net::TcpListener;

use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::{Place, SMALL};
use crate::running::{Running, Server, finished};

#[test]
fn what_is_not_installed_is_told_with_the_remedy() {
    let place = Place::without_servers();
    place.write("mine.toml", SMALL);
    fs::create_dir(place.path("empty")).unwrap();
    let empty = place.path("empty");
    for (variable, missing) in [
        ("ZOOKEEPER_HOME", "ZOOKEEPER_HOME, or `home` in the scenario, is"),
        ("JAVA_HOME", "JAVA_HOME is"),
        ("PATH", "Java is not installed"),
    ] {
        let mut command = place.command(&["run", "mine.toml"]);
        if variable == "PATH" {
            command.env_remove("JAVA_HOME");
        }
        finished(command.env(variable, &empty)).expect(exit::ENSEMBLE).tells(&[
            missing,
            "scripts/setup",
            "default-jre-headless",
        ]);
        place.assert_no_results();
    }
    // What the scenario names comes before what the environment does.
    for (key, service) in [("zookeeper.home", "zookeeper"), ("etcd.program", "etcd")] {
        let (server, service) = (format!("ensemble.{key}={}", empty.display()), format!("service={service}"));
        let mut command = place.command(&["run", "mine.toml", "--set", &server, "--set", &service]);
        finished(&mut command).expect(exit::ENSEMBLE).tells(&["in the scenario, is", "empty"]);
        place.assert_no_results();
    }
    place.assert_nothing_left();
}

#[test]
fn a_port_that_is_taken_is_told_with_its_holder() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let set = format!("ensemble.zookeeper.base_port={port}");
    let holder = format!("process {} (", std::process::id());
    finished(&mut place.command(&["run", "mine.toml", "--set", &set])).expect(exit::ENSEMBLE).tells(&[
        &format!("port {port} of 127.0.0.1 is taken"),
        &holder,
        "choose another base port",
    ]);
    place.assert_no_results();
    place.assert_nothing_left();
}

#[test]
fn a_temporary_folder_without_room_is_told() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut command = place.command(&["run", "mine.toml"]);
    finished(command.env("TMPDIR", place.path("not-there"))).expect(exit::ENSEMBLE).tells(&["not-there", "TMPDIR"]);
    place.assert_no_results();
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_log() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let set = "ensemble.zookeeper.jvm_flags=[\"-XX:NoSuchFlag\"]";
    finished(&mut place.command(&["run", "mine.toml", "--set", set])).expect(exit::ENSEMBLE).tells(&[
        "zookeeper-1 did not start",
        "its log ends with",
        "NoSuchFlag",
    ]);
    place.assert_no_results();
    place.assert_nothing_left();
}

#[test]
fn a_server_that_is_killed_while_it_starts_is_told() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let running = Running::start(&mut place.command(&["run", "mine.toml", "--set", "ensemble.nodes=3"]));
    let server = Server::wait_for(&place, "zookeeper-2");
    crate::process::signal(server.pid, Signal::SIGKILL).unwrap();
    running.finish().expect(exit::ENSEMBLE).tells(&["zookeeper-2 ", "was killed by SIGKILL"]);
    place.assert_no_results();
    place.assert_nothing_left();
}
