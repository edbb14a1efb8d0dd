//! The table of the arms side by side: which figures, in which order, each with its spread over the trials.
//!
//! The value is the arm's own figure: latencies are read off the histograms of all trials merged, never averaged. The
//! spread is the sample standard deviation of the trials' own figures.

mod barriers;

use crate::measure::figures::{Arm, Failovers, Quantity, Safety, SplitBrain, Store, Trial};
use crate::report::format::{self, Figure, Unit};
use crate::report::view::ArmView;

/// One row: a metric over the arms.
pub(super) struct Row {
    /// The metric's name.
    pub name: &'static str,
    /// What the row belongs to: rows of one group stand together.
    pub group: &'static str,
    /// One cell for each arm.
    pub cells: Vec<Cell>,
}

/// What one arm has to say about a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Not measured.
    Absent,
    /// A figure.
    Figure(Figure),
    /// A count or a few words.
    Words(String),
    /// Words that must not be overlooked.
    Alarm(String),
}

impl Cell {
    /// The cell as plain text.
    pub fn text(&self) -> String {
        match self {
            Cell::Absent => format::ABSENT.to_owned(),
            Cell::Figure(figure) => figure.to_string(),
            Cell::Words(words) | Cell::Alarm(words) => words.clone(),
        }
    }
}

/// A metric: how to read it off an arm and off a trial.
struct Metric {
    group: &'static str,
    name: &'static str,
    unit: Unit,
    arm: fn(&Arm) -> Option<f64>,
    trial: fn(&Trial) -> Option<f64>,
}

const METRICS: &[Metric] = &[
    Metric {
        group: "Throughput",
        name: "grants per second",
        unit: Unit::Number,
        arm: |arm| (arm.trials > 0).then_some(arm.grants_per_second.mean),
        trial: |trial| Some(trial.grants_per_second),
    },
    Metric {
        group: "Herd",
        name: "fan-out per release, mean",
        unit: Unit::Number,
        arm: |arm| arm.fan_out.mean,
        trial: |trial| trial.fan_out.mean,
    },
    Metric {
        group: "Herd",
        name: "notifications per trial",
        unit: Unit::Count,
        arm: |arm| (arm.trials > 0).then(|| arm.notifications.client as f64 / f64::from(arm.trials)),
        trial: |trial| Some(trial.notifications.client as f64),
    },
    Metric {
        group: "Herd",
        name: "requests per grant",
        unit: Unit::Number,
        arm: |arm| arm.requests.per_grant,
        trial: |trial| trial.requests.per_grant,
    },
    Metric {
        group: "Herd",
        name: "requests in 10 ms, peak",
        unit: Unit::Count,
        arm: |arm| (arm.trials > 0).then_some(arm.requests.peak_10ms as f64),
        trial: |trial| Some(trial.requests.peak_10ms as f64),
    },
    Metric {
        group: "Herd",
        name: "response bytes per grant",
        unit: Unit::Bytes,
        arm: |arm| arm.requests.response_bytes_per_grant,
        trial: |trial| trial.requests.response_bytes_per_grant,
    },
    Metric {
        group: "Latency",
        name: "acquire p50",
        unit: Unit::Milliseconds,
        arm: |arm| arm.acquire_ms.p50,
        trial: |trial| trial.acquire_ms.p50,
    },
    Metric {
        group: "Latency",
        name: "acquire p99",
        unit: Unit::Milliseconds,
        arm: |arm| arm.acquire_ms.p99,
        trial: |trial| trial.acquire_ms.p99,
    },
    Metric {
        group: "Latency",
        name: "handoff p50",
        unit: Unit::Milliseconds,
        arm: |arm| arm.handoff_ms.p50,
        trial: |trial| trial.handoff_ms.p50,
    },
    Metric {
        group: "Latency",
        name: "handoff p99",
        unit: Unit::Milliseconds,
        arm: |arm| arm.handoff_ms.p99,
        trial: |trial| trial.handoff_ms.p99,
    },
    Metric {
        group: "Bystanders",
        name: "bystander p99 at rest",
        unit: Unit::Milliseconds,
        arm: |arm| arm.bystander_ms.rest.p99,
        trial: |trial| trial.bystander_ms.rest.p99,
    },
    Metric {
        group: "Bystanders",
        name: "bystander p99 during",
        unit: Unit::Milliseconds,
        arm: |arm| arm.bystander_ms.during.p99,
        trial: |trial| trial.bystander_ms.during.p99,
    },
    Metric {
        group: "Cost",
        name: "generator's share of CPU",
        unit: Unit::Share,
        arm: |arm| arm.generator.cpu_share.filter(|_| arm.trials > 0),
        trial: |trial| trial.generator.cpu_share,
    },
    Metric {
        group: "Cost",
        name: "generator memory per worker",
        unit: Unit::Bytes,
        arm: |arm| (arm.trials > 0).then_some(arm.generator.rss_per_worker_bytes as f64),
        trial: |trial| Some(trial.generator.rss_per_worker_bytes as f64),
    },
];

