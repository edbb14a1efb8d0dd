//! What became of a shared counter that holders update: in a plain store, and in one that asks for the fencing token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one store came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Store {
    /// Updates that it acknowledged.
    pub acknowledged: u64,
    /// Of those, updates by a holder after whose grant another one had read or written: stale ones.
    pub stale_acknowledged: u64,
    /// Updates that it refused.
    pub refused: u64,
    /// What stood in the counter at the end.
    pub counter: u64,
    /// Updates that it acknowledged, and of which nothing was left at the end: acknowledged less counter.
    pub lost: u64,
}

/// Two grants at once: how often, and for how long, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overlaps {
    /// Grants that began before an earlier one was over, asked for or not.
    pub count: u64,
    /// The shortest; `null` without overlaps.
    pub min: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

/// The counter in both stores; `null` where holders keep none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SplitBrain {
    /// Updates that holders made.
    pub updates: u64,
    /// Of those, stale ones: another grant had read or written before the write.
    pub stale: u64,
    /// The store that takes every write.
    pub plain: Store,
    /// The store that asks for the token.
    pub fenced: Store,
    /// How long two believed to hold at once, in milliseconds.
    pub overlap_ms: Overlaps,
}

/// A stale write: its holder had been overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StaleWrite {
    /// The lock or election, counted from 0.
    pub resource: u32,
    /// The worker.
    pub worker: u32,
    /// When, seconds since the start of the trial.
    pub seconds: f64,
}

/// What a control does on purpose that must not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlKind {
    /// There is no lock.
    Unlocked,
    /// Workers share sessions (etcd: leases).
    SharedSessions,
}

/// A negative control: an arm that is wrong on purpose, so that it is seen whether the checks find it; `null` in every other arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// What is wrong with it.
    pub kind: ControlKind,
    /// Over how many sessions the workers were spread, where they share them.
    pub sessions: Option<u32>,
    /// Whether any check found it: two holders at once, or books of notifications that differ.
    pub caught: bool,
    /// Notifications for each release, by the servers' count; `null` where they have none.
    pub server_fan_out: Option<f64>,
    /// The same by the workers' count.
    pub client_fan_out: Option<f64>,
}
