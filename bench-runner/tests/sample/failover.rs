//! Summaries of runs with faults.

use bench_runner::measure::figures::*;
use bench_runner::results::summary::Summary;
use workloads::settings::{Recipe, Service};

use super::arm::{Shape, arm, noise};
use super::summary;

/// The leader crashes four times in each trial: a herd of all who are left, or one. Two recipes on two services.
pub fn failovers() -> Summary {
    let arms = [
        ("naive, zookeeper", Recipe::NaiveElection, Service::Zookeeper),
        ("latch, zookeeper", Recipe::LeaderLatch, Service::Zookeeper),
        ("naive, etcd", Recipe::NaiveElection, Service::Etcd),
        ("latch, etcd", Recipe::LeaderLatch, Service::Etcd),
    ];
    let arms = arms.into_iter().map(|(label, recipe, service)| {
        let is_naive = recipe == Recipe::NaiveElection;
        let shape = if is_naive { Shape::naive(200) } else { Shape::sequential(200) };
        let mut arm = Arm { label: label.to_owned(), recipe, service, ..arm(label, &shape) };
        let bounds = match service {
            Service::Zookeeper => DetectionBounds { from_ms: 2_000.0, to_ms: 2_750.0 },
            Service::Etcd => DetectionBounds { from_ms: 2_000.0, to_ms: 2_500.0 },
        };
        let crashes = (0..4).map(|index| {
            let detection = bounds.from_ms + (bounds.to_ms - bounds.from_ms) * noise(index + label.len());
            let takeover = if is_naive { 61.0 } else { 4.2 } * (1.0 + noise(index));
            Failover {
                fault: "crash of the holder".to_owned(),
                seconds: 2.0 + 4.0 * index as f64,
                victims: 1,
                resource: Some(0),
                holder: Some(index as u32 * 7 % 200),
                successor: Some((index as u32 + 1) * 7 % 200),
                settled: true,
                detection_ms: Some(detection),
                notified_ms: Some(detection + 1.0),
                takeover_ms: Some(takeover),
                total_ms: Some(detection + takeover),
                notifications: Some(if is_naive { 199 - index as u64 } else { 1 }),
                requests_100ms: Some(if is_naive { 400 } else { 3 }),
                overlap_ms: Some(0.0),
                ..Failover::default()
            }
        });
        survive(&mut arm, crashes.collect(), bounds);
        arm
    });
    let mut summary = summary("election-failover", arms.collect());
    summary.contrasts.clear();
    summary
}

/// Faults of every kind, of which one was not carried out, on an arm with several locks and on one without faults; and an
/// arm of whose faults none was carried out.
pub fn faults() -> Summary {
    let bounds = DetectionBounds { from_ms: 2_000.0, to_ms: 2_750.0 };
    let fault = |name: &str, seconds: f64| Failover { fault: name.to_owned(), seconds, ..Failover::default() };
    let pause = Failover {
        victims: 1,
        resource: Some(0),
        holder: Some(3),
        successor: Some(4),
        settled: true,
        detection_ms: Some(2_512.0),
        notified_ms: Some(2_513.0),
        takeover_ms: Some(11.0),
        total_ms: Some(2_523.0),
        recovery_ms: Some(3_100.0),
        healed_seconds: Some(7.0),
        notifications: Some(1),
        requests_100ms: Some(14),
        overlap_ms: Some(2_477.0),
        stale_writes: 2,
        ..fault("pause of the holder", 2.0)
    };
    let half = |holder: u32| Failover {
        victims: 500,
        resource: Some(holder),
        holder: Some(holder),
        detection_ms: Some(2_640.0),
        takeover_ms: Some(120.0),
        total_ms: Some(2_760.0),
        notifications: Some(1),
        told: true,
        ..fault("crash of 50% of the workers", 9.0)
    };
    let node = Failover {
        node: Some("zookeeper-2".to_owned()),
        detection_ms: Some(1_310.0),
        healed_seconds: Some(18.5),
        ..fault("kill-node of the leader", 15.0)
    };
    let none = Failover { skipped: Some("nobody held it".to_owned()), ..fault("close of the holder", 19.0) };
    let mut struck = arm("lock/sequential, eight locks", &Shape::sequential(1_000));
    struck.resources = 8;
    survive(&mut struck, vec![pause, half(0), half(1), node, none.clone()], bounds);
    struck.series.leaderships = (0..8 * 12)
        .map(|index| {
            let from = f64::from(index / 8) * 1.6 + 0.1 * f64::from(index % 8);
            Leadership { resource: index % 8, worker: index, from_seconds: from, to_seconds: from + 1.5 }
        })
        .collect();
    // The one that was paused goes on.
    struck.series.leaderships[8].to_seconds = 7.0;
    let mut spared = arm("lock/naive", &Shape::naive(10));
    survive(&mut spared, vec![none], bounds);
    spared.series.leaderships.clear();
    let without = arm("lock/naive without faults", &Shape::naive(10));
    let mut summary = summary("faults", vec![struck, spared, without]);
    summary.contrasts.clear();
    summary
}

