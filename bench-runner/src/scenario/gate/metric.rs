//! The figures that a gate can judge, by the names that they have in `summary.json`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// How a figure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A promise: each breach is one too many.
    Safety,
    /// A number of things: judged exactly, or within a band.
    Count,
    /// A time or a rate: judged by the size of the change and by its significance.
    Time,
}

/// Writes the enumeration, its names and its table from one list.
macro_rules! metrics {
    ($($variant:ident $name:literal $kind:ident $better:ident $band:literal $gated:literal $doc:literal)*) => {
        /// A figure of an arm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum Metric {
            $(#[doc = $doc] #[serde(rename = $name)] $variant,)*
        }

        impl Metric {
            /// All of them, in the order of tables.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];

            /// Its name: the way to it in an arm of `summary.json`.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }

            /// How it is judged.
            pub fn kind(self) -> Kind {
                match self { $(Metric::$variant => Kind::$kind,)* }
            }

            /// Which way it is better, unless the scenario says otherwise.
            pub fn better(self) -> Better {
                match self { $(Metric::$variant => Better::$better,)* }
            }

            /// The change that is still none, as a share, unless the scenario says otherwise.
            pub fn band(self) -> f64 {
                match self { $(Metric::$variant => $band,)* }
            }

            /// Whether it is judged unless the scenario says otherwise. (All of them can have an absolute limit.)
            pub fn gated(self) -> bool {
                match self { $(Metric::$variant => $gated,)* }
            }
        }
    };
}

metrics! {
    Overlaps "safety.overlaps" Safety Lower 0.0 true "Two holders at once."
    TokenRegressions "safety.token_regressions" Safety Lower 0.0 true "Fencing tokens that went backwards."
    LostUpdates "safety.lost_updates" Safety Lower 0.0 true "Updates of a shared counter that were lost."
    EarlyPassages "safety.early_passages" Safety Lower 0.0 true "Members that passed a barrier early."
    FifoInversions "safety.fifo_inversions" Safety Lower 0.0 true "Grants that overtook a waiter, where the recipe promises an order."
    Failed "safety.failed" Safety Lower 0.0 false "Acquisitions that ended in an error."
    FanOut "fan_out.mean" Count Lower 0.05 true "Notifications that a release caused, in the mean. Exact in a drain."
    FanOutMax "fan_out.max" Count Lower 0.05 false "The most notifications that a release caused."
    Notifications "notifications.client" Count Lower 0.0 true "Notifications of a trial; judged where their number is known beforehand alone, as in a drain."
    Requests "requests.per_grant" Count Lower 0.10 true "Requests for each grant."
    ResponseBytes "requests.response_bytes_per_grant" Count Lower 0.25 true "Response bytes for each grant."
    PeakRequests "requests.peak_10ms" Count Lower 0.25 false "The most requests in any 10 ms."
    FailoverFanOut "failovers.fan_out.mean" Count Lower 0.05 true "Notifications that the end of a holder caused, in a queue that had settled."
    BarrierRequests "barriers.requests_per_operation" Count Lower 0.10 true "Requests for each enter or leave of a barrier."
    BarrierBytes "barriers.response_bytes_per_operation" Count Lower 0.25 true "Response bytes for each enter or leave of a barrier."
    AcquireP50 "acquire_ms.p50" Time Lower 0.10 true "Median acquisition latency."
    AcquireP90 "acquire_ms.p90" Time Lower 0.15 false "90th percentile of the acquisition latency."
    AcquireP99 "acquire_ms.p99" Time Lower 0.25 true "99th percentile of the acquisition latency."
    AcquireP999 "acquire_ms.p999" Time Lower 0.50 false "99.9th percentile of the acquisition latency."
    HandoffP50 "handoff_ms.p50" Time Lower 0.10 true "Median handoff."
    HandoffP90 "handoff_ms.p90" Time Lower 0.15 false "90th percentile of the handoff."
    HandoffP99 "handoff_ms.p99" Time Lower 0.25 true "99th percentile of the handoff."
    HandoffP999 "handoff_ms.p999" Time Lower 0.50 false "99.9th percentile of the handoff."
    BystanderP50 "bystander_ms.during.p50" Time Lower 0.25 false "Median latency of the bystanders during the herd."
    BystanderP99 "bystander_ms.during.p99" Time Lower 0.50 true "99th percentile of the bystanders' latency during the herd."
    TakeoverP50 "failover_ms.takeover.p50" Time Lower 0.15 true "Median takeover."
    FailoverP50 "failover_ms.total.p50" Time Lower 0.15 true "Median time in which nobody held after a fault."
    BarrierOperations "barriers.operations_per_second" Time Higher 0.10 true "Enters and leaves of barriers a second."
    GrantsPerSecond "grants_per_second" Time Higher 0.10 true "Grants a second."
    NodesCpu "nodes_cpu_percent" Time Lower 0.25 false "CPU of all nodes together over the measured time, in per cent of one processor: from `nodes_cpu_seconds` and `seconds`."
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No metric has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no metric `{0}`")]
pub struct NoMetric(pub String);

impl FromStr for Metric {
    type Err = NoMetric;

    fn from_str(name: &str) -> Result<Self, NoMetric> {
        // At rest there is nothing to judge, so that it need not be said.
        let name = match name {
            "bystander_ms.p50" => "bystander_ms.during.p50",
            "bystander_ms.p99" => "bystander_ms.during.p99",
            name => name,
        };
        Metric::ALL.iter().copied().find(|metric| metric.name() == name).ok_or_else(|| NoMetric(name.to_owned()))
    }
}
