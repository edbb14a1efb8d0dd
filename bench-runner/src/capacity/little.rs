//! Little's law as a check of every point: those who are there are as many as come by, times how long they stay (Little 1961).
//!
//! In a closed loop `N = X·(R + Z)`: N workers, X of them done a second, R seconds with the lock, Z seconds of rest. Where the
//! two sides differ, the trial was too short for the queue to turn over: most of those who waited longest were not done when
//! it ended, and its latencies are too low. In a drain and in an open loop the left side is the number of workers with the
//! lock in the mean over the time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Delay, Mode, Recipe};

use crate::measure::sizing::Sizing;
use crate::scenario::ArmSettings;

/// By how much the sides may differ, as a share.
pub const TOLERANCE: f64 = 0.1;

/// Both sides of the law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Little {
    /// Who is there: N.
    pub population: f64,
    /// Done a second: X.
    pub done_per_second: f64,
    /// Seconds with the lock, in the mean over those that were done: R.
    pub residence_seconds: f64,
    /// Seconds of rest, in the mean: Z.
    pub rest_seconds: f64,
    /// X·(R + Z) over N: 1 where the law holds.
    pub ratio: f64,
}

impl Little {
    /// Checks a trial; `None` where nobody was done, or nobody does anything.
    pub fn check(arm: &ArmSettings, sizing: &Sizing) -> Option<Little> {
        if arm.workers.recipe == Recipe::IdleSession {
            return None;
        }
        let residence_seconds = sizing.residence_seconds?;
        let (population, rest) = match arm.workers.mode {
            Mode::Closed => (f64::from(arm.workers.workers), arm.workers.think),
            _ => (sizing.population, Delay::NONE),
        };
        let rest_seconds = super::point::mean_ms(rest) / 1e3;
        let ratio = sizing.done_per_second * (residence_seconds + rest_seconds) / population;
        ratio.is_finite().then_some(Little {
            population,
            done_per_second: sizing.done_per_second,
            residence_seconds,
            rest_seconds,
            ratio,
        })
    }

    /// Whether the law holds, within [`TOLERANCE`].
    pub fn holds(&self) -> bool {
        (self.ratio - 1.0).abs() <= TOLERANCE
    }
}