/// Gives the arm these failovers in each trial, and what follows from them.
fn survive(arm: &mut Arm, failovers: Vec<Failover>, bounds: DetectionBounds) {
    let skipped = failovers.iter().filter(|one| one.skipped.is_some()).count() as u64;
    let fan_outs: Vec<u64> = failovers.iter().filter(|one| one.settled).filter_map(|one| one.notifications).collect();
    let distribution = |of: fn(&Failover) -> Option<f64>| {
        let mut values: Vec<f64> = failovers.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        let [.., max] = values.as_slice() else { return Latency::default() };
        Latency {
            count: values.len() as u64 * 3,
            mean: Some(values.iter().sum::<f64>() / values.len() as f64),
            p50: Some(values[(values.len() - 1) / 2]),
            p90: Some(*max),
            p99: Some(*max),
            p999: Some(*max),
            max: Some(*max),
        }
    };
    arm.failover_ms = FailoverLatency {
        detection: distribution(|one| one.detection_ms),
        takeover: distribution(|one| one.takeover_ms),
        total: distribution(|one| one.total_ms),
        recovery: distribution(|one| one.recovery_ms),
    };
    arm.failovers = Some(Failovers {
        faults: 3 * (failovers.len() as u64 - skipped),
        skipped: 3 * skipped,
        fan_out: FanOut {
            releases: 3 * fan_outs.len() as u64,
            min: fan_outs.iter().min().copied(),
            mean: (!fan_outs.is_empty()).then(|| fan_outs.iter().sum::<u64>() as f64 / fan_outs.len() as f64),
            p50: fan_outs.first().copied(),
            max: fan_outs.iter().max().copied(),
        },
        sessions_lost: 3 * failovers.iter().map(|one| one.victims).sum::<u64>(),
        fencing: Fencing { accepted: 1_200, refused: 2, told: 1, acted_stale: 1 },
        bounds,
    });
    for point in &mut arm.series.rates {
        let in_gap = |one: &Failover| {
            let since = (point.seconds - one.seconds) * 1e3;
            one.total_ms.is_some_and(|total| (0.0..total).contains(&since))
        };
        if failovers.iter().any(in_gap) {
            point.grants_per_second = 0.0;
            point.notifications_per_second = 0.0;
        }
    }
    let turns = failovers.iter().filter_map(|one| Some((one, one.total_ms?)));
    let mut from = 0.004;
    arm.series.leaderships.clear();
    for (one, total) in turns {
        let worker = one.holder.unwrap_or(0);
        arm.series.leaderships.push(Leadership { resource: 0, worker, from_seconds: from, to_seconds: one.seconds });
        from = one.seconds + total / 1e3;
    }
    arm.series.leaderships.push(Leadership { resource: 0, worker: 9, from_seconds: from, to_seconds: 20.0 });
    for trial in &mut arm.trial {
        trial.failovers = failovers.clone();
        trial.grants = trial.grants.min(arm.series.leaderships.len() as u64);
    }
}
