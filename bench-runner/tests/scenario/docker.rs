//! `provider = "docker"`: what is valid, and every mistake as its author sees it.

use std::time::Duration;

use bench_runner::scenario::{FaultKind, NodeFault, NodeTarget};

use super::errors::complaints;
use super::valid;

/// A scenario around some lines of `[ensemble]` and of a fault.
fn scenario(ensemble: &str, fault: &str) -> String {
    let arm = "[[arm]]\nrecipe = \"lock/naive\"\nworkers = { count = 50 }\n";
    format!("version = 1\ntrials = {{ duration = \"30s\" }}\n[ensemble]\n{ensemble}\n{arm}\n{fault}\n")
}

const DISCONNECT: &str = "[[fault]]\nkind = \"disconnect-node\"\ntarget = \"leader\"\nat = \"5s\"\nfor = \"10s\"";

#[test]
fn containers_have_images_and_limits() {
    let plain = valid(&scenario("provider = \"docker\"", ""), &[]).ensemble.docker.unwrap();
    assert_eq!(
        (plain.zookeeper_image.as_str(), plain.etcd_image.as_str()),
        ("bench-runner/zookeeper", "bench-runner/etcd")
    );
    assert_eq!((plain.memory, plain.cpus), (None, None));
    let overrides =
        ["ensemble.docker.zookeeper_image=zookeeper:3.9", "ensemble.docker.memory=1g", "ensemble.docker.cpus=1.5"];
    let set = valid(&scenario("provider = \"docker\"", ""), &overrides).ensemble.docker.unwrap();
    assert_eq!(
        (set.zookeeper_image.as_str(), set.memory.as_deref(), set.cpus),
        ("zookeeper:3.9", Some("1g"), Some(1.5))
    );
    assert_eq!(valid(&scenario("", ""), &[]).ensemble.docker, None);
}

#[test]
fn a_node_in_a_container_can_be_disconnected() {
    let scenario = valid(&scenario("provider = \"docker\"", DISCONNECT), &[]);
    let fault = NodeFault::Disconnect { length: Some(Duration::from_secs(10)) };
    let kind = scenario.faults[0].kind;
    assert_eq!(kind, FaultKind::Node { fault, target: NodeTarget::Leader });
    assert_eq!((kind.name(), kind.length(), kind.heals()), ("disconnect-node", Some(Duration::from_secs(10)), true));
}

#[test]
fn what_containers_do_not_have() {
    let shown = complaints(&[
        scenario("", DISCONNECT),
        scenario("provider = \"external\"\nzookeeper = { endpoints = [\"a:1\", \"b:1\", \"c:1\"] }", DISCONNECT),
        scenario("provider = \"docker\"\nnodes = 1", DISCONNECT),
        scenario("docker = { memory = \"1g\" }", ""),
        scenario(
            "provider = \"docker\"\ndocker = { memory = \"lots\", cpus = 0, zookeeper_image = \"-v\", etcd_image = \"\" }",
            "",
        ),
        scenario(
            "provider = \"docker\"\nzookeeper = { home = \"/opt/zookeeper\" }\netcd = { program = \"/opt/etcd\" }",
            "",
        ),
        scenario("provider = \"docker\"\ndocker = { memroy = \"1g\" }", ""),
    ]);
    insta::assert_snapshot!(shown);
}
