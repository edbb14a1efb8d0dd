//! `[sweep]`: what `bench-runner capacity` varies, and how often it measures each point.

mod at;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::Span;

pub(super) use at::at_first_point;
pub(super) use validate::validate;

/// What `bench-runner capacity` varies: one or two of the lists. Each point is a run of one arm with these values in the place
/// of what the scenario says elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Sweep")]
pub struct SweepFile {
    /// Numbers of workers, in the place of `workers.count`.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub workers: Vec<u32>,
    /// Arrivals a second, in the place of `workers.arrivals.rate`; every arm needs the open mode.
    #[schemars(inner(range(min = 0, max = 1_000_000)))]
    pub arrival_rate: Vec<f64>,
    /// Numbers of locks or elections, in the place of `workers.locks`.
    #[schemars(inner(range(min = 1)))]
    pub locks: Vec<u32>,
    /// Lengths of the hold, in the place of `workers.hold`; always the same length.
    pub hold: Vec<Span>,
    /// Session timeouts, in the place of `workers.session_timeout`.
    pub session_timeout: Vec<Span>,
    /// Numbers of servers, in the place of `ensemble.nodes`. The servers are started anew for each; for everything else they stay up.
    #[schemars(inner(range(min = 1, max = 9)))]
    pub nodes: Vec<u32>,
    /// How often each point is measured, 1 to 100. The spread between the repeats is in every interval.
    #[schemars(range(min = 1, max = 100))]
    pub repeats: u32,
    /// A branch (an arm, at one value of the second variable) ends early once a limit of `[slo]` is exceeded so many times by two points of one place (by one, where there are no repeats), 1 to 1,000.
    #[schemars(range(min = 1, max = 1000))]
    pub stop_beyond: f64,
}

impl Default for SweepFile {
    fn default() -> Self {
        SweepFile {
            workers: Vec::new(),
            arrival_rate: Vec::new(),
            locks: Vec::new(),
            hold: Vec::new(),
            session_timeout: Vec::new(),
            nodes: Vec::new(),
            repeats: 3,
            stop_beyond: 3.0,
        }
    }
}

/// Something that a sweep varies. Of two, the one that stands first here is the one that curves run over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variable {
    /// Workers.
    Workers,
    /// Arrivals a second over all workers.
    ArrivalRate,
    /// Locks or elections.
    Locks,
    /// Length of the hold, milliseconds.
    Hold,
    /// Session timeout, milliseconds.
    SessionTimeout,
    /// Nodes of the ensemble.
    Nodes,
}

impl Variable {
    /// All of them.
    pub const ALL: [Variable; 6] = [
        Variable::Workers,
        Variable::ArrivalRate,
        Variable::Locks,
        Variable::Hold,
        Variable::SessionTimeout,
        Variable::Nodes,
    ];

    /// Its key in `[sweep]`.
    pub fn key(self) -> &'static str {
        match self {
            Variable::Workers => "workers",
            Variable::ArrivalRate => "arrival_rate",
            Variable::Locks => "locks",
            Variable::Hold => "hold",
            Variable::SessionTimeout => "session_timeout",
            Variable::Nodes => "nodes",
        }
    }

    /// Whether it is counted in whole numbers.
    pub fn is_whole(self) -> bool {
        matches!(self, Variable::Workers | Variable::Locks | Variable::Nodes)
    }

    /// Whether more of it is more load, so that what is beyond a broken limit is broken too.
    pub fn is_load(self) -> bool {
        matches!(self, Variable::Workers | Variable::ArrivalRate | Variable::Hold)
    }
}

/// A variable and the values that it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// What varies.
    pub variable: Variable,
    /// Rising, each once; counts, arrivals a second, or milliseconds.
    pub values: Vec<f64>,
}

/// A sweep with its values in order.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepSettings {
    /// What curves run over.
    pub first: Axis,
    /// What each curve is at one value of.
    pub second: Option<Axis>,
    /// How often each point is measured.
    pub repeats: u32,
    /// How many times a limit has to be exceeded for a branch to end.
    pub stop_beyond: f64,
}

impl SweepFile {
    /// The variables that it has values for, in the order of [`Variable`].
    pub(super) fn axes(&self) -> Vec<Axis> {
        let millis = |spans: &[Span]| spans.iter().map(|span| span.0.as_secs_f64() * 1e3).collect::<Vec<_>>();
        let whole = |counts: &[u32]| counts.iter().copied().map(f64::from).collect::<Vec<_>>();
        let values = |variable: Variable| match variable {
            Variable::Workers => whole(&self.workers),
            Variable::ArrivalRate => self.arrival_rate.clone(),
            Variable::Locks => whole(&self.locks),
            Variable::Hold => millis(&self.hold),
            Variable::SessionTimeout => millis(&self.session_timeout),
            Variable::Nodes => whole(&self.nodes),
        };
        let axis = |variable: Variable| {
            let mut values = values(variable);
            values.sort_by(f64::total_cmp);
            Axis { variable, values }
        };
        Variable::ALL.into_iter().map(axis).filter(|axis| !axis.values.is_empty()).collect()
    }

    /// The settings; `None` where `validate` has something to say.
    pub(super) fn resolve(&self) -> Option<SweepSettings> {
        let mut axes = self.axes().into_iter();
        let first = axes.next()?;
        Some(SweepSettings { first, second: axes.next(), repeats: self.repeats, stop_beyond: self.stop_beyond })
    }
}
