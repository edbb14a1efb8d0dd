//! A run that is interrupted, at whatever phase, leaves the servers' tree as it was.
use bench_runner::exit;
use nix::sys::signal::Signal;

use crate::place::Place;
use crate::process::eventually;
use crate::running::Running;
use crate::servers::{self, Server};
use crate::{on_etcd, on_zookeeper, tree};

/// A phase: what makes it long, and what stderr tells, or what there is on the servers, when it has come.
struct Phase {
    name: &'static str,
    set: &'static [&'static str],
    told: &'static str,
    /// Part of a path that is there by then.
    there: &'static str,
    signal: Signal,
}

const PHASES: [Phase; 5] = [
    Phase {
        name: "connecting",
        set: &[
            "workers.count=900",
            "workers.session_timeout=20s",
            "workers.connect_concurrency=1",
            "ensemble.max_rate=450",
        ],
        told: "trial 1 of 1",
        there: "/alive",
        signal: Signal::SIGINT,
    },
    Phase {
        name: "warm-up",
        set: &["trials.warmup=10m"],
        told: "warm-up 1 of 1",
        there: "/lock-0/",
        signal: Signal::SIGTERM,
    },
    Phase {
        name: "measuring",
        set: &["trials.duration=10m", "arm.0.recipe=lock/sequential"],
        told: "trial 1 of 1",
        there: "/lock-0/",
        signal: Signal::SIGINT,
    },
    Phase {
        name: "between trials",
        set: &["trials.count=1000", "trials.duration=50ms"],
        told: "trial 2 of 1000",
        there: "/alive",
        signal: Signal::SIGINT,
    },
    Phase {
        name: "drain",
        set: &["workers.mode=drain", "workers.hold=10m", "trials.limit=1h"],
        told: "trial 1 of 1",
        there: "/lock-0/",
        signal: Signal::SIGTERM,
    },
];

fn interrupt_at(phase: &Phase, place: &Place, is_there: &dyn Fn() -> bool) {
    let set = phase.set.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["run", "theirs.toml", "--allow-external"].into_iter().chain(set).collect();
    let mut running = Running::start(&mut place.command(&arguments));
    running.wait_for(phase.told);
    eventually(&format!("{}: `{}` is there", phase.name, phase.there), is_there);
    running.signal(phase.signal);
    let done = running.finish().expect(exit::INTERRUPTED);
    assert!(!done.stderr.contains("still there"), "{}: {}", phase.name, done.stderr);
}

#[test]
fn zookeeper_is_left_as_it_was() {
    let place = Place::with_servers();
    let server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    tree::furnish_zookeeper(&server);
    let before = tree::of_zookeeper(&server);
    place.write("theirs.toml", &on_zookeeper("", &[server.endpoint()]));
    for phase in &PHASES {
        let is_there = || tree::of_zookeeper(&server).keys().any(|path| path.contains(phase.there));
        interrupt_at(phase, &place, &is_there);
        assert_eq!(tree::of_zookeeper(&server), before, "{}", phase.name);
    }
}

#[test]
fn etcd_is_left_as_it_was() {
    let place = Place::with_servers();
    let server = servers::etcd(&place, "etcd", None);
    tree::furnish_etcd(&server);
    let before = tree::of_etcd(&server);
    place.write("theirs.toml", &on_etcd("", &[server.endpoint()]));
    for phase in &PHASES {
        // A queue's entry has its lease at the end, and the naive lock's key has nothing after `lock-0`.
        let there = phase.there.trim_end_matches('/');
        interrupt_at(phase, &place, &|| tree::of_etcd(&server).contains(there));
        assert_eq!(tree::of_etcd(&server), before, "{}", phase.name);
    }
}

/// What was made for us by somebody else stays, also where a run ends as planned.
#[test]
fn a_parent_that_was_there_before_stays() {
    let place = Place::with_servers();
    let server: Server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    crate::block_on(async {
        use workloads::zookeeper::session::{CreateMode, Session};
        let client = tree::session(&server).await;
        client.create("/bench-runner", CreateMode::Persistent, b"for the tests of the platform team").await.unwrap();
    });
    let before = tree::of_zookeeper(&server);
    place.write("theirs.toml", &on_zookeeper("", &[server.endpoint()]));
    let mut command = place.command(&["run", "theirs.toml", "--allow-external"]);
    crate::running::finished(&mut command).expect(exit::DONE);
    assert_eq!(tree::of_zookeeper(&server), before);
}
