//! The metrics of barriers.

use super::Metric;
use crate::report::format::Unit;

/// Where there are barriers: the way in and out, and what it costs.
pub(super) const BARRIERS: [Metric; 10] = [
    Metric {
        group: "Barriers",
        name: "enters and leaves per second",
        unit: Unit::Number,
        arm: |arm| arm.barriers.as_ref().map(|barriers| barriers.operations_per_second.mean),
        trial: |trial| trial.barriers.and_then(|barriers| barriers.operations_per_second),
    },
    Metric {
        group: "Barriers",
        name: "seconds for a member",
        unit: Unit::Number,
        arm: |arm| arm.barriers.as_ref().map(|barriers| barriers.client_seconds.mean),
        trial: |trial| trial.barriers.and_then(|barriers| barriers.client_seconds),
    },
    Metric {
        group: "Barriers",
        name: "notifications per barrier",
        unit: Unit::Number,
        arm: |arm| {
            let barriers = u64::from(arm.barriers.as_ref()?.barriers) * u64::from(arm.trials);
            (barriers > 0).then(|| arm.notifications.client as f64 / barriers as f64)
        },
        trial: |trial| trial.barriers.map(|of| trial.notifications.client as f64 / f64::from(of.barriers.max(1))),
    },
    Metric {
        group: "Barriers",
        name: "requests per enter or leave",
        unit: Unit::Number,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.requests_per_operation),
        trial: |trial| trial.barriers.and_then(|barriers| barriers.requests_per_operation),
    },
    Metric {
        group: "Barriers",
        name: "response bytes per enter or leave",
        unit: Unit::Bytes,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.response_bytes_per_operation),
        trial: |trial| trial.barriers.and_then(|barriers| barriers.response_bytes_per_operation),
    },
    Metric {
        group: "Barriers",
        name: "enter p50",
        unit: Unit::Milliseconds,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.enter_ms.p50),
        trial: |_| None,
    },
    Metric {
        group: "Barriers",
        name: "enter p99",
        unit: Unit::Milliseconds,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.enter_ms.p99),
        trial: |_| None,
    },
    Metric {
        group: "Barriers",
        name: "leave p50",
        unit: Unit::Milliseconds,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.leave_ms.p50),
        trial: |_| None,
    },
    Metric {
        group: "Barriers",
        name: "leave p99",
        unit: Unit::Milliseconds,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.leave_ms.p99),
        trial: |_| None,
    },
    Metric {
        group: "Barriers",
        name: "release skew p50",
        unit: Unit::Milliseconds,
        arm: |arm| arm.barriers.as_ref().and_then(|barriers| barriers.enter_skew_ms.p50),
        trial: |_| None,
    },
];
