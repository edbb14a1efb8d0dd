//! The file format, version 1: what a scenario file may say, key by key.
//!
//! The documentation comments are the descriptions of the published JSON Schema, which editors show beside each key: they
//! are written for the author of a scenario. Whether the values make sense together is judged by `validate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Recipe, Service};

use super::delay::DelayText;
use super::duration::Span;
use super::ensemble::EnsembleFile;
use super::fault::file::FaultFile;
use super::gate::GateFile;
use super::grid::GridFile;
use super::slo::SloFile;
use super::sweep::SweepFile;

/// The version of the format that this program reads.
pub const VERSION: u32 = 1;

/// A scenario: one question, the ensemble to ask it of, and the arms to compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "bench-runner scenario")]
pub struct ScenarioFile {
    /// Version of this format: 1.
    #[schemars(required, range(min = 1, max = 1))]
    pub version: Option<u32>,
    /// The question that the scenario answers, in one sentence. The report opens with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 500))]
    pub question: Option<String>,
    /// Where every random choice begins: the same seed draws the same hold times and arrivals again.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// The coordination service under test; an arm may name another one.
    #[serde(default = "zookeeper")]
    pub service: Service,
    /// The servers under test. All arms of a service run on the same ensemble; with arms of both services there are two ensembles, and while an arm runs on one the other rests.
    #[serde(default)]
    pub ensemble: EnsembleFile,
    /// How often and how long each arm is measured.
    #[serde(default)]
    pub trials: TrialsFile,
    /// What the workers of every arm do; each key may be overridden under the arm's own `workers`.
    #[serde(default)]
    pub workers: WorkersFile,
    /// Each arm once for each pair of a number of workers and a number of barriers, in the place of what `workers` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "GridFile")]
    pub grid: Option<GridFile>,
    /// What `bench-runner capacity` varies; `run` and `gate` take no scenario that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SweepFile")]
    pub sweep: Option<SweepFile>,
    /// The limits that `bench-runner capacity` looks for the largest load within.
    #[serde(default)]
    pub slo: SloFile,
    /// A few sessions that read and write an unrelated znode or key at a steady rate: what the herd does to everybody else.
    #[serde(default)]
    pub bystanders: BystandersFile,
    /// The arms to compare, at least one: each a recipe with its settings. They run in balanced order (A B B A …).
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub arm: Vec<ArmFile>,
    /// What is broken on purpose in each trial of each arm, and when. A drain takes no faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultFile>,
    /// How the figures are judged by `bench-runner gate` and `bench-runner compare`.
    #[serde(default)]
    pub gate: GateFile,
}

fn first_seed() -> u64 {
    1
}

fn zookeeper() -> Service {
    Service::Zookeeper
}

/// How often and how long each arm is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Trials")]
pub struct TrialsFile {
    /// Measured trials of each arm, 1 to 1,000. The spread between them is the error of every figure; with one there is none.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u32,
    /// Length of an unmeasured trial of each arm that comes first, `0s` for none: a cold Java machine is 3 to 5 times slower. A drain arm drains once unmeasured, whatever the length, unless it is zero; a sweep of `capacity` warms freshly started servers, and there drains again until the length is over.
    pub warmup: Span,
    /// Measured length of a trial. Drains and barriers do not use it: their trial ends when every worker had its grant, or has passed all barriers.
    pub duration: Span,
    /// When a drain that does not end is given up, or barriers that do not open. No other arm uses it.
    pub limit: Span,
    /// How long the bystanders are measured at rest before each trial, `0s` for not at all.
    pub rest: Span,
}

impl Default for TrialsFile {
    fn default() -> Self {
        TrialsFile {
            count: 3,
            warmup: Span::seconds(5),
            duration: Span::seconds(15),
            limit: Span::seconds(120),
            rest: Span::seconds(2),
        }
    }
}

