//! Which point comes next: from the scenario, and from what has been measured so far and nothing else. A sweep that was
//! interrupted therefore goes on where it was, whatever interrupted it.
//!
//! | module | what it is |
//! |---|---|
//! | [`branch`] | a curve under way: where it broke a limit, and where it is stopped |
//! | [`sweep`] | all points, in an order drawn by the seed |
//! | [`search`] | bisection towards the point at which the first limit breaks |

pub mod branch;
pub mod search;
pub mod sweep;

pub use branch::{Rules, Stopped, stopped};

use super::point::{Cell, Point};
use crate::scenario::{Scenario, SweepSettings};

/// How points are chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// All points of the sweep.
    Sweep(Vec<Cell>),
    /// Whatever closes in on the breaking points.
    Search,
}

impl Plan {
    /// The plan of a scenario; `None` for one without a sweep.
    pub fn of(scenario: &Scenario, search: bool) -> Option<Plan> {
        let sweep = scenario.sweep.as_ref()?;
        Some(match search {
            true => Plan::Search,
            false => Plan::Sweep(sweep::order(sweep, scenario.arms.len(), scenario.seed)),
        })
    }

    /// The point to be measured next; `None` when all are.
    pub fn next(&self, rules: &Rules<'_>, sweep: &SweepSettings, arms: usize, done: &[Point]) -> Option<Cell> {
        match self {
            Plan::Sweep(order) => sweep::next(order, rules, done),
            Plan::Search => search::next(rules, sweep, arms, done),
        }
    }

    /// Those that are still to be measured, as far as they are known: a search finds out as it goes.
    pub fn left(&self, rules: &Rules<'_>, sweep: &SweepSettings, arms: usize, done: &[Point]) -> Vec<Cell> {
        match self {
            Plan::Sweep(order) => sweep::left(order, rules, done),
            Plan::Search => search::next(rules, sweep, arms, done).into_iter().collect(),
        }
    }
}
