//! `[slo]`: the limits within which an ensemble carries its load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gate::Slo;

/// What `bench-runner capacity` looks for the load of that still keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SloLimits")]
pub struct SloFile {
    /// Limits of the arms' figures, each written as in `[gate]`: `"acquire_ms.p99 < 1000"`, `"bystander_ms.p99 < 50"`, `"nodes_cpu_percent < 150"`, for one arm `"lock/naive: acquire_ms.p99 < 5000"`.
    pub limits: Vec<Slo>,
}
