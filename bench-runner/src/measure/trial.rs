//! One trial: from millions of raw counts to a few histograms, series and figures.

use std::collections::BTreeMap;

use workloads::record::{EventKind, RequestKind};
use workloads::settings::{Delay, Service};

use super::barrier::{self, MeasuredBarriers};
use super::figures::{
    Bystander, DetectionBounds, Fencing, GeneratorUse, KindCount, Leadership, NodesPoint, Notifications, RatePoint,
    Requests, Trial,
};
use super::histogram::{self, Micros};
use super::series::{self, HeatSum};
use super::spike::{self, SpikeSum};
use super::split_brain::{self, MeasuredSplitBrain};
use super::stages::Stages;
use super::{closed_form, failover, fan_out, safety};
use crate::ensemble::Kinds;
use crate::run::recording::{End, TrialRecording};
use crate::scenario::{ArmSettings, Scenario};

/// How late a timer task may run in the 99th percentile, in milliseconds, before the generator counts as saturated. The herd
/// alone makes the generator handle a thousand notifications in one go, which takes it some tens of milliseconds; beyond
/// this, waiting for the generator is a sizeable part of what it measures.
pub const SATURATED_LAG_MS: f64 = 100.0;
/// The share of one processor that the generator may use before it counts as saturated: its workers run on one thread.
pub const SATURATED_CPU: f64 = 0.9;

/// A measured trial, and what is needed to merge it with the others of its arm.
pub struct MeasuredTrial {
    /// The figures.
    pub figures: Trial,
    /// Latencies by stage.
    pub stages: Stages,
    /// Bystanders at rest.
    pub bystander_rest: Micros,
    /// Bystanders during contention.
    pub bystander_during: Micros,
    /// How late the generator's timer task ran.
    pub lags: Micros,
    /// Whether the generator was the limit.
    pub saturated: bool,
    pub(super) fan_outs: Vec<u32>,
    pub(super) fan_out_points: Vec<super::figures::FanOutPoint>,
    pub(super) spike: SpikeSum,
    pub(super) heat: HeatSum,
    pub(super) rates: Vec<RatePoint>,
    pub(super) nodes: Vec<NodesPoint>,
    /// `None` where the scenario has no faults.
    pub(super) bounds: Option<DetectionBounds>,
    pub(super) fencing: Fencing,
    pub(super) sessions_lost: u64,
    pub(super) leaderships: Vec<Leadership>,
    pub(super) barriers: Option<MeasuredBarriers>,
    pub(super) split_brain: Option<MeasuredSplitBrain>,
}

/// Measures one trial of `arm`.
pub fn measure(scenario: &Scenario, arm: &ArmSettings, recording: &TrialRecording) -> MeasuredTrial {
    let workers = &recording.workers;
    let acquisitions = &workers.acquisitions;
    let seconds = workers.length as f64 / 1e9;
    let locks = safety::by_lock(acquisitions);
    let stages = Stages::of(acquisitions, &locks);
    let releases = fan_out::releases(acquisitions, &workers.fan_out);
    let mut fan_outs: Vec<u32> = releases.iter().map(|release| release.notifications).collect();
    fan_outs.sort_unstable();
    let spike = SpikeSum::of(acquisitions, &workers.timeline);
    let grants = acquisitions.iter().filter(|acquisition| acquisition.is_granted()).count() as u64;
    let in_time = acquisitions
        .iter()
        .filter(|acquisition| acquisition.is_granted() && acquisition.granted <= workers.length)
        .count() as u64;
    let waiting = acquisitions.iter().filter(|acquisition| !acquisition.is_granted()).count() as u64;

    let of_nanos = |nanos: &[u64]| {
        let mut histogram = histogram::empty();
        nanos.iter().for_each(|nanos| histogram::record(&mut histogram, *nanos));
        histogram
    };
    let bystander_rest = of_nanos(&recording.bystanders.rest);
    let bystander_during = of_nanos(&recording.bystanders.contention);
    let mut lags = histogram::empty();
    recording.generator.lags.iter().for_each(|micros| histogram::record(&mut lags, u64::from(*micros) * 1_000));
    let generator = generator_use(arm, recording, &lags);
    let saturated = generator.lag_ms_p99 > SATURATED_LAG_MS || generator.cpu_seconds > SATURATED_CPU * seconds;

    let requests = requests(recording, grants, &spike);
    let barriers = barrier::measure(&arm.workers, &recording.passages, &requests);
    let split_brain = split_brain::measure(&recording.updates, acquisitions, workers.length);
    let figures = Trial {
        position: recording.planned.position,
        seconds,
        complete: recording.end == End::Complete,
        grants,
        grants_per_second: if seconds > 0.0 { in_time as f64 / seconds } else { 0.0 },
        unserved: recording.arrivals_left.map(|left| left + waiting),
        requests,
        notifications: notifications(arm, recording),
        fan_out: fan_out::figures(&fan_outs),
        acquire_ms: histogram::latency(&stages.acquire),
        handoff_ms: histogram::latency(&stages.handoff),
        safety: safety::with_barriers(
            barriers.as_ref(),
            safety::check(
                acquisitions,
                &safety::Rules {
                    workers: arm.workers.workers,
                    for_ever: arm.workers.hold == Delay::Forever,
                    queues_ahead: arm.workers.auto_requeue && arm.service == Service::Zookeeper,
                    length: workers.length,
                    control: arm.workers.is_control(),
                },
            ),
        ),
        bystander_ms: Bystander {
            rest: histogram::latency(&bystander_rest),
            during: histogram::latency(&bystander_during),
        },
        generator,
        nodes_cpu_seconds: recording.nodes_cpu_seconds,
        other_cpu_share: recording.other_cpu_share,
        failovers: failover::of_trial(recording),
        barriers: barriers.as_ref().map(|barriers| barriers.figures),
        split_brain: split_brain.as_ref().map(|counter| counter.figures),
    };
    let figures = Trial {
        safety: split_brain::with_updates(&recording.updates, acquisitions, arm.workers.is_control(), figures.safety),
        ..figures
    };
    let shows_holders = arm.workers.precautions.faults || arm.workers.updates.is_some() || arm.workers.is_control();
    MeasuredTrial {
        figures,
        stages,
        bystander_rest,
        bystander_during,
        lags,
        saturated,
        fan_outs,
        fan_out_points: fan_out::points(&releases),
        spike,
        heat: HeatSum::of(acquisitions),
        rates: series::rates(acquisitions, &workers.timeline, workers.length),
        nodes: series::nodes(&recording.samples),
        bounds: arm.workers.precautions.faults.then(|| failover::bounds(arm, scenario)),
        fencing: failover::fencing(recording),
        sessions_lost: recording.sessions_lost,
        leaderships: match shows_holders {
            true => failover::leaderships(acquisitions, workers.length),
            false => Vec::new(),
        },
        barriers,
        split_brain,
    }
}

