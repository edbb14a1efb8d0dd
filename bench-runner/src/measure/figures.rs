//! The figures that a run yields: what `summary.json` holds for each arm and each trial.
//!
//! Plain data with units in the names. Times are milliseconds, from HDR histograms of microseconds with three significant
//! digits; counts are exact. A figure that was not measured is `null`, never 0.

mod failover;
mod split_brain;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Recipe, Service};

pub use super::barrier::figures::{BarrierTrial, Barriers, DoorLine, Growth, GrowthPoint, SkewBin};
pub use failover::{DetectionBounds, Failover, FailoverLatency, Failovers, Fencing, Leadership};
pub use split_brain::{Control, ControlKind, Overlaps, SplitBrain, StaleWrite, Store};

/// A figure of several trials: its mean, and how far the trials lie apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// Arithmetic mean over the trials.
    pub mean: f64,
    /// Sample standard deviation over the trials (n − 1 in the denominator); `null` with fewer than two trials.
    pub spread: Option<f64>,
    /// Smallest of the trials.
    pub min: f64,
    /// Largest of the trials.
    pub max: f64,
}

/// A latency distribution in milliseconds. `count` 0 means that there was nothing to measure; the others are then `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// How many values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
}

/// Requests and bytes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// Requests sent.
    pub requests: u64,
    /// Bytes of their responses, headers included.
    pub response_bytes: u64,
}

/// What the workers' sessions sent, and what came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// All requests that the recipes sent; the client library's own pings and connects are not among them, and neither is
    /// what keeps an etcd lease (`leaseGrant`, `leaseKeepAlive`, `leaseRevoke`): that is in `by_kind` alone.
    pub total: u64,
    /// Requests for each grant; `null` without grants.
    pub per_grant: Option<f64>,
    /// The most requests in any 10 ms.
    pub peak_10ms: u64,
    /// Requests in 10 ms, in the mean over the measured time.
    pub mean_10ms: f64,
    /// Bytes of all responses, headers included; notifications not included.
    pub response_bytes: u64,
    /// Response bytes for each grant; `null` without grants.
    pub response_bytes_per_grant: Option<f64>,
    /// Requests in the first 100 ms after a release was sent, in the mean over the releases; `null` without releases.
    pub after_release_100ms: Option<f64>,
    /// The most requests in the first 100 ms after any release; `null` without releases.
    pub after_release_100ms_max: Option<u64>,
    /// Packets (etcd: gRPC messages) that the servers say they received; pings, connects, keep-alives and ZooKeeper's probing
    /// are among them.
    pub server_packets_received: Option<u64>,
    /// By the service's name of the request.
    pub by_kind: BTreeMap<String, KindCount>,
}

/// Notifications in three books: counted at the clients, by the servers, and by the closed form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notifications {
    /// Counted at the workers.
    pub client: u64,
    /// Counted by the servers; `null` where no counter could be read.
    pub server: Option<u64>,
    /// Why `server` is `null`: which counter is missing, and why. `null` where the servers' book is there.
    #[serde(default)]
    pub server_missing: Option<String>,
    /// The closed form; `null` where there is none (every mode but the settled drain).
    pub expected: Option<u64>,
    /// Notifications of which the instance could not be told; not in the fan-out.
    pub untracked: u64,
    /// By kind (`created`, `deleted`, `changed`, `children`), the clients' count.
    pub client_by_kind: BTreeMap<String, u64>,
    /// By kind, the servers' count; empty where no counter could be read, or where none tells kinds apart (etcd).
    pub server_by_kind: BTreeMap<String, u64>,
}

/// Notifications that one release caused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FanOut {
    /// Releases that the figures are of.
    pub releases: u64,
    /// Smallest.
    pub min: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<u64>,
    /// Largest.
    pub max: Option<u64>,
}

