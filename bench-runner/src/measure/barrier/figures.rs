//! The figures of barriers: plain data for `summary.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Recipe, Service};

use crate::measure::figures::{Latency, Quantity};

/// Barriers in one measured trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BarrierTrial {
    /// How many barriers.
    pub barriers: u32,
    /// Enters that ended (of a single barrier: waits).
    pub enters: u64,
    /// Leaves that ended.
    pub leaves: u64,
    /// Seconds that a member took for all barriers, in the mean over the members.
    pub client_seconds: Option<f64>,
    /// Enters and leaves a second, over all members.
    pub operations_per_second: Option<f64>,
    /// Requests for each enter or leave.
    pub requests_per_operation: Option<f64>,
    /// Response bytes for each enter or leave.
    pub response_bytes_per_operation: Option<f64>,
    /// Wake-ups on the way in.
    pub wakeups_in: u64,
    /// Wake-ups on the way out.
    pub wakeups_out: u64,
    /// Members that were inside before all had arrived.
    pub early_entries: u64,
    /// Members that were out before all had finished.
    pub early_leaves: u64,
}

/// Barriers in an arm, over its measured trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Barriers {
    /// How many barriers in each trial.
    pub barriers: u32,
    /// Whether each was passed so that its notifications are a closed form (mode `rounds`).
    pub settled: bool,
    /// Enter called to returned, of each member at each barrier. (Of a single barrier: wait.)
    pub enter_ms: Latency,
    /// Leave called to returned.
    pub leave_ms: Latency,
    /// From the first member inside to the last, of each barrier.
    pub enter_skew_ms: Latency,
    /// From the first member out to the last, of each barrier.
    pub leave_skew_ms: Latency,
    /// Seconds that a member took to enter all barriers and leave all, in the mean over the members.
    pub client_seconds: Quantity,
    /// The same for each barrier and each member: what is left when neither costs more in company.
    pub seconds_per_barrier_and_client: f64,
    /// Enters and leaves, summed over the trials.
    pub operations: u64,
    /// Enters and leaves a second, over all members.
    pub operations_per_second: Quantity,
    /// Requests for each enter or leave.
    pub requests_per_operation: Option<f64>,
    /// Response bytes for each enter or leave.
    pub response_bytes_per_operation: Option<f64>,
    /// Wake-ups on the way into one barrier, of all members together.
    pub wakeups_per_enter: Option<f64>,
    /// Wake-ups on the way out of one barrier, of all members together.
    pub wakeups_per_leave: Option<f64>,
    /// Members that were inside before all had arrived: must be 0.
    pub early_entries: u64,
    /// Members that were out before all had finished: must be 0.
    pub early_leaves: u64,
    /// The skews of the way in, in bins of equal width.
    pub skew_bins: Vec<SkewBin>,
    /// The members' ways through one barrier in the middle of the first trial, by arrival; thinned to at most 400.
    pub door: Vec<DoorLine>,
}

/// How often a skew occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkewBin {
    /// Lower edge, milliseconds.
    pub from_ms: f64,
    /// Upper edge.
    pub to_ms: f64,
    /// Barriers.
    pub barriers: u64,
}

/// One member's way through one barrier, in milliseconds since the first member arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoorLine {
    /// Enter was called.
    pub arrived_ms: f64,
    /// The member was inside.
    pub released_ms: Option<f64>,
    /// Leave was called.
    pub leaving_ms: Option<f64>,
    /// The member was out.
    pub left_ms: Option<f64>,
}

/// How the notifications of a recipe grow with its members, over the arms that differ in their number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// The recipe.
    pub recipe: Recipe,
    /// The service.
    pub service: Service,
    /// Members and notifications of one barrier, in and out.
    pub points: Vec<GrowthPoint>,
    /// The exponent e of the power law c·Nᵉ that fits best, by least squares of the logarithms.
    pub exponent: f64,
    /// Its factor c.
    pub factor: f64,
}

/// One arm's point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthPoint {
    /// Members.
    pub members: u32,
    /// Notifications for each barrier.
    pub notifications: f64,
}
