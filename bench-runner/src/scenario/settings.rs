//! What the later stages work from: a scenario with every default filled in, every contradiction refused, and plain
//! [`Duration`]s.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Service, WorkerSettings};

use super::docker::DockerFile;
use super::external::ExternalSettings;
use super::fault::FaultSettings;
use super::gate::{GateFile, Slo};
use super::sweep::SweepSettings;

/// A scenario, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file's name without its extension; also the folder under `results/`.
    pub name: String,
    /// The question that the scenario answers, in its own words.
    pub question: Option<String>,
    /// Where every random choice of the run begins. 0 to 2⁶³ − 1, because TOML's integers are signed.
    pub seed: u64,
    /// The servers under test.
    pub ensemble: EnsembleSettings,
    /// How often and how long each arm is measured.
    pub trials: TrialSettings,
    /// The sessions that feel the herd without being part of it.
    pub bystanders: BystanderSettings,
    /// The arms in the order of the file; at least one, labels unique.
    pub arms: Vec<ArmSettings>,
    /// What is broken on purpose in each trial of each arm, in the order of the file; none where a drain is among
    /// the arms.
    pub faults: Vec<FaultSettings>,
    /// What a sweep varies; the scenario itself is then that of the first point.
    pub sweep: Option<SweepSettings>,
    /// The limits that a sweep looks for the largest load within.
    pub slo: Vec<Slo>,
    /// How a gate judges the figures.
    pub gate: GateFile,
    /// The file's text after the overrides: reading it again gives this scenario again.
    pub text: String,
    /// SHA-256 of `text`, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

/// Who runs the servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Child processes on this machine, on loopback ports.
    #[default]
    Local,
    /// Containers on Docker's engine, one for each server, whose ports are published on loopback.
    Docker,
    /// Somebody else.
    External,
}

/// The servers under test.
#[derive(Clone, Debug, PartialEq)]
pub struct EnsembleSettings {
    /// Who runs them.
    pub provider: Provider,
    /// How many: odd, 1 to 9; of external ones, whatever there are.
    pub nodes: u32,
    /// The most workers of an arm; `None`: no ceiling.
    pub max_workers: Option<u32>,
    /// The most requests a second to the servers of a service; `None`: no ceiling.
    pub max_rate: Option<f64>,
    /// Their containers, if they are in containers.
    pub docker: Option<DockerFile>,
    /// Where they are, if they are external.
    pub external: Option<ExternalSettings>,
    /// How the ZooKeeper servers are set up.
    pub zookeeper: ZookeeperSettings,
    /// How the etcd servers are set up.
    pub etcd: EtcdSettings,
}

/// How the ZooKeeper servers are set up.
#[derive(Clone, Debug, PartialEq)]
pub struct ZookeeperSettings {
    /// `tickTime`: whole milliseconds, 10 ms to 60 s. Session timeouts lie between 2 and 20 of them.
    pub tick: Duration,
    /// The heap of each node as `-Xmx` takes it, for example `512m`.
    pub heap: String,
    /// Whether a write is on disk before it is acknowledged; `false` is `zookeeper.forceSync=no`.
    pub fsync: bool,
    /// First of three consecutive ports per node (client, quorum, election); `None` takes free ones.
    pub base_port: Option<u16>,
    /// Further flags of the Java virtual machine, each beginning with `-`.
    pub jvm_flags: Vec<String>,
    /// An unpacked Apache release; `None` takes what the environment names.
    pub home: Option<PathBuf>,
}

/// How the etcd servers are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdSettings {
    /// `--heartbeat-interval`: whole milliseconds, 10 ms to 5 s.
    pub heartbeat_interval: Duration,
    /// `--election-timeout`: whole milliseconds, 5 heartbeats to 50 s. The shortest lease is about one and a half of it.
    pub election_timeout: Duration,
    /// `--quota-backend-bytes` in MiB, 16 to 65,536.
    pub quota_mib: u32,
    /// `--snapshot-count`, at least 1.
    pub snapshot_count: u32,
    /// Whether a write is on disk before it is acknowledged; `false` is `--unsafe-no-fsync`.
    pub fsync: bool,
    /// First of two ports per node (client, peer); `None` takes free ones.
    pub base_port: Option<u16>,
    /// The program `etcd`; `None` takes what the environment names.
    pub program: Option<PathBuf>,
}

/// How often and how long each arm is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialSettings {
    /// Measured trials of each arm, 1 to 1,000.
    pub count: u32,
    /// Length of the unmeasured trial of each arm that comes first; zero for none. A drain arm drains once, whatever the
    /// length, unless it is zero.
    pub warmup: Duration,
    /// Measured length of a trial, more than zero. A drain arm does not use it: it ends when everybody had a turn.
    pub duration: Duration,
    /// When a drain that does not end is given up, more than zero. Only drain arms use it.
    pub limit: Duration,
    /// How long the bystanders are measured at rest before each trial; zero for not at all.
    pub rest: Duration,
}

/// The sessions that feel the herd without being part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BystanderSettings {
    /// How many, 0 to 1,000; 0 for none.
    pub sessions: u32,
    /// Operations a second of each, a write and a read in turn; more than 0, at most 10,000.
    pub rate: f64,
}

impl Scenario {
    /// The services that its arms load, each once, in the order of the enumeration.
    pub fn services(&self) -> Vec<Service> {
        let mut services: Vec<Service> = self.arms.iter().map(|arm| arm.service).collect();
        services.sort();
        services.dedup();
        services
    }
}

/// One recipe with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSettings {
    /// What reports call it: the scenario's own word, else the recipe's name.
    pub label: String,
    /// The service whose servers it loads.
    pub service: Service,
    /// Whether requests and notifications are counted; `false` keeps the grants alone, to show what counting costs.
    pub telemetry: bool,
    /// What each of its workers does. The seed is the scenario's: one for each arm and trial is derived from it by the run.
    pub workers: WorkerSettings,
}