/// `sum / count`, or `None` for no count.
pub(super) fn per(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn requests(recording: &TrialRecording, grants: u64, spike: &SpikeSum) -> Requests {
    let tally = &recording.workers.tally;
    let timeline = &recording.workers.timeline;
    let total = tally.total_requests();
    let response_bytes = tally.total_response_bytes();
    let window = spike.window();
    let in_timeline: u64 = timeline.iter().map(|slot| u64::from(slot.requests)).sum();
    let buckets = timeline.len().div_ceil(spike::SLOTS_PER_BUCKET) as u64;
    let by_kind = RequestKind::ALL
        .into_iter()
        .map(|kind| {
            let count = KindCount {
                requests: tally.requests[kind as usize],
                response_bytes: tally.response_bytes[kind as usize],
            };
            (kind.name().to_owned(), count)
        })
        .filter(|(_, count)| count.requests > 0)
        .collect();
    Requests {
        total,
        per_grant: per(total, grants),
        peak_10ms: spike::peak(timeline),
        mean_10ms: per(in_timeline, buckets).unwrap_or(0.0),
        response_bytes,
        response_bytes_per_grant: per(response_bytes, grants),
        after_release_100ms: window.map(|(mean, _)| mean),
        after_release_100ms_max: window.map(|(_, max)| max),
        server_packets_received: recording.counters.map(|counters| counters.packets_received),
        by_kind,
    }
}

fn notifications(arm: &ArmSettings, recording: &TrialRecording) -> Notifications {
    let tally = &recording.workers.tally;
    let client_by_kind: BTreeMap<String, u64> = EventKind::ALL
        .into_iter()
        .map(|kind| (kind.name().to_owned(), tally.notifications[kind as usize]))
        .filter(|(_, count)| *count > 0)
        .collect();
    // Counters that were read while notifications were still under way would differ for that reason alone.
    let servers = recording.counters.filter(|_| recording.missing_book.is_none()).and_then(|all| all.notifications);
    let complete = recording.end == End::Complete && arm.telemetry;
    Notifications {
        client: tally.total_notifications(),
        server: servers.map(|servers| servers.total),
        server_missing: recording.missing_book.as_ref().map(ToString::to_string),
        expected: closed_form::notifications(&arm.workers)
            .or_else(|| barrier::closed_form::notifications(arm.service, &arm.workers))
            .filter(|_| complete),
        untracked: recording.workers.untracked,
        client_by_kind,
        server_by_kind: servers.and_then(|servers| servers.kinds).map(by_kind).unwrap_or_default(),
    }
}

fn by_kind(notifications: Kinds) -> BTreeMap<String, u64> {
    [
        (EventKind::Created, notifications.created),
        (EventKind::Deleted, notifications.deleted),
        (EventKind::Changed, notifications.changed),
        (EventKind::Children, notifications.children),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(kind, count)| (kind.name().to_owned(), count))
    .collect()
}

fn generator_use(arm: &ArmSettings, recording: &TrialRecording, lags: &Micros) -> GeneratorUse {
    let generator = &recording.generator;
    let all_cpu = recording.nodes_cpu_seconds.map(|nodes| generator.cpu_seconds + nodes);
    let growth = generator.peak_rss_bytes.saturating_sub(recording.idle_rss_bytes);
    GeneratorUse {
        cpu_seconds: generator.cpu_seconds,
        cpu_share: all_cpu.map(|all| if all > 0.0 { generator.cpu_seconds / all } else { 0.0 }),
        held_back: recording.held_back,
        peak_rss_bytes: generator.peak_rss_bytes,
        rss_per_worker_bytes: growth / u64::from(arm.workers.workers.max(1)),
        lag_ms_p99: histogram::latency(lags).p99.unwrap_or(0.0),
    }
}
