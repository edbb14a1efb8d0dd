//! What the charts draw over time.

use std::collections::BTreeMap;

use workloads::record::timeline::SLOT_NANOS;
use workloads::record::{Acquisition, Slot};

use super::figures::{HeatMap, NodesPoint, RatePoint};
use crate::run::recording::Sample;

/// The finest column of a heat map, in nanoseconds.
const FINE_COLUMN: u64 = 250_000_000;
/// The most columns that are drawn.
const MAX_COLUMNS: u64 = 60;
/// Rows for each factor of ten in latency.
const ROWS_PER_DECADE: f64 = 8.0;
/// The upper end of the lowest row in milliseconds; what is shorter is in that row.
const LOWEST_MS: f64 = 0.1;
/// Rows up to an hour.
const ROWS: usize = 62;

/// The most points of a line over time.
const MAX_POINTS: u64 = 120;
/// The shortest stretch that a rate is taken over, in slots: 100 ms.
const MIN_STRETCH: u64 = 100;

/// Acquisition latency over time, in the finest columns, over one trial or several.
#[derive(Clone, Debug, Default)]
pub struct HeatSum {
    columns: BTreeMap<u64, Vec<u64>>,
}

impl HeatSum {
    /// The grants of one trial, each at the moment at which it was granted.
    pub fn of(acquisitions: &[Acquisition]) -> HeatSum {
        let mut sum = HeatSum::default();
        for acquisition in acquisitions.iter().filter(|acquisition| acquisition.is_granted()) {
            let latency_ms = acquisition.granted.saturating_sub(acquisition.due) as f64 / 1e6;
            let column = sum.columns.entry(acquisition.granted / FINE_COLUMN).or_insert_with(|| vec![0; ROWS]);
            column[row(latency_ms)] += 1;
        }
        sum
    }

