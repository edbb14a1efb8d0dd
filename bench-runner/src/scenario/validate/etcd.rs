//! The etcd servers under test.

use std::time::Duration;

use super::super::duration::Span;
use super::super::ensemble::EtcdFile;
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::ensemble::{base_port, whole_millis};
use super::whole_number;

/// The shortest and the longest heartbeat. Below, servers lose each other on a busy machine; above, with the five
/// heartbeats that an election timeout has at the least, none of a useful length is left.
const HEARTBEATS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(5));

/// Heartbeats that etcd itself demands in an election timeout.
const HEARTBEATS_IN_ELECTION: u32 = 5;

/// The longest election timeout that etcd itself takes.
const LONGEST_ELECTION: Duration = Duration::from_secs(50);

/// Judges `[ensemble.etcd]`.
pub fn validate(etcd: &EtcdFile, nodes: u32, path: &KeyPath, problems: &mut Problems) {
    let (heartbeat_at, election_at) = (path.key("heartbeat_interval"), path.key("election_timeout"));
    length("heartbeat_interval", etcd.heartbeat_interval, HEARTBEATS, &heartbeat_at, problems);
    let least = etcd.heartbeat_interval.0 * HEARTBEATS_IN_ELECTION;
    let election = etcd.election_timeout;
    if election.0 < least {
        let problem = Problem::value(
            &election_at,
            format!(
                "`election_timeout` is {election}, and etcd wants at least {HEARTBEATS_IN_ELECTION} heartbeats: {}",
                Span(least)
            ),
        )
        .remedy(format!("write \"{}\" here, or a shorter `heartbeat_interval`", Span(least)))
        .related(&heartbeat_at, "the heartbeat");
        problems.add(&[&election_at, &heartbeat_at], problem);
    } else {
        length("election_timeout", election, (Duration::ZERO, LONGEST_ELECTION), &election_at, problems);
    }
    let remedy = "2048, etcd's own default, is far more than locks need";
    whole_number(&path.key("quota_mib"), etcd.quota_mib, 16, 65_536, remedy, problems);
    let remedy = "leave it out for no snapshot within a run";
    whole_number(&path.key("snapshot_count"), etcd.snapshot_count, 1, u32::MAX, remedy, problems);
    if let Some(port) = etcd.base_port {
        base_port(port, nodes, 2, &path.key("base_port"), problems);
    }
}

/// A length of time that the servers can express.
fn length(name: &str, length: Span, (least, most): (Duration, Duration), path: &KeyPath, problems: &mut Problems) {
    let problem = if !(least..=most).contains(&length.0) {
        let range = match least {
            Duration::ZERO => format!("at most {}", Span(most)),
            least => format!("{} to {}", Span(least), Span(most)),
        };
        Problem::value(path, format!("`{name}` is {length}, and must be {range}")).remedy("leave it out for etcd's own")
    } else if !whole_millis(length.0) {
        Problem::value(path, format!("`{name}` is {length}, and the server counts whole milliseconds"))
            .remedy(format!("write \"{}ms\"", length.0.as_millis()))
    } else {
        return;
    };
    problems.spoil(path, problem);
}
