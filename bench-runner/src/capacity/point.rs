//! A point: one trial of one arm at given values of what is swept, as it is stored.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workloads::settings::{Delay, Mode, Recipe, Service};

use super::figure;
use super::little::Little;
use crate::gate::figures::of_trial;
use crate::measure::figures::Trial;
use crate::measure::sizing::Sizing;
use crate::scenario::ArmSettings;
use crate::scenario::gate::Metric;

/// Where a point is, and which of its repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The arm, from 0 in the order of the scenario.
    pub arm: usize,
    /// Value of the first variable.
    pub x: f64,
    /// Value of the second one; `null` where there is none.
    pub y: Option<f64>,
    /// Which repeat, from 1.
    pub repeat: u32,
}

impl Cell {
    /// Whether it is of the same curve: the arm, at the same second value.
    pub fn is_beside(&self, arm: usize, y: Option<f64>) -> bool {
        (self.arm, self.y) == (arm, y)
    }
}

/// One measured point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Where it is.
    #[serde(flatten)]
    pub cell: Cell,
    /// Its place among all points in the order in which they were measured, from 1.
    pub order: u32,
    /// When it was begun, UTC, RFC 3339.
    pub started: String,
    /// How long it took, connecting and tidying up included.
    pub spent_seconds: f64,
    /// Label of the arm.
    pub label: String,
    /// The recipe.
    pub recipe: Recipe,
    /// The service.
    pub service: Service,
    /// `drain`, `closed` or `open`.
    pub mode: String,
    /// Workers.
    pub workers: u32,
    /// Locks or elections.
    pub locks: u32,
    /// Nodes of the ensemble.
    pub nodes: u32,
    /// The rest of a worker between a grant and its next acquire, in the mean, milliseconds; 0 but in the closed mode.
    pub think_ms: f64,
    /// Why it is not complete, so that its figures are no capacity; `null` where it is.
    pub incomplete: Option<String>,
    /// Whether the generator was the limit, so that the figures are its own.
    pub saturated: bool,
    /// Requests that waited for the ceiling (`ensemble.max_rate`): with any, rates and latencies are the ceiling's.
    #[serde(default)]
    pub held_back: u64,
    /// Safety: what was violated; `null` where nothing was.
    pub violation: Option<String>,
    /// Little's law; `null` where nobody was done.
    pub little: Option<Little>,
    /// The figures by name; one that was not measured is missing.
    pub figures: BTreeMap<String, f64>,
}

/// What is known of a trial besides its arm and figures.
pub struct About {
    /// Its place among all points.
    pub order: u32,
    /// When it was begun.
    pub started: String,
    /// How long it took, in seconds.
    pub spent_seconds: f64,
    /// Nodes of the ensemble.
    pub nodes: u32,
}

impl Point {
    /// The point of a measured trial.
    pub fn measured(
        cell: Cell,
        about: About,
        arm: &ArmSettings,
        trial: &Trial,
        sizing: &Sizing,
        saturated: bool,
    ) -> Point {
        let mut figures: BTreeMap<String, f64> = BTreeMap::new();
        let mut add = |name: &str, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                figures.insert(name.to_owned(), value);
            }
        };
        Metric::ALL.iter().for_each(|metric| add(metric.name(), of_trial(trial, *metric)));
        // A grant's cost once the queue stands, in the place of the whole trial's.
        let per_grant = sizing.per_grant;
        add(figure::REQUESTS, per_grant.map(|cost| cost.requests));
        add(figure::NOTIFICATIONS, per_grant.map(|cost| cost.notifications));
        add(figure::BYTES, per_grant.map(|cost| cost.response_bytes));
        add(figure::REQUEST_RATE, Some(sizing.requests_per_second));
        add(figure::BYTE_RATE, Some(sizing.response_bytes_per_second));
        add(figure::RSS, sizing.nodes_rss_bytes);
        add(figure::WATCHES, sizing.nodes_watches);
        add(figure::SESSIONS, sizing.nodes_sessions);
        add(figure::DATA, sizing.nodes_data_bytes);
        add(super::compose::OTHERS, trial.other_cpu_share);
        let little = Little::check(arm, sizing);
        let violation = trial.safety.is_violated().then(|| "overlapping grants, or tokens out of order".to_owned());
        let incomplete = (!trial.complete).then(|| "it did not come to its planned end".to_owned());
        let held_back = trial.generator.held_back;
        Point { incomplete, saturated, held_back, violation, little, figures, ..Point::blank(cell, about, arm) }
    }

    /// The point of a trial that could not be brought to an end.
    pub fn failed(cell: Cell, about: About, arm: &ArmSettings, why: String) -> Point {
        Point { incomplete: Some(why), ..Point::blank(cell, about, arm) }
    }

    fn blank(cell: Cell, about: About, arm: &ArmSettings) -> Point {
        let settings = &arm.workers;
        let (mode, think) = match settings.mode {
            Mode::Drain => ("drain", Delay::NONE),
            Mode::Closed => ("closed", settings.think),
            Mode::Open(_) => ("open", Delay::NONE),
            Mode::Barriers { .. } => ("barriers", Delay::NONE),
        };
        Point {
            cell,
            order: about.order,
            started: about.started,
            spent_seconds: about.spent_seconds,
            label: arm.label.clone(),
            recipe: settings.recipe,
            service: arm.service,
            mode: mode.to_owned(),
            workers: settings.workers,
            locks: settings.resources,
            nodes: about.nodes,
            think_ms: mean_ms(think),
            incomplete: None,
            saturated: false,
            held_back: 0,
            violation: None,
            little: None,
            figures: BTreeMap::new(),
        }
    }

    /// A figure by name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    /// Whether its figures are those of a trial that came to its end.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none()
    }
}

/// The mean of a delay in milliseconds.
pub(super) fn mean_ms(delay: Delay) -> f64 {
    let mean = match delay {
        Delay::Fixed(length) | Delay::Exponential(length) => length.as_secs_f64(),
        Delay::Uniform(low, high) => (low.as_secs_f64() + high.as_secs_f64()) / 2.0,
        Delay::Forever => 0.0,
    };
    mean * 1e3
}
