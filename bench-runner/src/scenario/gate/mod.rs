//! `[gate]` of a scenario: how `bench-runner gate` and `bench-runner compare` judge its figures.

mod metric;
mod slo;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use metric::{Better, Kind, Metric, NoMetric};
pub use slo::{Relation, Slo};

use super::path::KeyPath;
use super::problem::{Problem, Problems};

/// How the figures are judged against a baseline, or one variant against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Gate")]
pub struct GateFile {
    /// How likely it may be that any time or rate at all is called changed in one round where nothing changed, 0.0001 to 0.2; shared among the metrics.
    #[schemars(range(min = 0.0001, max = 0.2))]
    pub alpha: f64,
    /// Whether a regression is measured a second time before it is called one.
    pub confirm: bool,
    /// By how much the share of the machine's CPU that other programs take may differ between the two runs, 0 to 1; beyond it, times and rates are not judged. Little is much: where others took 2 to 7 points more, handoffs took half as long again (measured; docs/ci/README.md).
    #[schemars(range(min = 0, max = 1))]
    pub busy: f64,
    /// The largest share of the machine's CPU that other programs may take in either run, 0 to 1; beyond it, times and rates are not judged. (With `--against` they are: both variants see the same.)
    #[schemars(range(min = 0, max = 1))]
    pub crowded: f64,
    /// Absolute limits of the arms' figures: `"acquire_ms.p99 < 500"`, for one arm `"lock/sequential: fan_out.mean <= 1"`.
    pub slo: Vec<Slo>,
    /// What differs from the defaults for a metric, by its name in quotes: `[gate.metric."handoff_ms.p50"]`.
    pub metric: BTreeMap<Metric, MetricFile>,
}

impl Default for GateFile {
    fn default() -> Self {
        GateFile { alpha: 0.01, confirm: true, busy: 0.02, crowded: 0.3, slo: Vec::new(), metric: BTreeMap::new() }
    }
}

/// How one metric is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "GateMetric")]
pub struct MetricFile {
    /// The change that is still none, as a share: 0.1 is 10 per cent; 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0, max = 10))]
    pub band: Option<f64>,
    /// Which way is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Better")]
    pub better: Option<Better>,
    /// Whether it is judged at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub gated: Option<bool>,
}

impl GateFile {
    /// The change of a metric that is still none, as a share.
    pub fn band(&self, metric: Metric) -> f64 {
        self.of(metric).band.unwrap_or(metric.band())
    }

    /// Whether the scenario itself states the band.
    pub fn states_band(&self, metric: Metric) -> bool {
        self.of(metric).band.is_some()
    }

    /// Which way a metric is better.
    pub fn better(&self, metric: Metric) -> Better {
        self.of(metric).better.unwrap_or(metric.better())
    }

    /// Whether a metric is judged.
    pub fn gated(&self, metric: Metric) -> bool {
        self.of(metric).gated.unwrap_or(metric.gated())
    }

    fn of(&self, metric: Metric) -> MetricFile {
        self.metric.get(&metric).copied().unwrap_or_default()
    }
}

/// Judges what the types cannot: ranges, and limits of arms that are not there.
pub(super) fn validate(gate: &GateFile, labels: &[&str], problems: &mut Problems) {
    let path = KeyPath::from("gate");
    let mut share = |path: &KeyPath, value: f64, least: f64, most: f64, remedy: &str| {
        if !(least..=most).contains(&value) {
            let message = format!("`{}` is {value}, and must be {least} to {most}", path.last_key());
            problems.spoil(path, Problem::value(path, message).remedy(remedy));
        }
    };
    share(&path.key("alpha"), gate.alpha, 0.0001, 0.2, "0.01 is one false alarm in a hundred rounds at the most");
    share(&path.key("busy"), gate.busy, 0.0, 1.0, "0.02 is a fiftieth of the machine; 1 judges whatever others do");
    share(&path.key("crowded"), gate.crowded, 0.0, 1.0, "0.3 is three tenths of the machine");
    for (metric, settings) in &gate.metric {
        if let Some(band) = settings.band {
            share(&path.key("metric").key(metric.name()).key("band"), band, 0.0, 10.0, "0.1 is 10 per cent");
        }
    }
    arms_of_limits(&gate.slo, &path.key("slo"), labels, problems);
}

/// Sees that the arms that limits are for are there; the limits stand in the list at `path`.
pub(super) fn arms_of_limits(limits: &[Slo], path: &KeyPath, labels: &[&str], problems: &mut Problems) {
    for (index, slo) in limits.iter().enumerate() {
        let Some(arm) = &slo.arm else { continue };
        if !labels.contains(&arm.as_str()) {
            let path = path.index(index);
            let remedy = format!("the arms are {}", super::similar::list(labels.iter().copied()));
            problems.add(&[&path], Problem::value(&path, format!("there is no arm `{arm}`")).remedy(remedy));
        }
    }
}