/// With an open loop, acquisition runs from the moment due; the time from the call is kept beside it.
const SERVICE: [Metric; 2] = [
    Metric {
        group: "Latency",
        name: "service p50, from the call",
        unit: Unit::Milliseconds,
        arm: |arm| arm.service_ms.p50,
        trial: |_| None,
    },
    Metric {
        group: "Latency",
        name: "service p99, from the call",
        unit: Unit::Milliseconds,
        arm: |arm| arm.service_ms.p99,
        trial: |_| None,
    },
];

/// Where a scenario has faults: how they were survived. Each fault is a measurement of its own, so the spread is in the
/// percentiles and not between trials.
const FAILOVER: [Metric; 6] = [
    Metric {
        group: "Failover",
        name: "detection p50, t1 − t0",
        unit: Unit::Milliseconds,
        arm: |arm| arm.failover_ms.detection.p50,
        trial: |_| None,
    },
    Metric {
        group: "Failover",
        name: "takeover p50, t3 − t1",
        unit: Unit::Milliseconds,
        arm: |arm| arm.failover_ms.takeover.p50,
        trial: |_| None,
    },
    Metric {
        group: "Failover",
        name: "takeover max",
        unit: Unit::Milliseconds,
        arm: |arm| arm.failover_ms.takeover.max,
        trial: |_| None,
    },
    Metric {
        group: "Failover",
        name: "nobody holds p50, t3 − t0",
        unit: Unit::Milliseconds,
        arm: |arm| arm.failover_ms.total.p50,
        trial: |_| None,
    },
    Metric {
        group: "Failover",
        name: "90 % throughput after, t4 − t0",
        unit: Unit::Milliseconds,
        arm: |arm| arm.failover_ms.recovery.p50,
        trial: |_| None,
    },
    Metric {
        group: "Failover",
        name: "fan-out per failover, mean",
        unit: Unit::Number,
        arm: |arm| arm.failovers.as_ref().and_then(|failovers| failovers.fan_out.mean),
        trial: |_| None,
    },
];

/// The table's rows, safety last.
pub(super) fn rows(arms: &[ArmView]) -> Vec<Row> {
    let is_open = arms.iter().any(|view| view.arm.mode == "open");
    let (before, after) = METRICS.split_at(METRICS.iter().position(|metric| metric.name == "handoff p50").unwrap_or(0));
    let service = if is_open { SERVICE.as_slice() } else { &[] };
    let has_faults = arms.iter().any(|view| view.arm.failovers.is_some());
    let failover = if has_faults { FAILOVER.as_slice() } else { &[] };
    let has_barriers = arms.iter().any(|view| view.arm.barriers.is_some());
    let barriers = if has_barriers { barriers::BARRIERS.as_slice() } else { &[] };
    let mut rows: Vec<Row> = before
        .iter()
        .chain(service)
        .chain(after)
        .chain(failover)
        .chain(barriers)
        .map(|metric| {
            let cells = arms.iter().map(|view| figure(metric, view.arm)).collect();
            Row { name: metric.name, group: metric.group, cells }
        })
        .collect();
    if !arms.is_empty() && arms.iter().all(|view| view.arm.recipe.is_barrier()) {
        // Nothing is granted, and so nothing is to be said of grants.
        rows.retain(|row| row.name != "grants per second" && row.cells.iter().any(|cell| *cell != Cell::Absent));
    }
    rows.push(Row { name: "safety", group: "Safety", cells: arms.iter().map(|view| verdict(view.arm)).collect() });
    rows
}

