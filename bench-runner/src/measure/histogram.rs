//! HDR histograms of latencies: microseconds, three significant digits, from 1 µs to 1 h.

use hdrhistogram::Histogram;

use super::figures::{Latency, PercentilePoint};

/// The largest value that is told apart, in microseconds: one hour. What is longer counts as this.
pub const MAX_MICROS: u64 = 3_600_000_000;

/// A histogram of microseconds. 3 significant digits over that range take about 180 KiB.
pub type Micros = Histogram<u64>;

/// An empty histogram.
pub fn empty() -> Micros {
    // The bounds are constants that the crate accepts: low ≥ 1, high ≥ 2 × low, at most 5 digits.
    #[allow(clippy::unwrap_used)]
    Histogram::new_with_bounds(1, MAX_MICROS, 3).unwrap()
}

/// Counts a latency of `nanos` nanoseconds, rounded to the nearest microsecond; what is below 1 µs counts as 1.
pub fn record(histogram: &mut Micros, nanos: u64) {
    histogram.saturating_record((nanos.saturating_add(500) / 1_000).clamp(1, MAX_MICROS));
}

/// Adds the counts of `other`.
pub fn merge(into: &mut Micros, other: &Micros) {
    // All histograms here have the same bounds, and only a value beyond them could fail.
    let _ = into.add(other);
}

/// Microseconds as milliseconds.
pub fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

/// The figures that reports show.
pub fn latency(histogram: &Micros) -> Latency {
    if histogram.is_empty() {
        return Latency::default();
    }
    let at = |quantile: f64| Some(millis(histogram.value_at_quantile(quantile)));
    Latency {
        count: histogram.len(),
        mean: Some(histogram.mean() / 1_000.0),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: Some(millis(histogram.max())),
    }
}

/// The curve by percentile: five points for each halving of the distance to 100 %, as HdrHistogram's own output has it.
pub fn curve(histogram: &Micros) -> Vec<PercentilePoint> {
    let mut points: Vec<PercentilePoint> = histogram
        .iter_quantiles(5)
        .map(|step| PercentilePoint { percentile: step.quantile() * 100.0, ms: millis(step.value_iterated_to()) })
        .collect();
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_histogram_has_no_figures() {
        assert_eq!(latency(&empty()), Latency::default());
        assert!(curve(&empty()).is_empty());
    }

    #[test]
    fn values_beyond_the_bounds_are_kept_at_the_bounds() {
        let mut histogram = empty();
        record(&mut histogram, 0);
        record(&mut histogram, u64::MAX);
        assert_eq!(histogram.len(), 2);
        assert_eq!(histogram.min(), 1);
        assert!(histogram.max() >= MAX_MICROS);
    }

    proptest! {
        /// Merging is the same as having recorded everything in one: the reason why histograms are merged.
        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(0u64..10_000_000_000, 0..200), b in prop::collection::vec(0u64..10_000_000_000, 0..200)) {
            let of = |values: &[u64]| { let mut histogram = empty(); values.iter().for_each(|value| record(&mut histogram, *value)); histogram };
            let mut merged = of(&a);
            merge(&mut merged, &of(&b));
            prop_assert_eq!(latency(&merged), latency(&of(&[a, b].concat())));
        }

        /// Three significant digits: every percentile is within 0.1 % of a value that was recorded, or 1 µs.
        #[test]
        fn percentiles_are_true_to_three_digits(values in prop::collection::vec(1_000u64..10_000_000_000, 1..300), quantile in 0.0f64..1.0) {
            let mut histogram = empty();
            values.iter().for_each(|value| record(&mut histogram, *value));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let rank = ((quantile * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
            let truth = sorted[rank - 1] as f64 / 1_000.0;
            let found = histogram.value_at_quantile(quantile) as f64;
            prop_assert!((found - truth).abs() <= truth * 0.001 + 1.0, "found {found}, true {truth}");
        }
    }
}
