//! The distributions of rank sums where nothing differs, by counting.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to this many values the distribution is counted, beyond it is taken for normal; at 25 against 25 the two differ in
/// the third digit of the tails that matter here.
pub const COUNTED: usize = 60;

/// The distribution of a sum, and what of it lies at its upper end.
pub struct Sums(Vec<f64>);

impl Sums {
    /// The share of sums that are at least `sum`.
    pub fn at_least(&self, sum: usize) -> f64 {
        let all: f64 = self.0.iter().sum();
        self.0.iter().skip(sum).sum::<f64>() / all
    }

    /// How many of the largest sums make up at most the share `tail` together.
    pub fn largest_within(&self, tail: f64) -> usize {
        let most = self.0.iter().sum::<f64>() * tail;
        let mut seen = 0.0;
        // Sums from the largest that occurs at all.
        let occurring = self.0.iter().rev().skip_while(|ways| **ways == 0.0);
        occurring
            .take_while(|ways| {
                seen += **ways;
                // A share of exactly `tail` is within, whatever the last bit says.
                seen <= most * (1.0 + 1e-12)
            })
            .count()
    }
}

/// The sums of all choices of `chosen` among `ranks`. Ranks are whole numbers (twice the midranks, so that ties count
/// exactly).
pub fn sums_of_choices(ranks: &[usize], chosen: usize) -> Sums {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: choices of k ranks with the sum s.
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for k in (1..=chosen).rev() {
            let (fewer, these) = ways.split_at_mut(k);
            for s in (*rank..=most).rev() {
                these[0][s] += fewer[k - 1][s - rank];
            }
        }
    }
    Sums(ways.swap_remove(chosen))
}

/// The sums of all subsets of `ranks`.
pub fn sums_of_subsets(ranks: &[usize]) -> Sums {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for rank in ranks {
        for s in (*rank..=most).rev() {
            ways[s] += ways[s - rank];
        }
    }
    Sums(ways)
}

/// The share of a standard normal distribution above `z`.
pub fn normal_above(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Where the share `p`, above 0 and below 1, of a standard normal distribution lies above.
pub fn normal_quantile_above(p: f64) -> f64 {
    -Normal::standard().inverse_cdf(p)
}

/// Twice the midranks of the values, in their order.
pub fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count();
    let same = |value: f64| values.iter().filter(|other| **other == value).count();
    values.iter().map(|value| 2 * below(*value) + same(*value) + 1).collect()
}
