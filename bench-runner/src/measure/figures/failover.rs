//! How faults were survived: the figures of DESIGN's failover timeline.
//!
//! t0 the fault strikes; t1 the old holder's znode or key is gone, in the servers' view; t2 the first waiter is notified; t3
//! the next grant; t4 the grants are back to 90 % of their rate before. Detection is t1 − t0, takeover t3 − t1, total t3 − t0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FanOut, Latency};

/// One fault of a trial, and what came of it. Of a fault that struck several holders at once there is one for each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failover {
    /// What broke, and of whom, as in `crash of the holder`.
    pub fault: String,
    /// t0 in seconds since the start of the trial.
    pub seconds: f64,
    /// Why it was not carried out; `null` where it was. Everything below is empty then.
    pub skipped: Option<String>,
    /// Workers that it struck.
    pub victims: u64,
    /// The node that it struck.
    pub node: Option<String>,
    /// The lock or election, counted from 0, whose holder it struck; `null` where it struck none.
    pub resource: Option<u32>,
    /// The worker that held.
    pub holder: Option<u32>,
    /// The worker that was granted next.
    pub successor: Option<u32>,
    /// Whether everybody else stood in the queue with its watch armed at t0: only then `notifications` is the recipe's own.
    pub settled: bool,
    /// t1 − t0: the servers take the old holder for gone. For a node that led: another one leads.
    pub detection_ms: Option<f64>,
    /// t2 − t0: the first waiter is notified.
    pub notified_ms: Option<f64>,
    /// t3 − t1: somebody else is granted.
    pub takeover_ms: Option<f64>,
    /// t3 − t0.
    pub total_ms: Option<f64>,
    /// t4 − t0: the grants of any one second are back to 90 % of their rate in the (up to) 5 seconds before; `null` where there
    /// were fewer than 10 grants in those, or it did not come back.
    pub recovery_ms: Option<f64>,
    /// When it was mended, in seconds since the start of the trial.
    pub healed_seconds: Option<f64>,
    /// Notifications that the end of the old holder's entry caused.
    pub notifications: Option<u64>,
    /// Requests of all workers in the 100 ms from t1 on.
    pub requests_100ms: Option<u64>,
    /// How long the old holder went on acting after the next grant; 0 where it did not.
    pub overlap_ms: Option<f64>,
    /// Writes of the old holder that the fenced store refused after it.
    pub stale_writes: u64,
    /// Whether the old holder learnt of its loss from its session, before it acted again.
    pub told: bool,
}

/// Latencies of all failovers, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailoverLatency {
    /// t1 − t0.
    pub detection: Latency,
    /// t3 − t1.
    pub takeover: Latency,
    /// t3 − t0.
    pub total: Latency,
    /// t4 − t0.
    pub recovery: Latency,
}

/// What the session timeout (etcd: the lease's ttl) makes the least and the most of a detection after a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectionBounds {
    /// The timeout, milliseconds: nothing is detected sooner.
    pub from_ms: f64,
    /// The timeout, and what the servers add: ZooKeeper rounds up to a tick, and hears from its followers every half tick;
    /// etcd looks every 500 ms. (Servers that are overloaded take longer; etcd revokes 1,000 leases a second at the most.)
    pub to_ms: f64,
}

/// Writes under the grants to a store that checks the fencing token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fencing {
    /// Writes that were taken.
    pub accepted: u64,
    /// Writes that were refused, since a later grant had written: a store without the check would have taken them.
    pub refused: u64,
    /// Holders that learnt of their loss from their session, before they acted again.
    pub told: u64,
    /// Holders that were refused a write before they had learnt of their loss.
    pub acted_stale: u64,
}

/// All faults of an arm; `null` in an arm whose scenario has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failovers {
    /// Faults that were carried out.
    pub faults: u64,
    /// Faults that were not; why is told at each.
    pub skipped: u64,
    /// Of the failovers from a holder in a queue that had settled: notifications that each caused.
    pub fan_out: FanOut,
    /// Sessions that were lost, and that another one followed.
    pub sessions_lost: u64,
    /// Writes under the grants.
    pub fencing: Fencing,
    /// What a detection after a crash lies between.
    pub bounds: DetectionBounds,
}

/// A stretch of time in which one worker held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Leadership {
    /// The lock or election.
    pub resource: u32,
    /// The worker.
    pub worker: u32,
    /// From the grant on, in seconds since the start of the trial.
    pub from_seconds: f64,
    /// Until it did not act on it any more; the end of the trial where it held to the end.
    pub to_seconds: f64,
}
