//! One arm with figures that hang together: fan-out, requests and latencies follow from the number of workers.

use std::collections::BTreeMap;

use bench_runner::measure::figures::*;
use workloads::settings::{Recipe, Service};

/// What an arm's figures follow from.
pub struct Shape {
    recipe: Recipe,
    workers: u32,
    /// Notifications that a release causes.
    fan_out: f64,
    grants_per_second: f64,
    requests_per_grant: f64,
    /// Time from a release to the next grant, milliseconds.
    handoff_ms: f64,
    bystander_ms: f64,
}

impl Shape {
    /// Every release wakes everybody.
    pub fn naive(workers: u32) -> Self {
        let herd = f64::from(workers);
        Self {
            recipe: Recipe::NaiveLock,
            workers,
            fan_out: herd * 0.987,
            grants_per_second: 12_100.0 / herd,
            requests_per_grant: 2.0 * herd + 10.0,
            handoff_ms: herd * 0.052,
            bystander_ms: herd * 0.061,
        }
    }

    /// Every release wakes one.
    pub fn sequential(workers: u32) -> Self {
        Self {
            recipe: Recipe::SequentialLock,
            workers,
            fan_out: 1.0,
            grants_per_second: 278.4,
            requests_per_grant: 5.02,
            handoff_ms: 2.4,
            bystander_ms: 3.1,
        }
    }
}

/// A number from 0 to 1 that looks random and is the same in each run.
pub fn noise(at: usize) -> f64 {
    let x = (at as f64 * 12.9898).sin() * 43_758.545;
    x - x.floor()
}

/// A distribution whose 99th percentile is `p99` milliseconds.
pub fn latency(p99: f64) -> Latency {
    Latency {
        count: 16_704,
        mean: Some(p99 * 0.4),
        p50: Some(p99 * 0.34),
        p90: Some(p99 * 0.71),
        p99: Some(p99),
        p999: Some(p99 * 1.6),
        max: Some(p99 * 2.3),
    }
}

const TRIALS: u32 = 3;
const SECONDS: f64 = 20.0;

/// An arm of three trials of 20 s.
pub fn arm(label: &str, shape: &Shape) -> Arm {
    let grants = (shape.grants_per_second * SECONDS) as u64;
    let acquire = f64::from(shape.workers) / shape.grants_per_second * 1e3;
    let trial = (0..TRIALS).map(|index| trial(index, shape, grants, acquire)).collect();
    let all = grants * u64::from(TRIALS);
    Arm {
        label: label.to_owned(),
        recipe: shape.recipe,
        service: Service::Zookeeper,
        workers: shape.workers,
        resources: 1,
        connections: None,
        mode: "closed".to_owned(),
        trials: TRIALS,
        grants: all,
        seconds: SECONDS * f64::from(TRIALS),
        grants_per_second: Quantity {
            mean: shape.grants_per_second,
            spread: Some(shape.grants_per_second * 0.031),
            min: shape.grants_per_second * 0.97,
            max: shape.grants_per_second * 1.03,
        },
        requests: requests(shape, all),
        notifications: notifications(shape, all),
        fan_out: fan_out(shape, all),
        acquire_ms: latency(acquire * 1.4),
        service_ms: latency(acquire * 1.4),
        enqueue_ms: latency(shape.handoff_ms * 2.0),
        wait_ms: latency(acquire * 1.35),
        wake_to_grant_ms: latency(shape.handoff_ms * 0.7),
        handoff_ms: latency(shape.handoff_ms * 1.8),
        safety: Safety {
            fifo_inversions: if shape.recipe.is_fifo() { 0 } else { all / 2 },
            starved: if shape.recipe.is_fifo() { 0 } else { u64::from(shape.workers) * 7 / 10 },
            ..Safety::default()
        },
        failover_ms: FailoverLatency::default(),
        failovers: None,
        barriers: None,
        split_brain: None,
        control: None,
        bystander_ms: Bystander { rest: latency(1.3), during: latency(shape.bystander_ms) },
        generator: generator(shape, 18.4),
        nodes_cpu_seconds: Some(88.0),
        trial,
        series: series(shape, acquire),
    }
}

