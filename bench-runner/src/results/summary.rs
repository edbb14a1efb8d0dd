//! `summary.json`: everything that the report shows, and the keys that others rely on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measure::figures::{Arm, Contrast, Growth, Latency};

/// Version of the format. Raised when a key changes its meaning or vanishes; new keys do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// One run: the whole of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format, see [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name of the scenario: its file's name without the extension.
    pub scenario: String,
    /// The question that the scenario answers, in its own words.
    pub question: Option<String>,
    /// The services under test, joined by ` + ` where there are several.
    pub service: String,
    /// The largest number of workers in any arm.
    pub workers: u32,
    /// Whether every planned trial ran to its end. Partial results are kept, with `false` here.
    pub complete: bool,
    /// Why the run is not complete; `null` if it is.
    pub incomplete_reason: Option<String>,
    /// When the run began, UTC, RFC 3339.
    pub started: String,
    /// How long it took, all in all.
    pub elapsed_seconds: f64,
    /// The ensemble.
    pub ensemble: Ensemble,
    /// The machine and the versions.
    pub environment: Environment,
    /// The scenario as it was run, overrides included, as TOML: enough to repeat the run.
    pub settings: String,
    /// Naive against herd-free, one for each pair of arms that differ in that alone.
    pub contrasts: Vec<Contrast>,
    /// How the notifications of barriers grow with their members, one for each recipe and service.
    #[serde(default)]
    pub growth: Vec<Growth>,
    /// Arms in the order of the scenario.
    pub arms: Vec<Arm>,
    /// The load generator over the whole run.
    pub generator: Generator,
    /// The nodes over the whole run.
    pub nodes: Vec<Node>,
    /// What the reader has to know before trusting the figures.
    pub warnings: Vec<Warning>,
}

/// The servers under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ensemble {
    /// How many nodes of each service.
    pub nodes: u32,
    /// Who runs them: `local`, `docker` or `external`.
    pub provider: String,
    /// Version of the server by service.
    pub versions: BTreeMap<String, String>,
    /// The settings that matter for the figures, by their server's own name.
    pub settings: BTreeMap<String, String>,
}

/// The machine and the versions: also in `environment.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Version of bench-runner.
    pub bench_runner: String,
    /// Git revision of the tree it was built from, with `-dirty` if it was changed; `null` outside a checkout.
    pub git_revision: Option<String>,
    /// SHA-256 of the scenario as it was run, hexadecimal.
    pub scenario_sha256: String,
    /// Operating system and kernel.
    pub kernel: String,
    /// The processor's name.
    pub cpu_model: String,
    /// Processors that the generator and the nodes share.
    pub cpus: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Java runtime, where a server needs one.
    pub java: Option<String>,
}

/// The load generator over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU time, user and system.
    pub cpu_seconds: f64,
    /// Highest resident set.
    pub peak_rss_bytes: u64,
    /// How late a timer task of the generator ran, measured trials only.
    pub lag_ms: Latency,
    /// Whether the figures are the generator's rather than the ensemble's in any measured trial.
    pub saturated: bool,
    /// Requests that waited for the ceiling (`ensemble.max_rate`), measured trials only: with any, rates and latencies are the
    /// ceiling's.
    #[serde(default)]
    pub held_back: u64,
}

/// One server process over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// `zookeeper-1`, `etcd-1`, …
    pub name: String,
    /// Its role when the first trial began: `leader`, `follower`, `standalone`.
    pub role: String,
    /// CPU time, user and system; `null` where its process cannot be seen.
    pub cpu_seconds: Option<f64>,
    /// Highest resident set; `null` likewise.
    pub peak_rss_bytes: Option<u64>,
    /// Why `cpu_seconds` and `peak_rss_bytes` are missing; `null` where they are not.
    #[serde(default)]
    pub usage_missing: Option<String>,
}

/// Something that the reader has to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// What was seen.
    pub text: String,
    /// What to do about it.
    pub remedy: String,
}
