//! `capacity.json`: everything that the report of a sweep shows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::Service;

use super::figure::Kind;
use super::models::{Candidate, Law};
use super::plan::Stopped;
use super::point::Point;
use crate::results::summary::{Environment, Warning};
use crate::scenario::gate::Slo;
use crate::scenario::{Axis, Variable};

/// Version of the format. Raised when a key changes its meaning or vanishes; new keys do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// How points were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// All points of the sweep.
    Sweep,
    /// Bisection towards the breaking point.
    Search,
}

/// What a sweep is of: `sweep.json`, written before the first point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// How points are chosen.
    pub method: Method,
    /// When it was begun first, UTC, RFC 3339.
    pub started: String,
    /// The machine and the versions.
    pub environment: Environment,
    /// Version of the server by service.
    pub versions: BTreeMap<String, String>,
    /// What was noticed when the servers were met last.
    #[serde(default)]
    pub noticed: Vec<Warning>,
}

/// A sweep: the whole of `capacity.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Version of this format, see [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// The question that the scenario answers, in its own words.
    pub question: Option<String>,
    /// The services under test, joined by ` + ` where there are several.
    pub service: String,
    /// How points were chosen.
    pub method: Method,
    /// When it was begun first, UTC, RFC 3339.
    pub started: String,
    /// Seconds that its points took, all in all, over every time it was resumed.
    pub spent_seconds: f64,
    /// Whether every planned point was measured. Partial results are kept, with `false` here.
    pub complete: bool,
    /// Why it is not complete; `null` if it is.
    pub incomplete_reason: Option<String>,
    /// What varied, the first one under the curves.
    pub variables: Vec<Axis>,
    /// How often each point was measured.
    pub repeats: u32,
    /// What the random order of the points was drawn with.
    pub seed: u64,
    /// How many times a limit had to be exceeded for a branch to end.
    pub stop_beyond: f64,
    /// The limits.
    pub limits: Vec<Slo>,
    /// How much each arm carries within the limits, for each value of the second variable.
    pub answers: Vec<Answer>,
    /// Branches that were ended early.
    pub stopped: Vec<Stopped>,
    /// What each figure follows.
    pub curves: Vec<Curve>,
    /// What the servers carried at the largest load that kept every limit.
    pub sizing: Vec<SizingRow>,
    /// The points in the order in which they were measured.
    pub points: Vec<Point>,
    /// The machine and the versions.
    pub environment: Environment,
    /// Version of the server by service.
    pub versions: BTreeMap<String, String>,
    /// The scenario as it was run, overrides included, as TOML.
    pub settings: String,
    /// What the reader has to know before trusting the figures.
    pub warnings: Vec<Warning>,
}

/// How far a load goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// A limit breaks at `value`.
    Breaks,
    /// A limit is broken at the smallest load already.
    AtOnce,
    /// No limit breaks up to twice what was measured.
    NotReached,
    /// Too little was measured to tell.
    Unknown,
}

/// Where a load breaks a limit: the first variable, with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitAnswer {
    /// The limit.
    pub limit: Slo,
    /// How far it goes.
    pub reach: Reach,
    /// The largest load within the limit by the curve; `null` unless it breaks.
    pub value: Option<f64>,
    /// Lower end of the interval: of the curve, and of what one run differs from it by. `null` where it is below everything
    /// that the curve is for.
    pub low: Option<f64>,
    /// Upper end; `null` where it is beyond twice what was measured.
    pub high: Option<f64>,
    /// The law that the figure follows.
    pub law: Law,
    /// Whether `value` is beyond what was measured.
    pub extrapolated: bool,
}

/// How much an arm carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Label of the arm.
    pub arm: String,
    /// The service.
    pub service: Service,
    /// Value of the second variable; `null` where there is none.
    pub y: Option<f64>,
    /// How far it goes.
    pub reach: Reach,
    /// The largest load within every limit; `null` unless one breaks.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; of a search, the largest load that was measured and kept.
    pub low: Option<f64>,
    /// Upper end; of a search, the smallest load that was measured and broken.
    pub high: Option<f64>,
    /// Which limit breaks first; `null` where none does, or where it was something else that ended the branch.
    pub breaks_first: Option<String>,
    /// Whether `value` is beyond what was measured.
    pub extrapolated: bool,
    /// The largest load that was measured and kept every limit.
    pub kept: Option<f64>,
    /// The smallest load that was measured and broke one.
    pub broken: Option<f64>,
    /// Each limit by itself.
    pub limits: Vec<LimitAnswer>,
}

/// A coefficient with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coefficient {
    /// Its name: `contention`, `exponent`, …
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Lower end; `null` where the points are too few to tell.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A place on a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// The first variable.
    pub x: f64,
    /// The curve.
    pub y: f64,
    /// Where 95 % of single runs are: lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether it is beyond what was measured.
    pub extrapolated: bool,
}

/// What a figure of an arm follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// Label of the arm.
    pub arm: String,
    /// Value of the second variable; `null` where there is none.
    pub y: Option<f64>,
    /// Name of the figure, as in the points.
    pub figure: String,
    /// What kind of thing it is.
    pub kind: Kind,
    /// The law that predicted best what it had not seen.
    pub law: Law,
    /// Its coefficients, fitted to all points.
    pub coefficients: Vec<Coefficient>,
    /// The exponent of a power law through the points, with its interval: how the figure grows, whatever law it follows. `null`
    /// where it is 0 somewhere.
    pub exponent: Option<Coefficient>,
    /// Where a scalability law peaks; `null` for other laws, and where it has no peak within twice what was measured.
    pub knee: Option<f64>,
    /// The places that were held out when the law was chosen; empty where there were too few.
    pub held_out: Vec<f64>,
    /// Median error of the chosen law at those places, as a share; `null` where none were held out.
    pub held_out_error: Option<f64>,
    /// How each law did.
    pub candidates: Vec<Candidate>,
    /// Points that the curve is fitted to.
    pub points: u32,
    /// Points that were left out: trials that did not end, and of latencies those at which Little's law does not hold.
    pub left_out: u32,
    /// The curve, up to twice the largest measured value.
    pub line: Vec<CurvePoint>,
}

/// What the servers carried, in the terms of sizing guides: medians of the repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizingRow {
    /// Nodes of the ensemble.
    pub nodes: u32,
    /// Label of the arm.
    pub arm: String,
    /// The service.
    pub service: Service,
    /// The first variable.
    pub variable: Variable,
    /// Its value: the largest that kept every limit; the smallest measured where none did.
    pub x: f64,
    /// Value of the second variable; `null` where there is none.
    pub y: Option<f64>,
    /// Whether every limit was kept.
    pub kept: bool,
    /// Clients, each with a session or lease of its own.
    pub clients: u32,
    /// The figures by name.
    pub figures: BTreeMap<String, f64>,
}