/// What the workers do. Each worker has a session (etcd: a lease) of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Workers")]
pub struct WorkersFile {
    /// How many workers. There is no default: set it here or in every arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1_000_000))]
    pub count: Option<u32>,
    /// How many locks or elections they are spread over, worker by worker; at most as many as workers. Default 1: everybody wants the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1), extend("default" = 1))]
    pub locks: Option<u32>,
    /// What drives the workers. Default `closed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ModeName", extend("default" = "closed"))]
    pub mode: Option<ModeName>,
    /// How long a grant is held: a lock, or leadership; in `rounds`, how long a member works inside. `"forever"`: until it is lost or the trial ends, which a drain does not take. Default `0ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DelayText", extend("default" = "0ms"))]
    pub hold: Option<DelayText>,
    /// How long a worker rests between a release and its next acquire; not `"forever"`. Default `0ms`. Only the closed mode uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DelayText", extend("default" = "0ms"))]
    pub think: Option<DelayText>,
    /// `election/leader-selector` in the closed mode: whether a leader queues again before it gives its leadership up, so that it never misses a turn; then there is no `think`. No other recipe takes it. Default there `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub auto_requeue: Option<bool>,
    /// Locks and elections in the modes `closed` and `open`: holders keep a shared counter, in a store that takes every write and in one that checks the fencing token. Each update takes so long from its read to its write, in which a holder does not look whether it holds still; the hold says for how long it begins new ones, and each grant has at least one. Not `"forever"`. Default: no counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DelayText")]
    pub updates: Option<DelayText>,
    /// How many barriers, 1 to 100,000. The modes `barriers` and `rounds` use it. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 100_000), extend("default" = 1))]
    pub barriers: Option<u32>,
    /// When acquires fall due; the open mode needs it, no other mode takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ArrivalsFile")]
    pub arrivals: Option<ArrivalsFile>,
    /// The session timeout asked for. ZooKeeper: 2 to 20 ticks of the server, beyond which it would be clamped silently; default 20 ticks. etcd: the lease's ttl in whole seconds, not below one and a half election timeouts; default 20s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub session_timeout: Option<Span>,
    /// How many sessions are being opened at any moment, 1 to 10,000. Default 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 10_000), extend("default" = 64))]
    pub connect_concurrency: Option<u32>,
    /// A control, wrong on purpose: over how many sessions (etcd: leases) the workers are spread, fewer than there are workers. For `lock/naive` on ZooKeeper, where the fan-out collapses to the number of sessions, and `lock/sequential` on etcd, where several hold at once; without faults. The run fails if the checks do not find that. Default: each worker has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub sessions: Option<u32>,
    /// etcd: over how many client connections the workers are spread, worker by worker; at most as many as workers. Default: each worker has a connection of its own, as each has a lease of its own in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1))]
    pub connections: Option<u32>,
    /// Whether requests and notifications are counted. `false` keeps the grants alone, to show what the counting costs; a drain needs the counts. Default `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool", extend("default" = true))]
    pub telemetry: Option<bool>,
}

impl WorkersFile {
    /// These settings, with `base` where they are silent.
    pub fn over(&self, base: &WorkersFile) -> WorkersFile {
        WorkersFile {
            count: self.count.or(base.count),
            locks: self.locks.or(base.locks),
            mode: self.mode.or(base.mode),
            hold: self.hold.or(base.hold),
            think: self.think.or(base.think),
            auto_requeue: self.auto_requeue.or(base.auto_requeue),
            updates: self.updates.or(base.updates),
            barriers: self.barriers.or(base.barriers),
            arrivals: self.arrivals.or(base.arrivals),
            session_timeout: self.session_timeout.or(base.session_timeout),
            connect_concurrency: self.connect_concurrency.or(base.connect_concurrency),
            sessions: self.sessions.or(base.sessions),
            connections: self.connections.or(base.connections),
            telemetry: self.telemetry.or(base.telemetry),
        }
    }
}

/// What drives the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Mode")]
pub enum ModeName {
    /// Every worker acquires once; a holder releases only when every other waiter has armed its watch, so that the notifications of the whole drain are known beforehand.
    Drain,
    /// Every worker acquires, holds, releases, thinks, and begins again until the trial ends.
    #[default]
    Closed,
    /// Acquires fall due at a rate, whatever became of earlier ones; latency counts from the moment due.
    Open,
    /// Barriers alone: every member enters all `barriers`, and then leaves all of them.
    Barriers,
    /// Barriers alone: every member enters, works for a `hold`, and leaves one after the other, each so that its notifications are known beforehand.
    Rounds,
}

/// When the acquires of an open loop fall due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Arrivals")]
pub struct ArrivalsFile {
    /// Acquires a second over all workers; more than 0, at most 1,000,000.
    #[schemars(required, range(max = 1_000_000), extend("exclusiveMinimum" = 0))]
    pub rate: Option<f64>,
    /// Evenly spaced, or as independent clients send them.
    #[serde(default)]
    pub process: ProcessName,
}

/// How arrivals follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Process")]
pub enum ProcessName {
    /// Evenly spaced.
    Constant,
    /// A Poisson process: exponential gaps, as many independent clients make them.
    #[default]
    Poisson,
}

/// Sessions beside the herd.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Bystanders")]
pub struct BystandersFile {
    /// How many sessions, 0 to 1,000; 0 for none.
    #[schemars(range(max = 1000))]
    pub sessions: u32,
    /// Operations a second of each, a write and a read in turn; more than 0, at most 10,000.
    #[schemars(range(max = 10_000), extend("exclusiveMinimum" = 0))]
    pub rate: f64,
}

impl Default for BystandersFile {
    fn default() -> Self {
        BystandersFile { sessions: 4, rate: 10.0 }
    }
}

/// One arm: a recipe with its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Arm")]
pub struct ArmFile {
    /// The algorithm. `control/unlocked` is wrong on purpose: nobody waits for anybody, two hold at once, and the run fails if the checks do not find that. `session/idle` holds sessions and does nothing; it takes the closed mode alone, and pays no heed to `locks`, `hold` and `think`.
    #[schemars(required)]
    pub recipe: Option<Recipe>,
    /// What tables and charts call the arm, at most 60 characters, each label once. Default: the recipe's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 60))]
    pub label: Option<String>,
    /// The coordination service of this arm. Default: the scenario's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Service")]
    pub service: Option<Service>,
    /// What differs from the scenario's `[workers]` in this arm.
    #[serde(default)]
    pub workers: WorkersFile,
}
