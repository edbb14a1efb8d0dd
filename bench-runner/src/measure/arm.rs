//! All measured trials of an arm, merged.

use std::collections::BTreeMap;

use workloads::settings::Mode;

use super::figures::{
    Arm, Bystander, Fencing, GeneratorUse, KindCount, Notifications, Quantity, Requests, Safety, Series, Trial,
};
use super::histogram::{self, Micros};
use super::series::HeatSum;
use super::spike::SpikeSum;
use super::stages::Stages;
use super::trial::{MeasuredTrial, per};
use super::{barrier, failover, fan_out, split_brain};
use crate::scenario::ArmSettings;

/// An arm's figures, and the histograms that they are from.
pub struct MeasuredArm {
    /// The figures.
    pub figures: Arm,
    /// Latencies by stage, all trials.
    pub stages: Stages,
}

/// Merges the trials of `arm`.
pub fn merge(arm: &ArmSettings, trials: &[MeasuredTrial]) -> MeasuredArm {
    let figures: Vec<&Trial> = trials.iter().map(|trial| &trial.figures).collect();
    let sum = |of: fn(&Trial) -> u64| figures.iter().map(|trial| of(trial)).sum::<u64>();
    let grants = sum(|trial| trial.grants);
    let mut stages = Stages::default();
    let mut spike = SpikeSum::default();
    let mut heat = HeatSum::default();
    let mut fan_outs: Vec<u32> = Vec::new();
    for trial in trials {
        stages.merge(&trial.stages);
        spike.merge(&trial.spike);
        heat.merge(&trial.heat);
        fan_outs.extend(&trial.fan_outs);
    }
    fan_outs.sort_unstable();
    let rates: Vec<f64> = figures.iter().map(|trial| trial.grants_per_second).collect();
    let first = trials.first();
    let counters: Vec<_> = trials.iter().filter_map(|trial| trial.split_brain.as_ref()).collect();
    let figures = Arm {
        label: arm.label.clone(),
        recipe: arm.workers.recipe,
        service: arm.service,
        workers: arm.workers.workers,
        resources: arm.workers.resources,
        connections: arm.workers.connections,
        mode: mode_name(arm.workers.mode).to_owned(),
        trials: trials.len() as u32,
        grants,
        seconds: figures.iter().map(|trial| trial.seconds).sum(),
        grants_per_second: Quantity::of(&rates),
        requests: requests(&figures, grants, &spike),
        notifications: notifications(&figures),
        fan_out: fan_out::figures(&fan_outs),
        acquire_ms: histogram::latency(&stages.acquire),
        service_ms: histogram::latency(&stages.service),
        enqueue_ms: histogram::latency(&stages.enqueue),
        wait_ms: histogram::latency(&stages.wait),
        wake_to_grant_ms: histogram::latency(&stages.wake_to_grant),
        handoff_ms: histogram::latency(&stages.handoff),
        safety: safety(&figures),
        failover_ms: failover::latencies(figures.iter().flat_map(|trial| &trial.failovers)),
        failovers: failover::of_arm(
            &figures,
            first.and_then(|trial| trial.bounds),
            fencing(trials),
            trials.iter().map(|trial| trial.sessions_lost).sum(),
        ),
        bystander_ms: Bystander {
            rest: histogram::latency(&merged(trials, |trial| &trial.bystander_rest)),
            during: histogram::latency(&merged(trials, |trial| &trial.bystander_during)),
        },
        generator: generator(&figures, &merged(trials, |trial| &trial.lags)),
        nodes_cpu_seconds: figures.iter().map(|trial| trial.nodes_cpu_seconds).sum(),
        barriers: barrier::merge(
            &arm.workers,
            &trials.iter().filter_map(|trial| trial.barriers.as_ref()).collect::<Vec<_>>(),
            &requests(&figures, grants, &spike),
        ),
        split_brain: split_brain::merge(&counters),
        control: split_brain::control(
            &arm.workers,
            &safety(&figures),
            &notifications(&figures),
            &fan_out::figures(&fan_outs),
            grants,
        ),
        trial: figures.into_iter().cloned().collect(),
        series: Series {
            percentiles: stages
                .named()
                .into_iter()
                .filter(|(_, histogram)| !histogram.is_empty())
                .map(|(stage, histogram)| (stage.to_owned(), histogram::curve(histogram)))
                .collect(),
            spike: spike.spike(),
            fan_out_bins: fan_out::bins(&fan_outs),
            fan_out_points: first.map(|trial| trial.fan_out_points.clone()).unwrap_or_default(),
            heat_map: heat.heat_map(),
            rates: first.map(|trial| trial.rates.clone()).unwrap_or_default(),
            nodes: first.map(|trial| trial.nodes.clone()).unwrap_or_default(),
            leaderships: first.map(|trial| trial.leaderships.clone()).unwrap_or_default(),
            stale_writes: counters.first().map(|counter| counter.stale.clone()).unwrap_or_default(),
        },
    };
    MeasuredArm { figures, stages }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Drain => "drain",
        Mode::Closed => "closed",
        Mode::Open(_) => "open",
        Mode::Barriers { settled: false, .. } => "barriers",
        Mode::Barriers { settled: true, .. } => "rounds",
    }
}

