//! Puts a run's figures together: the [`Summary`].

use std::time::{Duration, SystemTime};

use workloads::settings::Service;

use super::environment;
use super::summary::{Ensemble, Generator, Node, SCHEMA_VERSION, Summary};
use super::warnings::{self, Warning};
use crate::ensemble::{Description, NodeUsage};
use crate::measure::arm::{MeasuredArm, merge, merged};
use crate::measure::barrier::growth::growths;
use crate::measure::contrast::contrasts;
use crate::measure::histogram;
use crate::measure::trial::MeasuredTrial;
use crate::run::generator;
use crate::scenario::Scenario;

/// What is known of a run besides its trials.
pub struct Run<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The servers of each service, as they were when they had started.
    pub ensembles: &'a [Description],
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
    let services: Vec<String> = scenario.services().iter().map(ToString::to_string).collect();
    let mut lags = histogram::empty();
    trials.iter().for_each(|trials| histogram::merge(&mut lags, &merged(trials, |trial| &trial.lags)));
    let generator = Generator {
        cpu_seconds: generator::cpu_seconds(),
        peak_rss_bytes: run.peak_rss_bytes.max(generator::memory().peak),
        lag_ms: histogram::latency(&lags),
        saturated: trials.iter().flatten().any(|trial| trial.saturated),
        held_back: figures.iter().map(|arm| arm.generator.held_back).sum(),
    };
    let environment = environment::collect(scenario, run.ensembles);
    let mut noticed = run.noticed.clone();
    noticed.extend(warnings::of_figures(&figures));
    // External servers are on processors of their own, as far as is known.
    if scenario.ensemble.external.is_none() {
        noticed.extend(warnings::of_machine(&environment));
    }
    if let Some(rate) = scenario.ensemble.max_rate {
        let held_back = figures.iter().filter(|arm| arm.generator.held_back > 0);
        noticed.extend(held_back.map(|arm| Warning::HeldBack {
            label: arm.label.clone(),
            requests: arm.generator.held_back,
            rate,
        }));
    }
    if scenario.ensemble.external.is_some() {
        noticed.push(Warning::External);
    }
    for service in scenario.services() {
        let fsync = match service {
            Service::Zookeeper => scenario.ensemble.zookeeper.fsync,
            Service::Etcd => scenario.ensemble.etcd.fsync,
        };
        if !fsync {
            noticed.push(Warning::NoFsync { service });
        }
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
        ensemble: ensemble(run),
        environment,
        settings: scenario.text.clone(),
        contrasts: contrasts(&figures),
        growth: growths(&figures),
        arms: figures,
        generator,
        nodes: nodes(run),
        warnings: noticed.iter().map(Warning::told).collect(),
    };
    (summary, arms)
}

fn ensemble(run: &Run<'_>) -> Ensemble {
    // The names of settings are each server's own; a word that both use says whose it is.
    let is_shared = |name: &String| run.ensembles.iter().filter(|one| one.settings.contains_key(name)).count() > 1;
    let named = |one: &Description, name: &String| match is_shared(name) {
        true => format!("{} {name}", one.service),
        false => name.clone(),
    };
    Ensemble {
        nodes: run.scenario.ensemble.nodes,
        provider: run.ensembles.first().map(|one| one.provider.clone()).unwrap_or_default(),
        versions: run.ensembles.iter().map(|one| (one.service.clone(), one.version.clone())).collect(),
        settings: run
            .ensembles
            .iter()
            .flat_map(|one| one.settings.iter().map(move |(name, value)| (named(one, name), value.clone())))
            .collect(),
    }
}

/// Why a node's CPU and memory are missing.
const NOT_SEEN: &str = "the node is not a process of this machine that bench-runner has started";
/// The same of a container.
const NOT_SEEN_INSIDE: &str = "the container's processes are not in this machine's /proc: Docker's engine is on another machine, in a \
                               virtual one, or in a namespace of its own";

fn nodes(run: &Run<'_>) -> Vec<Node> {
    let why = if run.scenario.ensemble.docker.is_some() { NOT_SEEN_INSIDE } else { NOT_SEEN };
    run.nodes
        .iter()
        .map(|usage| Node {
            name: usage.name.clone(),
            role: run
                .ensembles
                .iter()
                .flat_map(|ensemble| &ensemble.nodes)
                .find(|node| node.name == usage.name)
                .map(|node| node.role.to_string())
                .unwrap_or_default(),
            cpu_seconds: usage.cpu_seconds,
            peak_rss_bytes: usage.peak_rss_bytes,
            usage_missing: usage.cpu_seconds.is_none().then(|| why.to_owned()),
        })
        .collect()
}
