//! Nodes that are killed and paused on purpose, on both services.

use std::process::Command;
use std::time::Instant;

use bench_runner::ensemble::{EtcdSettings, NodeState};
use zookeeper_client::{Acls, Client, CreateMode};

use super::*;

fn etcd() -> EtcdSettings {
    EtcdSettings { nodes: 3, ..EtcdSettings::default() }
}

/// Waits until `condition` holds.
async fn soon(what: &str, condition: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !condition().await {
        assert!(begun.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The place of the node that leads now.
async fn leader(ensemble: &Ensemble) -> usize {
    let roles = ensemble.roles().await;
    roles.iter().position(|role| *role == Role::Leader).unwrap_or_else(|| panic!("nobody leads: {roles:?}"))
}

/// Waits until somebody else leads.
async fn another_leads(ensemble: &Ensemble, than: usize) {
    soon("another node leads", async || {
        let roles = ensemble.roles().await;
        roles.iter().enumerate().any(|(node, role)| node != than && *role == Role::Leader)
    })
    .await;
}

fn is_refused(outcome: Result<(), EnsembleError>, with: &str) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, EnsembleError::Fault { .. }), "{error}");
    assert!(error.to_string().contains(with), "{error}");
}

/// Kills the leader, sees that the others go on without it, and starts it again.
async fn the_leader_dies_and_comes_back(ensemble: &Ensemble) {
    let victim = leader(ensemble).await;
    let (pid, folder) = (ensemble.nodes()[victim].pid(), folder_of(&ensemble.nodes()[victim]));
    let (counters, usage) = (ensemble.counters().await.unwrap(), ensemble.usage());
    is_refused(ensemble.start_node(victim).await, "could not be started again: it was not killed");

    ensemble.kill_node(victim).await.unwrap();
    assert!(!runs(pid) && folder.is_dir());
    ensemble.check_alive().unwrap();
    assert_eq!(ensemble.states().iter().filter(|state| **state == NodeState::Killed).count(), 1);
    assert_eq!(ensemble.roles().await[victim], Role::Out);
    let error = ensemble.counters().await.unwrap_err();
    assert!(
        error.to_string().contains(&format!("{} was killed on purpose", ensemble.nodes()[victim].name())),
        "{error}"
    );
    is_refused(ensemble.kill_node(victim).await, "down already");
    is_refused(ensemble.pause_node(victim).await, "down already");
    is_refused(ensemble.resume_node(victim).await, "not paused");
    another_leads(ensemble, victim).await;
    let sample = ensemble.sample().await;
    assert!(sample.watches().is_some() && sample.sessions.is_some(), "{sample:?}");
    let dead = &sample.nodes[victim];
    assert_eq!((dead.state, dead.rss_bytes, dead.connections), (NodeState::Killed, Some(0), Some(0)));
    assert!(dead.cpu_seconds >= usage[victim].cpu_seconds && dead.cpu_seconds > Some(0.0), "{dead:?}");

    ensemble.start_node(victim).await.unwrap();
    assert_ne!(ensemble.nodes()[victim].pid(), pid);
    assert_eq!(folder_of(&ensemble.nodes()[victim]), folder);
    ensemble.wait_until_whole(PATIENCE).await.unwrap();
    assert_eq!(ensemble.states(), [NodeState::Up; 3]);
    let after = ensemble.counters().await.unwrap();
    assert_eq!((after.lives, after.since(&counters)), (counters.lives + 1, None));
    let both_lives = &ensemble.usage()[victim];
    assert!(both_lives.cpu_seconds >= dead.cpu_seconds, "{both_lives:?} {dead:?}");
    assert!(both_lives.peak_rss_bytes >= usage[victim].peak_rss_bytes, "{both_lives:?} {usage:?}");
}

