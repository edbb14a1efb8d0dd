//! Rank tests, one-sided: is one sample larger than the other?
//!
//! `statrs` has a Mann–Whitney test, exact without ties alone; figures that are rounded to three digits tie, and with the few
//! trials of a gate the normal approximation is not good enough. Both tests are therefore counted exactly here, ties included,
//! and `statrs` gives the normal distribution for many values.

use super::null::{COUNTED, doubled_midranks, normal_above, sums_of_choices, sums_of_subsets};

/// How likely `after` is to rank at least this high above `before` where both are from one distribution: the one-sided p of
/// H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other",
/// Annals of Mathematical Statistics 18 (1947). 1 without values.
///
/// Exact (conditional on the ties) up to 60 values in all; beyond, normal with the correction for ties and continuity.
pub fn mann_whitney(before: &[f64], after: &[f64]) -> f64 {
    if before.is_empty() || after.is_empty() {
        return 1.0;
    }
    let pooled: Vec<f64> = before.iter().chain(after).copied().collect();
    let ranks = doubled_midranks(&pooled);
    let sum: usize = ranks[before.len()..].iter().sum();
    if pooled.len() <= COUNTED {
        return sums_of_choices(&ranks, after.len()).at_least(sum);
    }
    let (m, n) = (before.len() as f64, after.len() as f64);
    let all = m + n;
    let mean = n * (all + 1.0);
    // Of twice the rank sum: four times the usual variance.
    let variance = 4.0 * m * n / 12.0 * (all + 1.0 - ties(&ranks) / (all * (all - 1.0)));
    if variance <= 0.0 { 1.0 } else { normal_above((sum as f64 - mean - 1.0) / variance.sqrt()) }
}

/// How likely differences are to lie at least this far above 0 where they are symmetric around it: the one-sided p of
/// F. Wilcoxon's signed ranks, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945); differences of 0 are
/// left out, as he does. 1 without differences.
///
/// Exact (conditional on the ties) up to 60 differences; beyond, normal with the corrections for ties and continuity.
pub fn signed_rank(differences: &[f64]) -> f64 {
    let kept: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if kept.is_empty() {
        return 1.0;
    }
    let sizes: Vec<f64> = kept.iter().map(|difference| difference.abs()).collect();
    let ranks = doubled_midranks(&sizes);
    let sum: usize = ranks.iter().zip(&kept).filter(|(_, difference)| **difference > 0.0).map(|(rank, _)| rank).sum();
    if kept.len() <= COUNTED {
        return sums_of_subsets(&ranks).at_least(sum);
    }
    let mean = ranks.iter().sum::<usize>() as f64 / 2.0;
    let variance = ranks.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0;
    normal_above((sum as f64 - mean - 1.0) / variance.sqrt())
}

/// Σ (t³ − t) over the groups of t equal ranks.
fn ties(ranks: &[usize]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(3) - group.len() as f64).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        // All of 3 above all of 3: one choice of C(6, 3) = 20.
        assert!((mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.05).abs() < 1e-12);
        assert!((mann_whitney(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
        // One of 20 pairs the wrong way round: two choices of C(9, 4) are as high.
        let p = mann_whitney(&[1.1, 2.2, 3.3, 0.9], &[2.5, 4.1, 3.9, 5.2, 6.0]);
        assert!((p - 2.0 / 126.0).abs() < 1e-12, "{p}");
        // Signed ranks of 5 positive differences: one of 2⁵ signs.
        assert!((signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 1.0 / 32.0).abs() < 1e-12);
        assert_eq!(signed_rank(&[0.0, 0.0]), 1.0);
        assert_eq!(mann_whitney(&[1.0], &[]), 1.0);
    }

    #[test]
    fn equal_values_say_nothing() {
        assert_eq!(mann_whitney(&[2.0; 8], &[2.0; 8]), 1.0);
        assert_eq!(mann_whitney(&[2.0; 40], &[2.0; 40]), 1.0);
    }

    /// Where they are taken for normal, counting them all the same finds nearly the same.
    #[test]
    fn many_values_are_nearly_normal() {
        let spread = |from: f64| -> Vec<f64> { (0..35).map(|i| from + f64::from(i)).collect() };
        let (before, after) = (spread(0.0), spread(8.5));
        let ranks = doubled_midranks(&[before.clone(), after.clone()].concat());
        let counted = sums_of_choices(&ranks, 35).at_least(ranks[35..].iter().sum());
        let normal = mann_whitney(&before, &after);
        assert!((counted / normal - 1.0).abs() < 0.25, "{counted} {normal}");

        let mixed: Vec<f64> = (1..=70).map(|i| if i % 3 == 0 { -f64::from(i) } else { f64::from(i) }).collect();
        let sum = mixed.iter().filter(|value| **value > 0.0).map(|value| *value as usize).sum();
        let counted = sums_of_subsets(&(1..=70).collect::<Vec<_>>()).at_least(sum);
        let normal = signed_rank(&mixed);
        assert!((counted / normal - 1.0).abs() < 0.25, "{counted} {normal}");
    }

    proptest! {
        /// Counting by sums finds what counting every choice finds, ties included.
        #[test]
        fn the_count_is_that_of_all_choices(values in prop::collection::vec(0u8..6, 2..9), split in 1usize..8) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let split = split.min(values.len() - 1);
            let (before, after) = values.split_at(split);
            let ranks = doubled_midranks(&values);
            let seen: usize = ranks[split..].iter().sum();
            let (mut all, mut as_high) = (0.0, 0.0);
            for mask in 0u32..1 << values.len() {
                if mask.count_ones() as usize == after.len() {
                    let sum: usize = (0..values.len()).filter(|i| mask >> i & 1 == 1).map(|i| ranks[i]).sum();
                    all += 1.0;
                    as_high += f64::from(u8::from(sum >= seen));
                }
            }
            prop_assert!((mann_whitney(before, after) - as_high / all).abs() < 1e-9);
        }
    }
}