/// The histograms of all trials in one.
pub fn merged<'a>(trials: &'a [MeasuredTrial], of: impl Fn(&'a MeasuredTrial) -> &'a Micros) -> Micros {
    let mut all = histogram::empty();
    trials.iter().for_each(|trial| histogram::merge(&mut all, of(trial)));
    all
}

fn requests(trials: &[&Trial], grants: u64, spike: &SpikeSum) -> Requests {
    let total = trials.iter().map(|trial| trial.requests.total).sum();
    let response_bytes = trials.iter().map(|trial| trial.requests.response_bytes).sum();
    let seconds: f64 = trials.iter().map(|trial| trial.seconds).sum();
    let weighted: f64 = trials.iter().map(|trial| trial.requests.mean_10ms * trial.seconds).sum();
    let mut by_kind: BTreeMap<String, KindCount> = BTreeMap::new();
    for (kind, count) in trials.iter().flat_map(|trial| &trial.requests.by_kind) {
        let sum = by_kind.entry(kind.clone()).or_default();
        sum.requests += count.requests;
        sum.response_bytes += count.response_bytes;
    }
    Requests {
        total,
        per_grant: per(total, grants),
        peak_10ms: trials.iter().map(|trial| trial.requests.peak_10ms).max().unwrap_or(0),
        mean_10ms: if seconds > 0.0 { weighted / seconds } else { 0.0 },
        response_bytes,
        response_bytes_per_grant: per(response_bytes, grants),
        after_release_100ms: spike.window().map(|(mean, _)| mean),
        after_release_100ms_max: spike.window().map(|(_, max)| max),
        server_packets_received: all(trials.iter().map(|trial| trial.requests.server_packets_received)),
        by_kind,
    }
}

fn notifications(trials: &[&Trial]) -> Notifications {
    let add = |of: fn(&Notifications) -> &BTreeMap<String, u64>| {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, count) in trials.iter().flat_map(|trial| of(&trial.notifications)) {
            *sums.entry(kind.clone()).or_default() += count;
        }
        sums
    };
    Notifications {
        client: trials.iter().map(|trial| trial.notifications.client).sum(),
        server: all(trials.iter().map(|trial| trial.notifications.server)),
        server_missing: trials.iter().find_map(|trial| trial.notifications.server_missing.clone()),
        expected: all(trials.iter().map(|trial| trial.notifications.expected)),
        untracked: trials.iter().map(|trial| trial.notifications.untracked).sum(),
        client_by_kind: add(|notifications| &notifications.client_by_kind),
        server_by_kind: add(|notifications| &notifications.server_by_kind),
    }
}

/// The sum, or `None` if any trial lacks the figure: a sum over some of them would pass for one over all. No trials, no sum.
fn all(values: impl ExactSizeIterator<Item = Option<u64>>) -> Option<u64> {
    if values.len() == 0 { None } else { values.sum() }
}

fn safety(trials: &[&Trial]) -> Safety {
    let sum = |of: fn(&Safety) -> u64| trials.iter().map(|trial| of(&trial.safety)).sum();
    Safety {
        overlaps: sum(|safety| safety.overlaps),
        overlaps_asked: sum(|safety| safety.overlaps_asked),
        longest_overlap_us: trials.iter().map(|trial| trial.safety.longest_overlap_us).max().unwrap_or(0),
        token_regressions: sum(|safety| safety.token_regressions),
        token_regressions_asked: sum(|safety| safety.token_regressions_asked),
        lost_updates: all(trials.iter().map(|trial| trial.safety.lost_updates)),
        lost_updates_asked: sum(|safety| safety.lost_updates_asked),
        fifo_inversions: sum(|safety| safety.fifo_inversions),
        starved: sum(|safety| safety.starved),
        failed: sum(|safety| safety.failed),
        early_passages: sum(|safety| safety.early_passages),
    }
}

fn fencing(trials: &[MeasuredTrial]) -> Fencing {
    let sum = |of: fn(&Fencing) -> u64| trials.iter().map(|trial| of(&trial.fencing)).sum();
    Fencing {
        accepted: sum(|fencing| fencing.accepted),
        refused: sum(|fencing| fencing.refused),
        told: sum(|fencing| fencing.told),
        acted_stale: sum(|fencing| fencing.acted_stale),
    }
}

fn generator(trials: &[&Trial], lags: &Micros) -> GeneratorUse {
    let cpu_seconds: f64 = trials.iter().map(|trial| trial.generator.cpu_seconds).sum();
    let all_cpu =
        trials.iter().map(|trial| trial.nodes_cpu_seconds).sum::<Option<f64>>().map(|nodes| cpu_seconds + nodes);
    let largest = |of: fn(&GeneratorUse) -> u64| trials.iter().map(|trial| of(&trial.generator)).max().unwrap_or(0);
    GeneratorUse {
        cpu_seconds,
        cpu_share: all_cpu.map(|all| if all > 0.0 { cpu_seconds / all } else { 0.0 }),
        held_back: trials.iter().map(|trial| trial.generator.held_back).sum(),
        peak_rss_bytes: largest(|generator| generator.peak_rss_bytes),
        rss_per_worker_bytes: largest(|generator| generator.rss_per_worker_bytes),
        lag_ms_p99: histogram::latency(lags).p99.unwrap_or(0.0),
    }
}