/// Pauses the leader and lets it go on; then once more, and kills it meanwhile.
async fn the_leader_is_paused(ensemble: &Ensemble) {
    let before = ensemble.counters().await.unwrap();
    let victim = leader(ensemble).await;
    is_refused(ensemble.resume_node(victim).await, "not paused");
    ensemble.pause_node(victim).await.unwrap();
    let pid = ensemble.nodes()[victim].pid();
    let state = || procfs::process::Process::new(pid.cast_signed()).unwrap().stat().unwrap().state;
    eventually("the process stands still", || state() == 'T');
    ensemble.check_alive().unwrap();
    is_refused(ensemble.pause_node(victim).await, "down already");
    is_refused(ensemble.start_node(victim).await, "not killed");
    assert_eq!(ensemble.roles().await[victim], Role::Out);
    assert!(matches!(ensemble.counters().await, Err(EnsembleError::Down { state: NodeState::Paused, .. })));
    another_leads(ensemble, victim).await;
    let sample = ensemble.sample().await;
    assert_eq!((sample.nodes[victim].state, sample.nodes[victim].watches), (NodeState::Paused, None));
    assert!(sample.nodes[victim].rss_bytes > Some(0) && sample.sessions.is_some(), "{sample:?}");
    let not_whole = ensemble.wait_until_whole(Duration::ZERO).await.unwrap_err();
    assert!(matches!(not_whole, EnsembleError::NotReady { .. }), "{not_whole}");

    ensemble.resume_node(victim).await.unwrap();
    ensemble.wait_until_whole(PATIENCE).await.unwrap();
    assert_eq!(ensemble.nodes()[victim].pid(), pid);
    let after = ensemble.counters().await.unwrap();
    assert!(after.since(&before).is_some(), "{before:?} {after:?}");

    ensemble.pause_node(victim).await.unwrap();
    ensemble.kill_node(victim).await.unwrap();
    assert!(!runs(pid));
    ensemble.start_node(victim).await.unwrap();
    ensemble.wait_until_whole(PATIENCE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zookeeper_leader_is_killed_and_paused_and_its_data_stay() {
    let ensemble = start(&settings(3)).await.unwrap();
    let traces = Traces::of(&ensemble);
    let kept = Client::connect(&ensemble.connect_string()).await.unwrap();
    kept.create("/kept", b"", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await.unwrap();
    the_leader_dies_and_comes_back(&ensemble).await;
    the_leader_is_paused(&ensemble).await;
    for node in ensemble.nodes() {
        let client = Client::connect(&node.endpoint().to_string()).await.unwrap();
        assert!(client.check_stat("/kept").await.unwrap().is_some(), "{}", node.name());
    }
    ensemble.stop().await.unwrap();
    assert!(traces.gone(), "{traces:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_leader_is_killed_and_paused_and_its_data_stay() {
    let ensemble = start_any(etcd()).await.unwrap();
    let traces = Traces::of(&ensemble);
    let etcdctl = |arguments: &[&str]| {
        let mut command = Command::new("etcdctl");
        command.env("ETCDCTL_API", "3").args(["--endpoints", &ensemble.connect_string()]).args(arguments);
        let output = command.output().expect("etcdctl is installed");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    etcdctl(&["lease", "grant", "3600"]);
    etcdctl(&["put", "/kept", "here"]);
    the_leader_dies_and_comes_back(&ensemble).await;
    the_leader_is_paused(&ensemble).await;
    // Also when no node is left whose counters know of the lease.
    for node in 0..3 {
        ensemble.kill_node(node).await.unwrap();
        ensemble.start_node(node).await.unwrap();
        ensemble.wait_until_whole(PATIENCE).await.unwrap();
    }
    assert_eq!(ensemble.counters().await.unwrap().sessions, 1);
    assert!(etcdctl(&["get", "/kept"]).contains("here"));
    ensemble.stop().await.unwrap();
    assert!(traces.gone(), "{traces:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_started_again_can_be_lost() {
    let ensemble = start(&settings(1)).await.unwrap();
    ensemble.kill_node(0).await.unwrap();
    let first = ensemble.usage().remove(0);
    ensemble.start_node(0).await.unwrap();
    // The next life has cost next to nothing yet.
    let both = ensemble.usage().remove(0);
    assert!(both.cpu_seconds >= first.cpu_seconds && first.cpu_seconds > Some(0.0), "{both:?} {first:?}");
    assert!(both.peak_rss_bytes >= first.peak_rss_bytes && first.peak_rss_bytes > Some(0), "{both:?} {first:?}");
    ensemble.wait_until_whole(PATIENCE).await.unwrap();
    assert!(ensemble.usage()[0].cpu_seconds > both.cpu_seconds);
    kill(ensemble.nodes()[0].pid());
    eventually("the loss is noticed", || ensemble.check_alive().is_err());
    assert!(matches!(ensemble.wait_until_whole(PATIENCE).await, Err(EnsembleError::Lost { .. })));
    is_refused(ensemble.kill_node(0).await, "it was killed by SIGKILL before");
    is_refused(ensemble.pause_node(0).await, "it was killed by SIGKILL");
    is_refused(ensemble.kill_node(1).await, "node 1 could not be killed: there are 1, counted from 0");
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ensemble_that_is_dropped_with_broken_nodes_leaves_nothing() {
    let ensemble = start(&settings(3)).await.unwrap();
    let traces = Traces::of(&ensemble);
    ensemble.kill_node(0).await.unwrap();
    ensemble.pause_node(1).await.unwrap();
    drop(ensemble);
    assert!(traces.gone(), "{traces:?}");
}

#[test]
fn a_runner_that_is_killed_while_nodes_are_broken_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (mut holder, traces) = spawn_holder(3, true, place.path());
    // All but the server that it has killed.
    assert_eq!(traces.pids.iter().filter(|pid| runs(**pid)).count(), 5);
    kill(holder.id());
    eventually("all of it is gone", || traces.gone());
    holder.wait().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