/// Whether the recipe kept its promises. Every count but `fifo_inversions` and `starved` must be 0 for a lock to be one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Safety {
    /// Grants that began before the previous one of the same lock was over: before its release was sent, or its holder had
    /// learnt that it is lost.
    pub overlaps: u64,
    /// Overlaps that the scenario asks for: a holder was paused or cut off. Not among `overlaps`, and no violation.
    #[serde(default)]
    pub overlaps_asked: u64,
    /// The longest of those that were asked for, in microseconds.
    #[serde(default)]
    pub longest_overlap_us: u64,
    /// Grants whose fencing token was not larger than that of the grant before.
    pub token_regressions: u64,
    /// Tokens that went backwards in an arm that is wrong on purpose. Not among `token_regressions`, and no violation.
    #[serde(default)]
    pub token_regressions_asked: u64,
    /// Updates of a shared counter that were lost; `null` where no counter was kept.
    pub lost_updates: Option<u64>,
    /// Updates that the plain store lost as the scenario asks for: a holder that was paused or cut off wrote late. Not among
    /// `lost_updates`, and no violation.
    #[serde(default)]
    pub lost_updates_asked: u64,
    /// Grants that overtook a waiter which had joined the queue before the overtaker even called.
    pub fifo_inversions: u64,
    /// Workers that waited and never got a grant in a trial (summed over the trials).
    pub starved: u64,
    /// Acquisitions that ended in an error.
    pub failed: u64,
    /// Members that passed a barrier early: were inside before all had arrived, or out before all had finished.
    #[serde(default)]
    pub early_passages: u64,
}

impl Safety {
    /// Whether mutual exclusion, the order of tokens, or a barrier was violated.
    pub fn is_violated(&self) -> bool {
        self.overlaps > 0
            || self.early_passages > 0
            || self.token_regressions > 0
            || self.lost_updates.is_some_and(|lost| lost > 0)
    }
}

/// Latency of sessions that have nothing to do with the lock, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bystander {
    /// While the workers were connected and idle.
    pub rest: Latency,
    /// While the workers contended.
    pub during: Latency,
}

/// What the generator itself used in an arm or trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorUse {
    /// CPU time, user and system.
    pub cpu_seconds: f64,
    /// Its share of all CPU time that generator and nodes used together, 0 to 1; `null` where the nodes' is not known.
    pub cpu_share: Option<f64>,
    /// Requests that waited for the ceiling (`ensemble.max_rate`): with any, rates and latencies are the ceiling's.
    #[serde(default)]
    pub held_back: u64,
    /// Highest resident set.
    pub peak_rss_bytes: u64,
    /// Growth of the resident set since before the workers connected, for each worker.
    pub rss_per_worker_bytes: u64,
    /// 99th percentile of how late a timer task of the generator ran, in milliseconds.
    pub lag_ms_p99: f64,
}

/// One measured trial of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Position among all trials of the run, counted from 1 in the order in which they ran.
    pub position: u32,
    /// Seconds from the start of the workers to the closing of the books.
    pub seconds: f64,
    /// Whether it ran to its planned end.
    pub complete: bool,
    /// Grants.
    pub grants: u64,
    /// Grants a second.
    pub grants_per_second: f64,
    /// Arrivals that were due and had not been granted when the trial ended (open loop; `null` otherwise).
    pub unserved: Option<u64>,
    /// Requests.
    pub requests: Requests,
    /// The three books.
    pub notifications: Notifications,
    /// Fan-out per release.
    pub fan_out: FanOut,
    /// Due (or called) to granted.
    pub acquire_ms: Latency,
    /// Release sent to next grant.
    pub handoff_ms: Latency,
    /// Safety.
    pub safety: Safety,
    /// Bystanders.
    pub bystander_ms: Bystander,
    /// The generator.
    pub generator: GeneratorUse,
    /// CPU seconds of all nodes together; `null` where their processes cannot be seen.
    pub nodes_cpu_seconds: Option<f64>,
    /// Share of the machine's processors that other programs took, 0 to 1; `null` where the kernel does not tell.
    #[serde(default)]
    pub other_cpu_share: Option<f64>,
    /// The faults, in the order in which they struck.
    #[serde(default)]
    pub failovers: Vec<Failover>,
    /// Barriers; `null` for every other recipe.
    #[serde(default)]
    pub barriers: Option<BarrierTrial>,
    /// The shared counter; `null` where holders keep none.
    #[serde(default)]
    pub split_brain: Option<SplitBrain>,
}

