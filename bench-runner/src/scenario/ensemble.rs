//! `[ensemble]`: the servers under test, who runs them, and how each is set up or found.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::docker::DockerFile;
use super::duration::Span;
use super::external::file::{AuthFile, CommandsFile, ServersFile, TlsFile};
use super::settings::Provider;

/// The servers under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Ensemble")]
pub struct EnsembleFile {
    /// Who runs the servers. `local`: child processes of bench-runner on this machine. `docker`: the same in containers, one each. `external`: somebody else; `endpoints` say where they are, and a run asks for `--allow-external`.
    pub provider: Provider,
    /// How many servers of each service: 1, 3, 5, 7 or 9. An even number is refused, since it survives no more failures than the odd one below. `external`: as many as there are endpoints.
    #[schemars(extend("enum" = [1, 3, 5, 7, 9]))]
    pub nodes: u32,
    /// The most workers that an arm may have; more are refused. Default: 1000 for `external`, no ceiling for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub max_workers: Option<u32>,
    /// The most requests a second that are sent to the servers of a service, all sessions together and their heartbeats included, in any window beyond 10 ms; what is more waits, and the report says so. Default: 5000 for `external`, no ceiling for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub max_rate: Option<f64>,
    /// How faults break external nodes, and mend them.
    #[serde(skip_serializing_if = "is_default")]
    pub commands: CommandsFile,
    /// The containers of the servers, if they are in containers.
    #[serde(skip_serializing_if = "is_default")]
    pub docker: DockerFile,
    /// How each ZooKeeper server is set up, or where they are.
    pub zookeeper: ZookeeperFile,
    /// How each etcd server is set up, or where they are.
    pub etcd: EtcdFile,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl EnsembleFile {
    /// How many servers of each service there are; where that differs, the most.
    pub fn node_count(&self) -> u32 {
        let given = self.zookeeper.endpoints.len().max(self.etcd.endpoints.len());
        match self.provider {
            Provider::External => u32::try_from(given).unwrap_or(u32::MAX),
            Provider::Local | Provider::Docker => self.nodes,
        }
    }
}

impl Default for EnsembleFile {
    fn default() -> Self {
        EnsembleFile {
            provider: Provider::Local,
            nodes: 3,
            max_workers: None,
            max_rate: None,
            commands: CommandsFile::default(),
            docker: DockerFile::default(),
            zookeeper: ZookeeperFile::default(),
            etcd: EtcdFile::default(),
        }
    }
}

/// How each ZooKeeper server is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Zookeeper")]
pub struct ZookeeperFile {
    /// The server's `tickTime`, 10ms to 60s. Sessions time out after 2 to 20 ticks, so a longer `session_timeout` needs a longer tick.
    pub tick: Span,
    /// Heap of each server as Java's `-Xmx` takes it: `512m`, `2g`.
    #[schemars(regex(pattern = "^[1-9][0-9]*[kKmMgG]$"))]
    pub heap: String,
    /// Whether a write is on disk before it is acknowledged. `false` sets `zookeeper.forceSync=no`: faster, unsafe, and told in the report.
    pub fsync: bool,
    /// Fixed ports from here on, three for each server (client, quorum, election). Free ports are taken when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16", range(min = 1024))]
    pub base_port: Option<u16>,
    /// Further flags of the Java virtual machine, each beginning with `-`.
    #[schemars(inner(regex(pattern = "^-")))]
    pub jvm_flags: Vec<String>,
    /// The folder of an unpacked Apache release whose servers are started. Absent: what `ZOOKEEPER_HOME` names, else the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub home: Option<PathBuf>,
    /// `external`: where the servers are, `host:port` for clients of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
    /// `external`: where the servers are asked for their counters (`mntr`), `host:port` of each in the order of `endpoints`. Default: the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// `external`: whether they are asked over TLS. Default: where `tls` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub metrics_tls: Option<bool>,
    /// `external`: how connections are encrypted. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TlsFile")]
    pub tls: Option<TlsFile>,
    /// `external`: as whom. Default: nobody in particular.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AuthFile")]
    pub auth: Option<AuthFile>,
}

impl ZookeeperFile {
    /// What it says about external servers.
    pub fn servers(&self) -> ServersFile<'_> {
        ServersFile {
            endpoints: &self.endpoints,
            metrics: &self.metrics,
            metrics_tls: self.metrics_tls,
            tls: self.tls.as_ref(),
            auth: self.auth.as_ref(),
        }
    }
}

impl Default for ZookeeperFile {
    fn default() -> Self {
        ZookeeperFile {
            tick: Span::seconds(1),
            heap: "512m".to_owned(),
            fsync: true,
            base_port: None,
            jvm_flags: Vec::new(),
            home: None,
            endpoints: Vec::new(),
            metrics: Vec::new(),
            metrics_tls: None,
            tls: None,
            auth: None,
        }
    }
}

/// How each etcd server is set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Etcd")]
pub struct EtcdFile {
    /// The server's `--heartbeat-interval`, 10ms to 5s.
    pub heartbeat_interval: Span,
    /// The server's `--election-timeout`: 5 heartbeats to 50s. No lease is shorter than one and a half of it, rounded up to a second.
    pub election_timeout: Span,
    /// The server's `--quota-backend-bytes` in MiB, 16 to 65,536: beyond it writes are refused.
    #[schemars(range(min = 16, max = 65_536))]
    pub quota_mib: u32,
    /// The server's `--snapshot-count`: transactions between two snapshots. The default is more than a run makes, so that none falls into a trial.
    #[schemars(range(min = 1))]
    pub snapshot_count: u32,
    /// Whether a write is on disk before it is acknowledged. `false` sets `--unsafe-no-fsync`, which came with etcd 3.5: faster, unsafe, and told in the report.
    pub fsync: bool,
    /// Fixed ports from here on, two for each server (client, peer). Free ports are taken when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16", range(min = 1024))]
    pub base_port: Option<u16>,
    /// The program `etcd` that is started. Absent: what `ETCD_BIN` names, else the one on `PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub program: Option<PathBuf>,
    /// `external`: where the servers are, `host:port` for clients of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
    /// `external`: where the servers are asked for their counters (`/metrics`), `host:port` of each in the order of `endpoints`. Default: the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// `external`: whether they are asked over TLS. Default: where `tls` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub metrics_tls: Option<bool>,
    /// `external`: how connections are encrypted. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TlsFile")]
    pub tls: Option<TlsFile>,
    /// `external`: as whom. Default: nobody in particular.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AuthFile")]
    pub auth: Option<AuthFile>,
}

impl EtcdFile {
    /// What it says about external servers.
    pub fn servers(&self) -> ServersFile<'_> {
        ServersFile {
            endpoints: &self.endpoints,
            metrics: &self.metrics,
            metrics_tls: self.metrics_tls,
            tls: self.tls.as_ref(),
            auth: self.auth.as_ref(),
        }
    }
}

impl Default for EtcdFile {
    fn default() -> Self {
        EtcdFile {
            heartbeat_interval: Span(std::time::Duration::from_millis(100)),
            election_timeout: Span::seconds(1),
            quota_mib: 2048,
            snapshot_count: 10_000_000,
            fsync: true,
            base_port: None,
            program: None,
            endpoints: Vec::new(),
            metrics: Vec::new(),
            metrics_tls: None,
            tls: None,
            auth: None,
        }
    }
}
