//! The command line of a node: flags that 3.4 knows as well as 3.5 and newer.
use std::ffi::OsString;
use std::path::Path;

use super::settings::EtcdSettings;
use crate::ensemble::local::NodePorts;

/// Flags that all nodes share, with their values.
pub(crate) fn shared(settings: &EtcdSettings) -> Vec<(String, String)> {
    let millis = |length: std::time::Duration| length.as_millis().to_string();
    [
        ("--heartbeat-interval", millis(settings.heartbeat_interval)),
        ("--election-timeout", millis(settings.election_timeout)),
        ("--quota-backend-bytes", settings.quota_bytes.to_string()),
        ("--snapshot-count", settings.snapshot_count.to_string()),
    ]
    .map(|(flag, value)| (flag.to_owned(), value))
    .into()
}

/// Flags of a node's log.
pub(crate) fn logging() -> [(String, String); 3] {
    [
        // The default of 3.4 is another one.
        ("--logger", "zap"),
        ("--log-outputs", "stderr"),
        // Every request that takes longer than 100 ms is a line at `info`; a herd makes thousands of them.
        ("--log-level", "warn"),
    ]
    .map(|(flag, value)| (flag.to_owned(), value.to_owned()))
}

/// The command that starts node `id` (from 1), in its folder.
pub(super) fn command(program: &Path, settings: &EtcdSettings, id: u32, ports: &[NodePorts]) -> Vec<OsString> {
    let own = &ports[id as usize - 1];
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let members: Vec<String> =
        (1..).zip(ports).map(|(id, ports)| format!("etcd-{id}={}", url(ports.between[0]))).collect();
    let mut flags = vec![
        ("--name".to_owned(), format!("etcd-{id}")),
        ("--data-dir".to_owned(), "data".to_owned()),
        ("--listen-client-urls".to_owned(), url(own.client)),
        ("--advertise-client-urls".to_owned(), url(own.client)),
        ("--listen-peer-urls".to_owned(), url(own.between[0])),
        ("--initial-advertise-peer-urls".to_owned(), url(own.between[0])),
        ("--initial-cluster".to_owned(), members.join(",")),
        ("--initial-cluster-state".to_owned(), "new".to_owned()),
        // Another ensemble whose port one of these was cannot be taken for this one.
        ("--initial-cluster-token".to_owned(), format!("bench-runner-{}-{}", std::process::id(), ports[0].client)),
    ];
    flags.extend(logging());
    flags.extend(shared(settings));
    let mut command: Vec<OsString> = vec![program.into()];
    command.extend(flags.into_iter().map(|(flag, value)| OsString::from(format!("{flag}={value}"))));
    if !settings.fsync {
        command.push("--unsafe-no-fsync".into());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_all_and_listens_on_its_own_ports() {
        let ports: Vec<NodePorts> =
            (0..3).map(|index| NodePorts { client: 2379 + index, between: vec![2480 + index] }).collect();
        let command = command(Path::new("etcd"), &EtcdSettings::default(), 2, &ports);
        let has = |flag: &str| command.iter().any(|given| given == flag);
        assert!(has("--name=etcd-2") && has("--listen-client-urls=http://127.0.0.1:2380"), "{command:?}");
        let members = "etcd-1=http://127.0.0.1:2480,etcd-2=http://127.0.0.1:2481,etcd-3=http://127.0.0.1:2482";
        assert!(has(&format!("--initial-cluster={members}")), "{command:?}");
        assert!(!has("--unsafe-no-fsync"));
    }
}
