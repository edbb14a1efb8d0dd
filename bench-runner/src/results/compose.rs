//! Puts a run's figures together: the [`Summary`].

use std::time::{Duration, SystemTime};

use super::environment;
use super::summary::{Ensemble, Generator, Node, SCHEMA_VERSION, Summary};
use super::warnings::{self, Warning};
use crate::ensemble::{Description, NodeUsage};
use crate::measure::arm::{MeasuredArm, merge, merged};
use crate::measure::contrast::contrasts;
use crate::measure::histogram;
use crate::measure::trial::MeasuredTrial;
use crate::run::generator;
use crate::scenario::Scenario;

/// What is known of a run besides its trials.
pub struct Run<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The servers, as they were when they had started.
    pub ensemble: &'a Description,
    /// What the nodes have used so far.
    pub nodes: Vec<NodeUsage>,
    /// When the run began.
    pub started: SystemTime,
    /// How long it has taken.
    pub elapsed: Duration,
    /// Why it is not complete; `None` if it is.
    pub incomplete: Option<String>,
    /// The highest resident set of the generator in any trial, in bytes.
    pub peak_rss_bytes: u64,
    /// What was noticed on the way.
    pub noticed: Vec<Warning>,
}

/// The trials of each arm, in the order of the scenario's arms.
pub type TrialsByArm = Vec<Vec<MeasuredTrial>>;

/// The summary of a run, and its arms with the histograms that the figures are from. Arms without a trial are left out.
pub fn compose(run: &Run<'_>, trials: &TrialsByArm) -> (Summary, Vec<MeasuredArm>) {
    let scenario = run.scenario;
    let arms: Vec<MeasuredArm> = scenario
        .arms
        .iter()
        .zip(trials)
        .filter(|(_, trials)| !trials.is_empty())
        .map(|(arm, trials)| merge(arm, trials))
        .collect();
    let figures: Vec<_> = arms.iter().map(|arm| arm.figures.clone()).collect();
    let mut services: Vec<String> = scenario.arms.iter().map(|arm| arm.service.to_string()).collect();
    services.sort();
    services.dedup();
    let mut lags = histogram::empty();
    trials.iter().for_each(|trials| histogram::merge(&mut lags, &merged(trials, |trial| &trial.lags)));
    let generator = Generator {
        cpu_seconds: generator::cpu_seconds(),
        peak_rss_bytes: run.peak_rss_bytes.max(generator::memory().peak),
        lag_ms: histogram::latency(&lags),
        saturated: trials.iter().flatten().any(|trial| trial.saturated),
    };
    let environment = environment::collect(scenario, run.ensemble);
    let mut noticed = run.noticed.clone();
    noticed.extend(warnings::of_figures(&figures, &environment));
    if !scenario.ensemble.zookeeper.fsync {
        noticed.push(Warning::NoFsync);
    }
    let summary = Summary {
        schema_version: SCHEMA_VERSION,
        scenario: scenario.name.clone(),
        question: scenario.question.clone(),
        service: services.join(" + "),
        workers: scenario.arms.iter().map(|arm| arm.workers.workers).max().unwrap_or(0),
        complete: run.incomplete.is_none(),
        incomplete_reason: run.incomplete.clone(),
        started: humantime::format_rfc3339_seconds(run.started).to_string(),
        elapsed_seconds: run.elapsed.as_secs_f64(),
        ensemble: ensemble(run.ensemble),
        environment,
        settings: scenario.text.clone(),
        contrasts: contrasts(&figures),
        arms: figures,
        generator,
        nodes: nodes(run),
        warnings: noticed.iter().map(Warning::told).collect(),
    };
    (summary, arms)
}

fn ensemble(description: &Description) -> Ensemble {
    Ensemble {
        nodes: description.nodes.len() as u32,
        provider: description.provider.clone(),
        versions: [(description.service.clone(), description.version.clone())].into(),
        settings: description.settings.clone(),
    }
}

fn nodes(run: &Run<'_>) -> Vec<Node> {
    run.nodes
        .iter()
        .map(|usage| Node {
            name: usage.name.clone(),
            role: run
                .ensemble
                .nodes
                .iter()
                .find(|node| node.name == usage.name)
                .map(|node| node.role.to_string())
                .unwrap_or_default(),
            cpu_seconds: usage.cpu_seconds,
            peak_rss_bytes: usage.peak_rss_bytes,
        })
        .collect()
}