/// Everything about one arm, over all its measured trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// What reports call it: the recipe's name unless the scenario gives another.
    pub label: String,
    /// The recipe.
    pub recipe: Recipe,
    /// The service.
    pub service: Service,
    /// Workers, each with its own session (etcd: lease).
    pub workers: u32,
    /// Locks they were spread over.
    pub resources: u32,
    /// Client connections that the workers shared (etcd); `null` where each had its own.
    #[serde(default)]
    pub connections: Option<u32>,
    /// `drain`, `closed` or `open`.
    pub mode: String,
    /// Measured trials.
    pub trials: u32,
    /// Grants, summed over the trials.
    pub grants: u64,
    /// Measured seconds, summed over the trials.
    pub seconds: f64,
    /// Grants a second, over the trials.
    pub grants_per_second: Quantity,
    /// Requests, summed over the trials.
    pub requests: Requests,
    /// The three books, summed over the trials.
    pub notifications: Notifications,
    /// Fan-out per release, all trials together.
    pub fan_out: FanOut,
    /// Due (open loop) or called to granted.
    pub acquire_ms: Latency,
    /// Called to granted, whatever the loop: with an open loop this is the service time kept beside `acquire_ms`.
    pub service_ms: Latency,
    /// Called to queued.
    pub enqueue_ms: Latency,
    /// Queued to last wake-up; only acquisitions that had to wait.
    pub wait_ms: Latency,
    /// Last wake-up to grant; only acquisitions that had to wait.
    pub wake_to_grant_ms: Latency,
    /// Release sent to next grant of the same lock, where somebody was waiting at the release.
    pub handoff_ms: Latency,
    /// Safety, summed over the trials.
    pub safety: Safety,
    /// Failovers, all trials together.
    #[serde(default)]
    pub failover_ms: FailoverLatency,
    /// The faults; `null` where the scenario has none.
    #[serde(default)]
    pub failovers: Option<Failovers>,
    /// Bystanders, all trials together.
    pub bystander_ms: Bystander,
    /// The generator in this arm's trials: CPU summed, memory and lag the worst.
    pub generator: GeneratorUse,
    /// CPU seconds of all nodes together in this arm's trials; `null` where their processes cannot be seen.
    pub nodes_cpu_seconds: Option<f64>,
    /// Barriers; `null` for every other recipe.
    #[serde(default)]
    pub barriers: Option<Barriers>,
    /// The shared counter; `null` where holders keep none.
    #[serde(default)]
    pub split_brain: Option<SplitBrain>,
    /// What an arm came to that is wrong on purpose; `null` in every other arm.
    #[serde(default)]
    pub control: Option<Control>,
    /// Each measured trial.
    pub trial: Vec<Trial>,
    /// What the charts draw.
    pub series: Series,
}

/// A percentile and its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentilePoint {
    /// 0 to 100.
    pub percentile: f64,
    /// Milliseconds.
    pub ms: f64,
}

/// Requests and notifications around a release, in buckets of `bucket_ms`, averaged over the releases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spike {
    /// Width of a bucket, milliseconds.
    pub bucket_ms: f64,
    /// Where the first bucket starts, relative to the moment at which the release was sent; negative is before.
    pub start_ms: f64,
    /// Releases averaged.
    pub releases: u64,
    /// Requests in each bucket, mean over the releases.
    pub requests: Vec<f64>,
    /// Notifications in each bucket, mean over the releases.
    pub notifications: Vec<f64>,
}

