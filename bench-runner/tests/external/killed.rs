//! `kill -9`: what a run has left is found by the next one, or by `clean`, and nothing else is touched.
use bench_runner::exit;
use nix::sys::signal::Signal;
use workloads::claim::{Claim, Deed};
use workloads::fleet::Target;
use workloads::settings::Service;

use crate::place::Place;
use crate::process::eventually;
use crate::running::{Running, finished};
use crate::{block_on, on_etcd, on_zookeeper, servers, tree};

/// Takes a root for somebody else, who dies at once.
fn somebody_elses(service: Service, endpoint: &str, run: &str) -> String {
    let root = format!("/bench-runner/{run}");
    let target = Target { service, endpoints: endpoint.to_owned(), root: root.clone(), access: Default::default() };
    let deed = Deed { owner: "somebody@else".to_owned(), process: "1 1 another".to_owned() };
    block_on(async {
        let claim = Claim::take(&target, std::time::Duration::from_secs(5), &deed).await.unwrap();
        drop(claim);
        // Its session is closed in the background.
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    });
    root
}

/// Starts a run and kills it in the middle.
fn kill_one(place: &Place, is_there: &dyn Fn() -> bool) {
    let run = ["run", "theirs.toml", "--allow-external", "--set", "trials.duration=10m"];
    let running = Running::start(&mut place.command(&run));
    eventually("workers contend", is_there);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code, None);
}

#[test]
fn what_a_killed_run_has_left_on_zookeeper_is_removed_by_the_next() {
    let place = Place::with_servers();
    let server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    let others = somebody_elses(Service::Zookeeper, &server.endpoint(), "of-somebody-else");
    let before = tree::of_zookeeper(&server);
    assert!(before.contains_key(&others));
    place.write("theirs.toml", &on_zookeeper("", &[server.endpoint()]));
    let is_there = || tree::of_zookeeper(&server).keys().any(|path| path.ends_with("/lock-0/lock"));
    kill_one(&place, &is_there);
    assert_ne!(tree::of_zookeeper(&server), before);
    // At once: its sessions have not even timed out.
    let done = finished(&mut place.command(&["run", "theirs.toml", "--allow-external"])).expect(exit::DONE);
    assert!(done.stderr.contains("which a killed run has left"), "{}", done.stderr);
    assert_eq!(tree::of_zookeeper(&server), before);

    kill_one(&place, &is_there);
    let clean = |more: &[&str]| {
        finished(&mut place.command(&[&["clean", "theirs.toml", "--allow-external"], more].concat()))
            .expect(exit::DONE)
            .stdout
    };
    assert!(clean(&["--dry-run"]).contains("would be removed"));
    assert_ne!(tree::of_zookeeper(&server), before);
    let told = clean(&[]);
    assert!(told.contains("removed /bench-runner/") && told.contains("which is of somebody@else"), "{told}");
    assert_eq!(tree::of_zookeeper(&server), before);
    // By name it is removed too, and with the last root the parent.
    clean(&["--owner", "somebody@else"]);
    assert!(tree::of_zookeeper(&server).keys().all(|path| path == "/"));
}

#[test]
fn what_a_killed_run_has_left_in_etcd_is_removed_by_the_next() {
    let place = Place::with_servers();
    let server = servers::etcd(&place, "etcd", None);
    somebody_elses(Service::Etcd, &server.endpoint(), "of-somebody-else");
    let before = tree::of_etcd(&server);
    place.write("theirs.toml", &on_etcd("", &[server.endpoint()]));
    kill_one(&place, &|| tree::of_etcd(&server).contains("/lock-0"));
    assert_ne!(tree::of_etcd(&server), before);
    let done = finished(&mut place.command(&["run", "theirs.toml", "--allow-external"])).expect(exit::DONE);
    assert!(done.stderr.contains("which a killed run has left"), "{}", done.stderr);
    assert_eq!(tree::of_etcd(&server), before);
    let clean = ["clean", "theirs.toml", "--allow-external", "--owner", "somebody@else"];
    finished(&mut place.command(&clean)).expect(exit::DONE);
    assert_eq!(tree::of_etcd(&server), "");
}
