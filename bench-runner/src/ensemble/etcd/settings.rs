//! What a scenario may say about a local ensemble of etcd.
use std::time::Duration;

use crate::ensemble::error::EnsembleError;
use crate::ensemble::local::ports;

/// A local ensemble of etcd as it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct EtcdSettings {
    /// How many servers, 1 to 9. Even numbers work and tolerate no more losses than the odd number below.
    pub nodes: u32,
    /// `--heartbeat-interval`: how often the leader tells the others that it lives. Whole milliseconds, 10 ms to 5 s.
    pub heartbeat_interval: Duration,
    /// `--election-timeout`: how long a follower waits for the leader before it stands itself. Whole milliseconds, five
    /// heartbeats at the least and 50 s at the most, as etcd itself demands.
    pub election_timeout: Duration,
    /// `--quota-backend-bytes`: how large the database may become before the servers refuse writes. At least 16 MiB.
    pub quota_bytes: u64,
    /// `--snapshot-count`: how many transactions lie between two snapshots, at least 1.
    pub snapshot_count: u64,
    /// Whether a write is on disk before it is acknowledged. `false` needs etcd 3.5 or newer (`--unsafe-no-fsync`).
    pub fsync: bool,
    /// The first port. Client ports are `base_port` and the following, then one more for each node between the nodes.
    /// `None`: free ports are picked.
    pub base_port: Option<u16>,
}

impl Default for EtcdSettings {
    /// Three nodes with etcd's own defaults, but for a snapshot that no trial reaches.
    fn default() -> EtcdSettings {
        EtcdSettings {
            nodes: 3,
            heartbeat_interval: Duration::from_millis(100),
            election_timeout: Duration::from_secs(1),
            quota_bytes: 2 << 30,
            snapshot_count: 10_000_000,
            fsync: true,
            base_port: None,
        }
    }
}

/// The shortest lease that servers with these intervals grant, in seconds: whoever asks for less gets this. etcd takes
/// three halves of the election timeout, counted in heartbeats, and rounds up to whole seconds.
pub fn shortest_lease_seconds(heartbeat_interval: Duration, election_timeout: Duration) -> u64 {
    let heartbeat = heartbeat_interval.as_millis().max(1);
    let ticks = election_timeout.as_millis() / heartbeat;
    let floor_ms = 3 * ticks / 2 * heartbeat;
    u64::try_from(floor_ms.div_ceil(1000)).unwrap_or(u64::MAX).max(1)
}

impl EtcdSettings {
    /// Sees whether the settings can be met by any machine; needs nothing installed.
    ///
    /// Errors: [`EnsembleError::Settings`].
    pub fn check(&self) -> Result<(), EnsembleError> {
        let refuse = |what: String| Err(EnsembleError::Settings { what });
        if !(1..=9).contains(&self.nodes) {
            return refuse(format!("nodes is {}, possible are 1 to 9", self.nodes));
        }
        let (heartbeat, election) = (self.heartbeat_interval, self.election_timeout);
        if heartbeat < Duration::from_millis(10) || heartbeat > Duration::from_secs(5) {
            return refuse(format!("the heartbeat is {} ms, possible are 10 ms to 5 s", heartbeat.as_millis()));
        }
        if election < heartbeat * 5 || election > Duration::from_secs(50) {
            return refuse(format!(
                "the election timeout is {} ms, possible are five heartbeats ({} ms) to 50 s",
                election.as_millis(),
                (heartbeat * 5).as_millis()
            ));
        }
        if self.quota_bytes < 16 << 20 {
            return refuse(format!("the quota is {} bytes, possible are 16 MiB and more", self.quota_bytes));
        }
        if self.snapshot_count == 0 {
            return refuse("the snapshot count is 0, possible are 1 and more".into());
        }
        // The client's port and the peers' for each node.
        ports::check_base(self.base_port, self.nodes, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_possible() {
        EtcdSettings::default().check().unwrap();
    }

    #[test]
    fn what_is_impossible_is_named() {
        let base = EtcdSettings::default();
        let millis = Duration::from_millis;
        for (settings, word) in [
            (EtcdSettings { nodes: 0, ..base.clone() }, "nodes"),
            (EtcdSettings { heartbeat_interval: millis(1), ..base.clone() }, "heartbeat"),
            (EtcdSettings { election_timeout: millis(400), ..base.clone() }, "election"),
            (EtcdSettings { election_timeout: millis(51_000), ..base.clone() }, "election"),
            (EtcdSettings { quota_bytes: 1, ..base.clone() }, "quota"),
            (EtcdSettings { snapshot_count: 0, ..base.clone() }, "snapshot"),
            (EtcdSettings { base_port: Some(80), ..base.clone() }, "80"),
            (EtcdSettings { base_port: Some(65_531), ..base.clone() }, "65531"),
        ] {
            let text = settings.check().unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
        EtcdSettings { base_port: Some(65_530), ..base }.check().unwrap();
    }

    #[test]
    fn the_shortest_lease_is_three_halves_of_the_election_timeout() {
        let millis = Duration::from_millis;
        // The defaults: 2 s, whatever is asked for.
        assert_eq!(shortest_lease_seconds(millis(100), millis(1000)), 2);
        assert_eq!(shortest_lease_seconds(millis(100), millis(500)), 1);
        assert_eq!(shortest_lease_seconds(millis(500), millis(5000)), 8);
        assert_eq!(shortest_lease_seconds(millis(10), millis(50)), 1);
    }
}