    /// Lays `other` over this.
    pub fn merge(&mut self, other: &HeatSum) {
        for (at, counts) in &other.columns {
            let column = self.columns.entry(*at).or_insert_with(|| vec![0; ROWS]);
            column.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// The map: columns wide enough that there are not too many, rows cut to those that are used.
    pub fn heat_map(&self) -> HeatMap {
        let Some(last) = self.columns.keys().next_back() else { return HeatMap::default() };
        let fine_per_column = (last + 1).div_ceil(MAX_COLUMNS);
        let mut counts = vec![vec![0u64; ROWS]; (last / fine_per_column + 1) as usize];
        for (at, fine) in &self.columns {
            let column = &mut counts[(at / fine_per_column) as usize];
            column.iter_mut().zip(fine).for_each(|(sum, count)| *sum += count);
        }
        let used = |row: &usize| counts.iter().any(|column| column[*row] > 0);
        let (Some(low), Some(high)) = ((0..ROWS).find(used), (0..ROWS).rev().find(used)) else {
            return HeatMap::default();
        };
        HeatMap {
            column_seconds: fine_per_column as f64 * FINE_COLUMN as f64 / 1e9,
            row_edges_ms: (low..=high + 1).map(edge).collect(),
            counts: counts.into_iter().map(|column| column[low..=high].to_vec()).collect(),
        }
    }
}

/// The lower edge of a row in milliseconds.
fn edge(row: usize) -> f64 {
    LOWEST_MS * 10f64.powf((row as f64 - 1.0) / ROWS_PER_DECADE)
}

fn row(latency_ms: f64) -> usize {
    if latency_ms < LOWEST_MS {
        return 0;
    }
    ((latency_ms / LOWEST_MS).log10() * ROWS_PER_DECADE) as usize + 1
}
// `as usize` above saturates, and ROWS covers more than the hour at which latencies are cut off.

/// What the workers did, stretch by stretch.
pub fn rates(acquisitions: &[Acquisition], timeline: &[Slot], length: u64) -> Vec<RatePoint> {
    let slots = length / SLOT_NANOS;
    let stretch = slots.div_ceil(MAX_POINTS).max(MIN_STRETCH);
    // The last stretch is left out unless it is whole: a rate over a stub would be noise.
    let count = slots / stretch;
    let seconds = stretch as f64 / 1e3;
    let mut grants = vec![0u64; count as usize];
    for acquisition in acquisitions.iter().filter(|acquisition| acquisition.is_granted()) {
        if let Some(grants) = grants.get_mut((acquisition.granted / SLOT_NANOS / stretch) as usize) {
            *grants += 1;
        }
    }
    (0..count)
        .map(|point| {
            let from = ((point * stretch) as usize).min(timeline.len());
            let to = (((point + 1) * stretch) as usize).min(timeline.len());
            let rate = |of: fn(&Slot) -> u64| timeline[from..to].iter().map(of).sum::<u64>() as f64 / seconds;
            RatePoint {
                seconds: (point * stretch) as f64 / 1e3,
                grants_per_second: grants[point as usize] as f64 / seconds,
                requests_per_second: rate(|slot| u64::from(slot.requests)),
                notifications_per_second: rate(|slot| u64::from(slot.notifications)),
                response_bytes_per_second: rate(|slot| slot.response_bytes),
            }
        })
        .collect()
}

/// The nodes and the generator over time: CPU between each sample and the one before.
pub fn nodes(samples: &[Sample]) -> Vec<NodesPoint> {
    let step = samples.len().div_ceil(MAX_POINTS as usize).max(1);
    let thinned: Vec<&Sample> = samples.iter().step_by(step).collect();
    thinned
        .windows(2)
        .map(|pair| {
            let (before, now) = (pair[0], pair[1]);
            let seconds = now.at.saturating_sub(before.at).as_secs_f64().max(1e-3);
            let percent = |now: f64, before: f64| (now - before).max(0.0) / seconds * 100.0;
            NodesPoint {
                seconds: now.at.as_secs_f64(),
                cpu_percent: now
                    .nodes_cpu_seconds
                    .zip(before.nodes_cpu_seconds)
                    .map(|(now, before)| percent(now, before)),
                generator_cpu_percent: percent(now.generator_cpu_seconds, before.generator_cpu_seconds),
                rss_bytes: now.nodes_rss_bytes,
                watches: now.watches,
                sessions: now.sessions,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn granted(at: u64, latency: u64) -> Acquisition {
        Acquisition { granted: at, ..Acquisition::called(0, 0, at.saturating_sub(latency), at.saturating_sub(latency)) }
    }

    #[test]
    fn no_grants_make_no_map() {
        assert_eq!(HeatSum::of(&[]).heat_map(), HeatMap::default());
    }

    #[test]
    fn rates_are_of_whole_stretches() {
        let timeline = vec![Slot { requests: 2, notifications: 1, response_bytes: 10 }; 1_050];
        let points = rates(&[granted(50_000_000, 1), granted(950_000_000, 1)], &timeline, 1_050_000_000);
        assert_eq!(points.len(), 10);
        assert_eq!(points[0].requests_per_second, 2_000.0);
        assert_eq!((points[0].grants_per_second, points[5].grants_per_second), (10.0, 0.0));
        assert_eq!(points[9].grants_per_second, 10.0);
    }

    proptest! {
        /// Every grant is in the map once, in a row whose edges hold its latency.
        #[test]
        fn a_heat_map_holds_every_grant(raw in prop::collection::vec((1u64..600_000_000_000, 1u64..4_000_000_000_000), 1..100)) {
            let acquisitions: Vec<Acquisition> = raw.iter().map(|(at, latency)| granted(*at, *latency)).collect();
            let map = HeatSum::of(&acquisitions).heat_map();
            prop_assert_eq!(map.counts.iter().flatten().sum::<u64>(), acquisitions.len() as u64);
            prop_assert!(map.counts.len() as u64 <= MAX_COLUMNS);
            prop_assert!(map.counts.iter().all(|column| column.len() + 1 == map.row_edges_ms.len()));
        }

        #[test]
        fn a_row_holds_its_latencies(latency_ms in 0.1f64..3_600_000.0) {
            let row = row(latency_ms);
            prop_assert!(row < ROWS);
            prop_assert!(edge(row) <= latency_ms * 1.000_001 && latency_ms <= edge(row + 1) * 1.000_001);
        }
    }
}
