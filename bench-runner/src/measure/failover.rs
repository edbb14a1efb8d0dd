//! How the faults of a trial were survived: from what was done, and what the workers wrote down, to the failover timeline.

use std::time::Duration;

use workloads::record::timeline::SLOT_NANOS;
use workloads::record::{Acquisition, InstanceFanOut, Outcome};
use workloads::settings::Service;

use super::figures::{DetectionBounds, Failover, FailoverLatency, Failovers, Fencing, Leadership, Trial};
use super::histogram::{self, Micros};
use super::{fan_out, safety};
use crate::run::recording::{FaultRecord, HeldRecord, TrialRecording};
use crate::scenario::{ArmSettings, Scenario};

/// Grants before a fault are counted over so long at the most.
const BEFORE: u64 = 5_000_000_000;
/// The stretch in which the rate of grants is to be back.
const BACK: u64 = 1_000_000_000;
/// The share of the former rate at which it counts as back.
const BACK_SHARE: f64 = 0.9;
/// So few grants before a fault are no rate.
const FEWEST_GRANTS: usize = 10;
/// The window after a detection in which requests are counted, in slots of the timeline: 100 ms.
const WINDOW: usize = 100;
/// The most stretches of leadership that are kept for the chart.
const MOST_LEADERSHIPS: usize = 500;
/// How often etcd looks for leases that have run out.
const ETCD_LOOKS: Duration = Duration::from_millis(500);

/// The failovers of one trial, in the order in which the faults struck.
pub fn of_trial(recording: &TrialRecording) -> Vec<Failover> {
    let workers = &recording.workers;
    let locks = safety::by_lock(&workers.acquisitions);
    let mut grants: Vec<u64> =
        workers.acquisitions.iter().filter(|one| one.is_granted()).map(|one| one.granted).collect();
    grants.sort_unstable();
    let mut failovers = Vec::new();
    for fault in &recording.faults {
        let base = Failover {
            fault: fault.kind.to_string(),
            seconds: seconds(fault.issued),
            skipped: fault.skipped.clone(),
            victims: fault.victims.len() as u64,
            node: fault.node.clone(),
            settled: fault.settled,
            healed_seconds: fault.healed.map(seconds),
            detection_ms: fault.new_leader.map(|at| millis(fault.issued, at)),
            recovery_ms: recovery(&grants, fault.issued, workers.length).map(|at| millis(fault.issued, at)),
            ..Failover::default()
        };
        if fault.held.is_empty() {
            failovers.push(base);
            continue;
        }
        for held in &fault.held {
            let lock = locks.get(held.resource as usize).map(|lock| lock.granted.as_slice()).unwrap_or_default();
            failovers.push(from_holder(base.clone(), fault, held, lock, recording));
        }
    }
    failovers
}

/// Completes the timeline of a fault that struck a holder. `granted` are the grants of its lock, by time.
fn from_holder(
    base: Failover,
    fault: &FaultRecord,
    held: &HeldRecord,
    granted: &[&Acquisition],
    recording: &TrialRecording,
) -> Failover {
    let t0 = fault.issued;
    let old = granted.iter().find(|grant| grant.token == held.token);
    // What was granted while the books were being closed is not part of the trial.
    let length = recording.workers.length;
    let next = granted.iter().find(|grant| grant.token > held.token && (t0..=length).contains(&grant.granted));
    let instance = instance(&recording.workers.fan_out, held.token);
    let notified = instance.map(|instance| instance.first);
    // The witness looks now and then; who was notified, or granted, saw it gone no later than then. Without a witness there
    // is no detection: a later grant alone does not say when.
    let gone =
        held.gone.map(|gone| [notified, next.map(|next| next.granted)].into_iter().flatten().fold(gone, u64::min));
    let gone = gone.map(|gone| gone.max(t0));
    let over = old.map_or(0, |old| match (old.outcome, old.over) {
        (Outcome::Held, _) => length,
        (_, over) => over,
    });
    let overlap = next.map(|next| over.saturating_sub(next.granted) as f64 / 1e6);
    Failover {
        resource: Some(held.resource),
        holder: Some(held.worker),
        successor: next.map(|next| next.worker),
        detection_ms: gone.map(|gone| millis(t0, gone)),
        notified_ms: notified.map(|notified| millis(t0, notified)),
        takeover_ms: gone.zip(next).map(|(gone, next)| millis(gone, next.granted)),
        total_ms: next.map(|next| millis(t0, next.granted)),
        // A holder whose entry is still there has notified nobody yet.
        notifications: gone.map(|_| instance.map_or(0, |instance| u64::from(instance.notifications))),
        requests_100ms: gone.and_then(|gone| requests_from(recording, gone)),
        overlap_ms: overlap,
        stale_writes: old.map_or(0, |old| u64::from(old.stale_writes)),
        told: old.is_some_and(|old| old.outcome == Outcome::Lost && old.stale_writes == 0),
        ..base
    }
}

