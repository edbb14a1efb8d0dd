//! The figures of a point that curves are fitted to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::models::Law;
use crate::scenario::Variable;
use crate::scenario::gate::Metric;

/// Requests for each grant.
pub const REQUESTS: &str = "requests.per_grant";
/// Notifications for each grant.
pub const NOTIFICATIONS: &str = "notifications.per_grant";
/// Response bytes for each grant.
pub const BYTES: &str = "requests.response_bytes_per_grant";
/// Requests a second.
pub const REQUEST_RATE: &str = "requests.per_second";
/// Response bytes a second.
pub const BYTE_RATE: &str = "requests.response_bytes_per_second";
/// Resident memory of all nodes.
pub const RSS: &str = "nodes_rss_bytes";
/// Watches that the servers hold.
pub const WATCHES: &str = "nodes_watches";
/// Sessions that the servers hold.
pub const SESSIONS: &str = "nodes_sessions";
/// Data that the servers keep.
pub const DATA: &str = "nodes_data_bytes";

/// What kind of thing a figure is, which decides the laws that it may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Things a second.
    Rate,
    /// Milliseconds.
    Latency,
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Per cent of one processor.
    Percent,
}

/// A figure that has a curve and a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name in a point.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What it is.
    pub kind: Kind,
}

const fn figure(name: &'static str, title: &'static str, kind: Kind) -> Figure {
    Figure { name, title, kind }
}

/// Those that every report has, where they were measured.
const ALWAYS: [Figure; 12] = [
    figure("grants_per_second", "Grants a second", Kind::Rate),
    figure("acquire_ms.p50", "Acquisition latency, median", Kind::Latency),
    figure("acquire_ms.p99", "Acquisition latency, 99th percentile", Kind::Latency),
    figure("handoff_ms.p50", "Handoff, median", Kind::Latency),
    figure("bystander_ms.during.p99", "Bystanders, 99th percentile", Kind::Latency),
    figure(REQUESTS, "Requests for each grant once the queue stands", Kind::Count),
    figure(NOTIFICATIONS, "Notifications for each grant once the queue stands", Kind::Count),
    figure(BYTES, "Response bytes for each grant once the queue stands", Kind::Bytes),
    figure("nodes_cpu_percent", "CPU of all nodes", Kind::Percent),
    figure(RSS, "Memory of all nodes", Kind::Bytes),
    figure(WATCHES, "Watches", Kind::Count),
    figure(DATA, "Data", Kind::Bytes),
];

/// The figures that get curves: those of every report, and those that limits are about.
pub fn figures(limited: impl IntoIterator<Item = Metric>) -> Vec<Figure> {
    let mut all = ALWAYS.to_vec();
    for metric in limited {
        if all.iter().all(|known| known.name != metric.name()) {
            all.push(figure(metric.name(), metric.name(), kind(metric)));
        }
    }
    all
}

/// What kind of thing a metric of a limit is.
pub fn kind(metric: Metric) -> Kind {
    match metric {
        Metric::ResponseBytes | Metric::BarrierBytes => Kind::Bytes,
        Metric::GrantsPerSecond | Metric::BarrierOperations => Kind::Rate,
        Metric::NodesCpu => Kind::Percent,
        metric if metric.name().contains("_ms.") => Kind::Latency,
        _ => Kind::Count,
    }
}

/// The laws that a figure of this kind may follow over this variable, the null model first.
pub fn laws(kind: Kind, variable: Variable, mode: &str) -> Vec<Law> {
    let mut laws = vec![Law::Constant, Law::PowerLaw];
    match (kind, variable, mode) {
        (Kind::Rate, Variable::Workers, _) => laws.push(Law::ScalabilityLaw),
        (Kind::Latency, Variable::ArrivalRate, "open") => laws.extend([Law::OpenQueue, Law::OffsetPowerLaw]),
        (Kind::Latency, Variable::Workers, "closed" | "drain") => {
            laws.extend([Law::ClosedQueue, Law::OffsetPowerLaw]);
        }
        _ => laws.push(Law::OffsetPowerLaw),
    }
    laws
}