/// The trials' own figures: mean and spread over those that have one.
pub(super) fn over_trials(values: &[f64]) -> Option<Quantity> {
    if values.is_empty() {
        return None;
    }
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let spread = (values.len() > 1).then(|| (squares / (number - 1.0)).sqrt());
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Quantity { mean, spread, min, max })
}

fn figure(metric: &Metric, arm: &Arm) -> Cell {
    let Some(value) = (metric.arm)(arm) else { return Cell::Absent };
    let trials: Vec<f64> = arm.trial.iter().filter_map(metric.trial).collect();
    Cell::Figure(metric.unit.figure(value, over_trials(&trials).and_then(|quantity| quantity.spread)))
}

fn verdict(arm: &Arm) -> Cell {
    if let Some(control) = arm.control {
        return match control.caught {
            true => Cell::Words("control, caught".to_owned()),
            false => Cell::Alarm("NOT CAUGHT".to_owned()),
        };
    }
    if arm.safety.is_violated() {
        Cell::Alarm("VIOLATED".to_owned())
    } else if arm.grants == 0 && arm.barriers.is_none() {
        Cell::Words("no grants".to_owned())
    } else {
        Cell::Words("kept".to_owned())
    }
}

/// The counts behind the verdict, in the order of DESIGN's list.
pub(super) fn safety_rows(arms: &[ArmView]) -> Vec<Row> {
    type Count = fn(&Safety) -> Option<u64>;
    let must_be_zero: [(&'static str, Count); 3] = [
        ("overlapping grants", |safety| Some(safety.overlaps)),
        ("token regressions", |safety| Some(safety.token_regressions)),
        ("lost updates", |safety| safety.lost_updates),
    ];
    let early: (&'static str, Count) = ("through a barrier too early", |safety| Some(safety.early_passages));
    let early = arms.iter().any(|view| view.arm.barriers.is_some()).then_some(early);
    let mut rows: Vec<Row> = must_be_zero
        .into_iter()
        .chain(early)
        .map(|(name, count)| {
            let cells = arms.iter().map(|view| match count(&view.arm.safety) {
                None => Cell::Words("not counted".to_owned()),
                Some(0) => Cell::Words("0".to_owned()),
                Some(number) => Cell::Alarm(format::count(number)),
            });
            Row { name, group: "Safety", cells: cells.collect() }
        })
        .collect();
    rows.extend(counter_rows(arms));
    rows.extend(fault_rows(arms));
    let fifo = arms.iter().map(|view| match (view.arm.safety.fifo_inversions, view.arm.recipe.is_fifo()) {
        (0, _) => Cell::Words("0".to_owned()),
        (number, true) => Cell::Alarm(format::count(number)),
        (number, false) => Cell::Words(format!("{} (order not promised)", format::count(number))),
    });
    rows.push(Row { name: "FIFO inversions", group: "Order", cells: fifo.collect() });
    let counts: [(&'static str, Count); 2] =
        [("workers starved", |safety| Some(safety.starved)), ("acquisitions failed", |safety| Some(safety.failed))];
    rows.extend(counts.into_iter().map(|(name, count)| {
        let cells = arms.iter().map(|view| Cell::Words(format::maybe_count(count(&view.arm.safety))));
        Row { name, group: "Order", cells: cells.collect() }
    }));
    // Arrivals of an open loop that were due and still waited at the end.
    let unserved = |view: &ArmView| -> Option<u64> {
        view.arm.trial.iter().filter_map(|trial| trial.unserved).reduce(|a, b| a + b)
    };
    if arms.iter().any(|view| unserved(view).is_some()) {
        let cells = arms.iter().map(|view| Cell::Words(format::maybe_count(unserved(view)))).collect();
        rows.push(Row { name: "arrivals not served", group: "Order", cells });
    }
    rows
}

/// Updates that a store lost, and their share: `123 (17.6 %)`.
pub(super) fn lost(store: &Store) -> String {
    match (store.lost, store.acknowledged) {
        (0, _) | (_, 0) => format::count(store.lost),
        (lost, acknowledged) => {
            format!("{} ({})", format::count(lost), Unit::Share.show(lost as f64 / acknowledged as f64))
        }
    }
}

/// What became of the shared counter, where holders keep one.
fn counter_rows(arms: &[ArmView]) -> Vec<Row> {
    type Words = fn(&SplitBrain) -> String;
    let rows: [(&'static str, Words); 4] = [
        ("updates acknowledged, plain store", |counter| format::count(counter.plain.acknowledged)),
        ("of those lost", |counter| lost(&counter.plain)),
        ("lost by the fenced store", |counter| {
            format!("{} of {}", format::count(counter.fenced.lost), format::count(counter.fenced.acknowledged))
        }),
        ("stale writes, refused by it", |counter| {
            format!("{}, {}", format::count(counter.stale), format::count(counter.fenced.refused))
        }),
    ];
    if arms.iter().all(|view| view.arm.split_brain.is_none()) {
        return Vec::new();
    }
    let row = |(name, words): (&'static str, Words)| {
        let cells = arms
            .iter()
            .map(|view| view.arm.split_brain.as_ref().map_or(Cell::Absent, |counter| Cell::Words(words(counter))));
        Row { name, group: "Split brain", cells: cells.collect() }
    };
    rows.into_iter().map(row).collect()
}

/// What faults did to safety, where the scenario has any.
fn fault_rows(arms: &[ArmView]) -> Vec<Row> {
    type Words = fn(&Arm, &Failovers) -> String;
    let rows: [(&'static str, Words); 6] = [
        ("a crash is seen within", |_, failovers| {
            let bounds = failovers.bounds;
            let [from, to] = [bounds.from_ms, bounds.to_ms].map(|ms| Unit::Milliseconds.show(ms));
            format!("{from} – {to}")
        }),
        ("overlaps asked for, longest", |arm, _| match arm.safety.overlaps_asked {
            0 => "0".to_owned(),
            number => {
                let longest = Unit::Milliseconds.show(arm.safety.longest_overlap_us as f64 / 1e3);
                format!("{}, {longest}", format::count(number))
            }
        }),
        ("holders told before they acted", |_, failovers| format::count(failovers.fencing.told)),
        ("holders refused as stale", |_, failovers| format::count(failovers.fencing.acted_stale)),
        ("stale writes refused", |_, failovers| format::count(failovers.fencing.refused)),
        ("sessions lost", |_, failovers| format::count(failovers.sessions_lost)),
    ];
    if arms.iter().all(|view| view.arm.failovers.is_none()) {
        return Vec::new();
    }
    let row = |(name, words): (&'static str, Words)| {
        let cells = arms.iter().map(|view| match &view.arm.failovers {
            None => Cell::Absent,
            Some(failovers) => Cell::Words(words(view.arm, failovers)),
        });
        Row { name, group: "Faults", cells: cells.collect() }
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_the_sample_standard_deviation() {
        let quantity = over_trials(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("eight values");
        assert_eq!(quantity.mean, 5.0);
        assert!((quantity.spread.expect("several") - 2.138).abs() < 0.001);
        assert_eq!(over_trials(&[3.0]).expect("one value").spread, None);
        assert_eq!(over_trials(&[]), None);
    }
}
