//! What an etcd image is told. etcd itself reads each of its flags from a variable, in every image.
use crate::ensemble::etcd::{EtcdSettings, flags};

/// Where a server waits for clients, inside its container.
pub(super) const PORT: u16 = 2379;
/// Where it waits for the other nodes.
const PEER_PORT: u16 = 2380;

/// The variables of node `id`, from 1, of the ensemble with this name.
pub(super) fn variables(settings: &EtcdSettings, id: u32, ensemble: &str) -> Vec<(String, String)> {
    let all: Vec<u32> = (1..=settings.nodes).collect();
    let members = all.iter().map(|id| format!("etcd-{id}=http://etcd-{id}:{PEER_PORT}")).collect::<Vec<_>>().join(",");
    let mut told: Vec<(String, String)> = [
        ("--name", format!("etcd-{id}")),
        ("--data-dir", "/data/etcd".to_owned()),
        ("--listen-client-urls", format!("http://0.0.0.0:{PORT}")),
        ("--advertise-client-urls", format!("http://etcd-{id}:{PORT}")),
        ("--listen-peer-urls", format!("http://0.0.0.0:{PEER_PORT}")),
        ("--initial-advertise-peer-urls", format!("http://etcd-{id}:{PEER_PORT}")),
        ("--initial-cluster", members),
        ("--initial-cluster-state", "new".to_owned()),
        ("--initial-cluster-token", ensemble.to_owned()),
    ]
    .map(|(flag, value)| (flag.to_owned(), value))
    .into();
    told.extend(flags::logging());
    told.extend(flags::shared(settings));
    if !settings.fsync {
        told.push(("--unsafe-no-fsync".into(), "true".into()));
    }
    told.into_iter().map(|(flag, value)| (variable(&flag), value)).collect()
}

/// `--data-dir` is `ETCD_DATA_DIR`, and so are all.
fn variable(flag: &str) -> String {
    format!("ETCD_{}", flag.trim_start_matches('-').replace('-', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_node_knows_all_and_waits_on_all_addresses() {
        let settings = EtcdSettings {
            heartbeat_interval: Duration::from_millis(50),
            election_timeout: Duration::from_millis(400),
            ..EtcdSettings::default()
        };
        let told: BTreeMap<String, String> = variables(&settings, 2, "bench-runner-1-2-3-4").into_iter().collect();
        for (variable, value) in [
            ("ETCD_NAME", "etcd-2"),
            ("ETCD_DATA_DIR", "/data/etcd"),
            ("ETCD_LISTEN_CLIENT_URLS", "http://0.0.0.0:2379"),
            ("ETCD_ADVERTISE_CLIENT_URLS", "http://etcd-2:2379"),
            ("ETCD_INITIAL_CLUSTER", "etcd-1=http://etcd-1:2380,etcd-2=http://etcd-2:2380,etcd-3=http://etcd-3:2380"),
            ("ETCD_INITIAL_CLUSTER_TOKEN", "bench-runner-1-2-3-4"),
            ("ETCD_HEARTBEAT_INTERVAL", "50"),
            ("ETCD_ELECTION_TIMEOUT", "400"),
            ("ETCD_SNAPSHOT_COUNT", "10000000"),
            ("ETCD_LOG_LEVEL", "warn"),
        ] {
            assert_eq!(told[variable], value, "{variable}");
        }
        assert!(!told.contains_key("ETCD_UNSAFE_NO_FSYNC"), "{told:?}");
    }

    #[test]
    fn without_fsync_it_is_told_so() {
        let told = variables(&EtcdSettings { fsync: false, ..EtcdSettings::default() }, 1, "x");
        assert!(told.contains(&("ETCD_UNSAFE_NO_FSYNC".into(), "true".into())), "{told:?}");
    }
}
