//! By how much one sample is larger than the other, with an interval.

use super::median_of_sorted;
use super::null::{COUNTED, normal_quantile_above, sums_of_choices, sums_of_subsets};

/// An estimate and the interval around it. Where there are too few values for the level asked for, the interval is unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The shift from `before` to `after`: the median of all pairwise differences, J. L. Hodges and E. L. Lehmann, "Estimates of
/// Location Based on Rank Tests", Annals of Mathematical Statistics 34 (1963). The interval is the rank test turned round
/// (L. E. Moses; see M. Hollander, D. A. Wolfe and E. Chicken, "Nonparametric Statistical Methods", section 4.3), with at most
/// `tail` left out at each end. Of logarithms, it is the logarithm of the ratio of the medians. `None` without values.
pub fn unpaired(before: &[f64], after: &[f64], tail: f64) -> Option<Shift> {
    let mut differences: Vec<f64> = before.iter().flat_map(|a| after.iter().map(move |b| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let (m, n) = (before.len(), after.len());
    let cut = match m + n {
        few if few <= COUNTED => {
            let ranks: Vec<usize> = (1..=m + n).collect();
            sums_of_choices(&ranks, n).largest_within(tail)
        }
        _ => {
            let (m, n) = (m as f64, n as f64);
            let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
            (m * n / 2.0 - normal_quantile_above(tail) * deviation).floor().max(0.0) as usize
        }
    };
    between(&differences, cut)
}

/// The shift of differences between pairs: the median of all means of two of them (Walsh averages), with the interval of the
/// signed ranks turned round (J. W. Tukey; Hollander, Wolfe and Chicken, section 3.3). `None` without differences.
pub fn paired(differences: &[f64], tail: f64) -> Option<Shift> {
    let n = differences.len();
    let mut walsh: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for (index, a) in differences.iter().enumerate() {
        walsh.extend(differences[index..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    walsh.sort_by(f64::total_cmp);
    let cut = if n <= COUNTED {
        let ranks: Vec<usize> = (1..=n).collect();
        sums_of_subsets(&ranks).largest_within(tail)
    } else {
        let number = n as f64;
        let deviation = (number * (number + 1.0) * (2.0 * number + 1.0) / 24.0).sqrt();
        (walsh.len() as f64 / 2.0 - normal_quantile_above(tail) * deviation).floor().max(0.0) as usize
    };
    between(&walsh, cut)
}

/// The median, and the `cut`-th value from each end; unbounded where `cut` is 0.
fn between(sorted: &[f64], cut: usize) -> Option<Shift> {
    let estimate = median_of_sorted(sorted)?;
    let (low, high) = match cut {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        cut => (sorted[(cut - 1).min(sorted.len() - 1)], sorted[sorted.len().saturating_sub(cut)]),
    };
    Some(Shift { estimate, low: low.min(estimate), high: high.max(estimate) })
}

/// The fewest trials of each side with which a rank test can reach `p` at all: fewer can never tell anything.
pub fn fewest_trials(p: f64, is_paired: bool) -> u32 {
    let mut smallest = 1.0;
    (1..1_000u32)
        .find(|number| {
            let n = f64::from(*number);
            // One choice of C(2n, n), or of 2ⁿ.
            smallest *= if is_paired { 0.5 } else { n / (2.0 * (2.0 * n - 1.0)) };
            smallest <= p
        })
        .unwrap_or(1_000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let shift = unpaired(&[2.0, 4.0, 6.0, 8.0, 10.0], &[4.5, 6.5, 8.5, 10.5, 15.5], 0.05).unwrap();
        assert_eq!(shift.estimate, 2.5);
        // The 5th of 25 differences from each end: P(U ≤ 4) is 12/252.
        assert_eq!((shift.low, shift.high), (-1.5, 7.5));
        let few = unpaired(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 0.01).unwrap();
        assert_eq!((few.estimate, few.low, few.high), (1.0, f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(unpaired(&[], &[1.0], 0.05), None);
        let pairs = paired(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05).unwrap();
        // P(W ≤ 0) is 1/32, P(W ≤ 1) is 2/32: only the outermost averages are left out.
        assert_eq!((pairs.estimate, pairs.low, pairs.high), (3.0, 1.0, 5.0));
    }

    #[test]
    fn fewest() {
        // 1/20 at 3, 1/70 at 4, 1/252 at 5; 1/32 at 5, 1/128 at 7.
        assert_eq!([0.05, 0.02, 0.01].map(|p| fewest_trials(p, false)), [3, 4, 5]);
        assert_eq!([0.05, 0.01].map(|p| fewest_trials(p, true)), [5, 7]);
    }

    proptest! {
        /// A shift of the sample is a shift of everything, and the interval holds the estimate.
        #[test]
        fn the_estimate_moves_with_the_sample(
            before in prop::collection::vec(-10.0f64..10.0, 1..12),
            after in prop::collection::vec(-10.0f64..10.0, 1..12),
            by in -5.0f64..5.0,
        ) {
            let moved: Vec<f64> = after.iter().map(|value| value + by).collect();
            let (one, other) = (unpaired(&before, &after, 0.05).unwrap(), unpaired(&before, &moved, 0.05).unwrap());
            prop_assert!((other.estimate - one.estimate - by).abs() < 1e-9);
            prop_assert!(one.low <= one.estimate && one.estimate <= one.high);
        }
    }
}