fn trial(index: u32, shape: &Shape, grants: u64, acquire: f64) -> Trial {
    let wobble = 1.0 + 0.06 * (noise(index as usize + 3) - 0.5);
    Trial {
        position: index * 2 + 1 + u32::from(index % 2 == 1),
        seconds: SECONDS,
        complete: true,
        grants: (grants as f64 * wobble) as u64,
        grants_per_second: shape.grants_per_second * wobble,
        unserved: None,
        requests: Requests {
            per_grant: Some(shape.requests_per_grant * wobble),
            response_bytes_per_grant: requests(shape, grants).response_bytes_per_grant.map(|bytes| bytes * wobble),
            ..requests(shape, grants)
        },
        notifications: notifications(shape, grants),
        fan_out: FanOut { mean: Some(shape.fan_out * (1.0 + (wobble - 1.0) / 10.0)), ..fan_out(shape, grants) },
        acquire_ms: latency(acquire * 1.4 * wobble),
        handoff_ms: latency(shape.handoff_ms * 1.8 * wobble),
        safety: Safety::default(),
        bystander_ms: Bystander { rest: latency(1.3 * wobble), during: latency(shape.bystander_ms * wobble) },
        generator: generator(shape, 6.1 * wobble),
        failovers: Vec::new(),
        barriers: None,
        split_brain: None,
        nodes_cpu_seconds: Some(29.0 * wobble),
        other_cpu_share: Some(0.05),
    }
}

fn generator(shape: &Shape, cpu_seconds: f64) -> GeneratorUse {
    GeneratorUse {
        cpu_seconds,
        cpu_share: Some(if shape.recipe.is_fifo() { 0.214 } else { 0.173 }),
        held_back: 0,
        peak_rss_bytes: 402_000_000,
        rss_per_worker_bytes: if shape.recipe.is_fifo() { 319_000 } else { 75_000 },
        lag_ms_p99: 2.1,
    }
}

fn requests(shape: &Shape, grants: u64) -> Requests {
    let total = (shape.requests_per_grant * grants as f64) as u64;
    let kind = |requests: u64, each: u64| KindCount { requests, response_bytes: requests * each };
    let by_kind = if shape.recipe.is_fifo() {
        BTreeMap::from([
            ("create".to_owned(), kind(grants, 72)),
            ("delete".to_owned(), kind(grants, 20)),
            ("getChildren".to_owned(), kind(grants * 2, u64::from(shape.workers) * 57 + 24)),
            ("getData".to_owned(), kind(grants, 92)),
        ])
    } else {
        BTreeMap::from([
            ("create".to_owned(), kind(total / 2, 20)),
            ("delete".to_owned(), kind(grants, 20)),
            ("getData".to_owned(), kind(total / 2, 92)),
        ])
    };
    let response_bytes: u64 = by_kind.values().map(|kind| kind.response_bytes).sum();
    Requests {
        total,
        per_grant: Some(shape.requests_per_grant),
        peak_10ms: (shape.fan_out * 0.83) as u64 + 9,
        mean_10ms: total as f64 / (SECONDS * 100.0),
        response_bytes,
        response_bytes_per_grant: (grants > 0).then(|| response_bytes as f64 / grants as f64),
        after_release_100ms: Some(shape.requests_per_grant * 0.97),
        after_release_100ms_max: Some(shape.requests_per_grant as u64 + 12),
        server_packets_received: Some(total + 4_211),
        by_kind,
    }
}

fn notifications(shape: &Shape, grants: u64) -> Notifications {
    let client = (shape.fan_out * grants as f64) as u64;
    Notifications {
        client,
        server: Some(client),
        expected: None,
        untracked: 0,
        client_by_kind: BTreeMap::from([("deleted".to_owned(), client)]),
        server_missing: None,
        server_by_kind: BTreeMap::from([("deleted".to_owned(), client), ("created".to_owned(), 0)]),
    }
}

fn fan_out(shape: &Shape, grants: u64) -> FanOut {
    let most = shape.fan_out.ceil() as u64;
    FanOut { releases: grants, min: Some(most.min(1)), mean: Some(shape.fan_out), p50: Some(most), max: Some(most) }
}