fn instance(fan_out: &[InstanceFanOut], token: i64) -> Option<&InstanceFanOut> {
    let at = fan_out.binary_search_by_key(&token, |instance| instance.token).ok()?;
    Some(&fan_out[at]).filter(|instance| instance.notifications > 0)
}

fn requests_from(recording: &TrialRecording, from: u64) -> Option<u64> {
    let slot = (from / SLOT_NANOS) as usize;
    let window = recording.workers.timeline.get(slot..slot + WINDOW)?;
    Some(window.iter().map(|slot| u64::from(slot.requests)).sum())
}

/// When the grants were back to their former rate after a fault at `t0`: the start of the first stretch, at a grant, that holds
/// enough of them. `grants` are the moments of all grants, sorted.
fn recovery(grants: &[u64], t0: u64, length: u64) -> Option<u64> {
    let since = t0.saturating_sub(BEFORE);
    let until = |at: u64| grants.partition_point(|grant| *grant < at);
    let before = until(t0) - until(since);
    if before < FEWEST_GRANTS || t0 == since {
        return None;
    }
    let enough = before as f64 / (t0 - since) as f64 * BACK as f64 * BACK_SHARE;
    let from = until(t0);
    grants[from..]
        .iter()
        .zip(from..)
        .take_while(|(grant, _)| **grant + BACK <= length)
        .find(|(grant, place)| (until(**grant + BACK) - place) as f64 >= enough)
        .map(|(grant, _)| *grant)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn millis(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e6
}

/// Who held when, in the order of the grants.
pub fn leaderships(acquisitions: &[Acquisition], length: u64) -> Vec<Leadership> {
    let mut granted: Vec<&Acquisition> = acquisitions.iter().filter(|one| one.is_granted()).collect();
    granted.sort_unstable_by_key(|one| one.granted);
    granted
        .into_iter()
        .take(MOST_LEADERSHIPS)
        .map(|one| Leadership {
            resource: one.resource,
            worker: one.worker,
            from_seconds: seconds(one.granted),
            to_seconds: seconds(if one.over == 0 { length } else { one.over.min(length) }),
        })
        .collect()
}

/// What became of the writes under the grants of one trial.
pub fn fencing(recording: &TrialRecording) -> Fencing {
    let acquisitions = recording.workers.acquisitions.iter();
    let lost = acquisitions.filter(|one| one.outcome == Outcome::Lost);
    let (acted_stale, told): (Vec<&Acquisition>, Vec<&Acquisition>) = lost.partition(|one| one.stale_writes > 0);
    Fencing {
        accepted: recording.fenced_writes.accepted,
        refused: recording.fenced_writes.refused,
        told: told.len() as u64,
        acted_stale: acted_stale.len() as u64,
    }
}

/// What a detection after a crash lies between, by the servers' own rules; see [`DetectionBounds`].
///
/// ZooKeeper puts a session into the bucket of the tick after its timeout (`ExpiryQueue.roundToNextInterval`), and learns every
/// half tick which sessions its followers have heard from. etcd's lessor looks every 500 ms for leases that have run out.
pub fn bounds(arm: &ArmSettings, scenario: &Scenario) -> DetectionBounds {
    let timeout = arm.workers.session_timeout;
    let added = match arm.service {
        Service::Zookeeper => scenario.ensemble.zookeeper.tick.mul_f64(1.5),
        Service::Etcd => ETCD_LOOKS,
    };
    let ms = |length: Duration| length.as_secs_f64() * 1e3;
    DetectionBounds { from_ms: ms(timeout), to_ms: ms(timeout + added) }
}

/// The latencies of all failovers.
pub fn latencies<'a>(failovers: impl Iterator<Item = &'a Failover> + Clone) -> FailoverLatency {
    let of = |value: fn(&Failover) -> Option<f64>| {
        let mut all: Micros = histogram::empty();
        failovers.clone().filter_map(value).for_each(|ms| histogram::record(&mut all, (ms * 1e6) as u64));
        histogram::latency(&all)
    };
    FailoverLatency {
        detection: of(|failover| failover.detection_ms),
        takeover: of(|failover| failover.takeover_ms),
        total: of(|failover| failover.total_ms),
        recovery: of(|failover| failover.recovery_ms),
    }
}

/// All faults of an arm; `None` where there were none to come.
pub fn of_arm(
    trials: &[&Trial],
    bounds: Option<DetectionBounds>,
    fencing: Fencing,
    sessions_lost: u64,
) -> Option<Failovers> {
    let bounds = bounds?;
    let all = trials.iter().flat_map(|trial| &trial.failovers);
    let mut fan_outs: Vec<u32> = all
        .clone()
        .filter(|failover| failover.settled)
        .filter_map(|failover| failover.notifications)
        .map(|notifications| u32::try_from(notifications).unwrap_or(u32::MAX))
        .collect();
    fan_outs.sort_unstable();
    let skipped = all.clone().filter(|failover| failover.skipped.is_some()).count() as u64;
    Some(Failovers {
        faults: all.count() as u64 - skipped,
        skipped,
        fan_out: fan_out::figures(&fan_outs),
        sessions_lost,
        fencing,
        bounds,
    })
}