/// How often each fan-out occurred, in bins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FanOutBin {
    /// Smallest fan-out in the bin.
    pub from: u64,
    /// Largest fan-out in the bin.
    pub to: u64,
    /// Releases.
    pub releases: u64,
}

/// Fan-out of one release of the first trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FanOutPoint {
    /// Seconds since the start of the trial.
    pub seconds: f64,
    /// Notifications that the release caused.
    pub notifications: u64,
}

/// Acquisition latency over time, as counts in a grid, all trials laid over one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Seconds covered by one column.
    pub column_seconds: f64,
    /// Lower edges of the rows in milliseconds, rising in equal ratios; the last edge is the upper end of the last row.
    pub row_edges_ms: Vec<f64>,
    /// `counts[column][row]`: grants.
    pub counts: Vec<Vec<u64>>,
}

/// What the workers did in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatePoint {
    /// Start of the stretch, seconds since the start of the trial.
    pub seconds: f64,
    /// Grants a second.
    pub grants_per_second: f64,
    /// Requests a second.
    pub requests_per_second: f64,
    /// Notifications a second.
    pub notifications_per_second: f64,
    /// Response bytes a second.
    pub response_bytes_per_second: f64,
}

/// What the nodes said at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodesPoint {
    /// Seconds since the start of the trial.
    pub seconds: f64,
    /// CPU of all nodes together since the point before, in per cent of one core; `null` where their processes cannot be seen.
    pub cpu_percent: Option<f64>,
    /// CPU of the generator since the point before, in per cent of one core.
    pub generator_cpu_percent: f64,
    /// Resident memory of all nodes together; `null` where their processes cannot be seen.
    pub rss_bytes: Option<u64>,
    /// Watches that the servers hold; `null` where they do not say.
    pub watches: Option<u64>,
    /// Sessions that the servers hold; `null` where they do not say.
    pub sessions: Option<u64>,
}

/// What the charts draw for an arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Latency by percentile for each stage (`acquire`, `service`, `enqueue`, `wait`, `wake_to_grant`, `handoff`), all trials.
    pub percentiles: BTreeMap<String, Vec<PercentilePoint>>,
    /// Requests and notifications around a release, all trials.
    pub spike: Spike,
    /// Fan-out by how often it occurred, all trials.
    pub fan_out_bins: Vec<FanOutBin>,
    /// Fan-out of each release of the first trial, thinned to at most 500 points.
    pub fan_out_points: Vec<FanOutPoint>,
    /// Acquisition latency over time, all trials.
    pub heat_map: HeatMap,
    /// Rates over time in the first trial.
    pub rates: Vec<RatePoint>,
    /// The nodes over time in the first trial.
    pub nodes: Vec<NodesPoint>,
    /// Who held when in the first trial, where there were faults, a shared counter, or a control: the first 500 stretches.
    #[serde(default)]
    pub leaderships: Vec<Leadership>,
    /// The stale writes of the first trial, where holders keep a shared counter: the first 500.
    #[serde(default)]
    pub stale_writes: Vec<StaleWrite>,
}

/// The ratio that the herd costs: the naive arm against the herd-free one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// Label of the arm that herds.
    pub naive: String,
    /// Label of the arm that does not.
    pub herd_free: String,
    /// Grants a second, herd-free over naive, in each pair of trials that ran next to one another; `null` if either had none.
    pub throughput: Option<Quantity>,
    /// Mean fan-out, naive over herd-free; `null` if either had none.
    pub fan_out: Option<f64>,
    /// Requests for each grant, naive over herd-free; `null` if either had none.
    pub requests_per_grant: Option<f64>,
    /// Median acquisition latency, naive over herd-free; `null` if either had none.
    pub acquire_p50: Option<f64>,
    /// 99th percentile of the bystanders' latency, naive over herd-free; `null` if either had none.
    pub bystander_p99: Option<f64>,
}