fn series(shape: &Shape, acquire: f64) -> Series {
    let curve = |p50: f64, p99: f64| -> Vec<PercentilePoint> {
        // The median and the 99th percentile fix a log-normal curve, which is what latencies look like.
        let slope = (p99 / p50).ln() / 2.0;
        let mut points: Vec<PercentilePoint> = (0..44)
            .map(|step| {
                let nines = f64::from(step) / 10.0;
                let percentile = 100.0 - 100.0 * 10f64.powf(-nines);
                PercentilePoint { percentile, ms: p50 * (slope * (nines - 0.3)).exp() }
            })
            .collect();
        let last = points.last().map_or(p99, |point| point.ms);
        points.push(PercentilePoint { percentile: 100.0, ms: last * 1.2 });
        points
    };
    let bucket = |index: usize| {
        // A release wakes the herd at once; its requests ebb away over some ten milliseconds.
        let since = (index as f64 - 5.0).max(0.0);
        if index < 5 { 0.02 } else { (-since / 2.0).exp() * (1.0 + 0.2 * noise(index)) }
    };
    let spike = |height: f64| (0..35).map(|index| bucket(index) * height + 0.4 * noise(index + 50)).collect();
    let bins = |spread: u64| -> Vec<FanOutBin> {
        let most = shape.fan_out.ceil() as u64;
        (0..spread)
            .map(|index| {
                let to = most.saturating_sub(index * most / 40);
                FanOutBin { from: to.saturating_sub(most / 45).max(u64::from(most > 1)), to, releases: 400 >> index }
            })
            .collect()
    };
    Series {
        leaderships: Vec::new(),
        stale_writes: Vec::new(),
        percentiles: BTreeMap::from([
            ("acquire".to_owned(), curve(acquire * 0.9, acquire * 1.4)),
            ("handoff".to_owned(), curve(shape.handoff_ms, shape.handoff_ms * 1.8)),
        ]),
        spike: Spike {
            bucket_ms: 10.0,
            start_ms: -50.0,
            releases: 720,
            requests: spike(shape.requests_per_grant * 0.39),
            notifications: spike(shape.fan_out * 0.39),
        },
        fan_out_bins: bins(if shape.recipe.is_fifo() { 1 } else { 6 }),
        fan_out_points: (0..240)
            .map(|index| FanOutPoint {
                seconds: index as f64 * SECONDS / 240.0,
                notifications: (shape.fan_out * (1.0 - 0.12 * noise(index).powi(4))).round() as u64,
            })
            .collect(),
        heat_map: heat_map(acquire),
        rates: (0..80)
            .map(|index| {
                let wobble = 1.0 + 0.25 * (noise(index) - 0.5);
                RatePoint {
                    seconds: index as f64 * 0.25,
                    grants_per_second: shape.grants_per_second * wobble,
                    requests_per_second: shape.grants_per_second * shape.requests_per_grant * wobble,
                    notifications_per_second: shape.grants_per_second * shape.fan_out * wobble,
                    response_bytes_per_second: 2.0e6 * wobble,
                }
            })
            .collect(),
        nodes: (0..80)
            .map(|index| NodesPoint {
                seconds: index as f64 * 0.25,
                cpu_percent: Some(if shape.recipe.is_fifo() { 96.0 } else { 138.0 } + 18.0 * (noise(index) - 0.5)),
                generator_cpu_percent: if shape.recipe.is_fifo() { 26.0 } else { 29.0 }
                    + 8.0 * (noise(index + 9) - 0.5),
                rss_bytes: Some(1_240_000_000 + index as u64 * 1_000_000),
                watches: Some((f64::from(shape.workers) * (1.0 - 0.3 * noise(index + 4).powi(6))) as u64),
                sessions: Some(u64::from(shape.workers) + 4),
            })
            .collect(),
    }
}

fn heat_map(acquire: f64) -> HeatMap {
    let row_edges_ms: Vec<f64> = (0..=40).map(|row| 10f64.powf(f64::from(row) / 8.0)).collect();
    let counts = (0..60)
        .map(|column| {
            let middle = (acquire * 0.9 * (1.0 + 0.3 * noise(column))).log10();
            row_edges_ms
                .windows(2)
                .enumerate()
                .map(|(row, edges)| {
                    let away = ((edges[0] * edges[1]).sqrt().log10() - middle) / 0.22;
                    (90.0 * (-away * away).exp() * (0.6 + 0.4 * noise(column * 41 + row))) as u64
                })
                .collect()
        })
        .collect();
    HeatMap { column_seconds: SECONDS / 60.0, row_edges_ms, counts }
}
