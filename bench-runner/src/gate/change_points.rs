//! Where a series changes: E-divisive, D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point
//! Analysis of Multivariate Data", Journal of the American Statistical Association 109 (2014), as Apache Otava (Hunter) uses it
//! on benchmarks.
//!
//! A series is cut where the energy distance between what lies before and after is largest; whether that is a change is told by
//! permutations of what lies between the cuts. Then the parts are cut again, until no cut is significant.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

/// Permutations of each test: p is a multiple of 1/1000.
const PERMUTATIONS: u32 = 999;

/// A cut leaves at least this many values on each side: fewer are an outlier, not a level.
pub const FEWEST: usize = 4;

/// How the search for change points goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The largest p at which a cut is a change.
    pub significance: f64,
    /// Where the permutations begin: the same seed finds the same.
    pub seed: u64,
}

impl Default for Search {
    /// One false change in 200 series where there is none.
    fn default() -> Self {
        Search { significance: 0.005, seed: 1 }
    }
}

/// The first value of each new level, in rising order. Values must be finite.
pub fn change_points(values: &[f64], search: Search) -> Vec<usize> {
    let mut random = SmallRng::seed_from_u64(search.seed);
    let mut cuts: Vec<usize> = Vec::new();
    loop {
        let segments = segments(&cuts, values.len());
        let best = segments.iter().filter_map(|(from, to)| best_cut(&values[*from..*to]).map(|cut| (*from, *to, cut)));
        let Some((from, to, cut)) = best.max_by(|a, b| a.2.statistic.total_cmp(&b.2.statistic)) else { break };
        // The best cut over all segments is compared with the best over all segments of permuted ones, as the authors do;
        // each segment is permuted within itself, so that changes found before stay.
        let is_larger = |random: &mut SmallRng| {
            let largest = segments.iter().filter_map(|(from, to)| {
                let mut part = values[*from..*to].to_vec();
                part.shuffle(random);
                best_cut(&part).map(|cut| cut.statistic)
            });
            largest.fold(f64::NEG_INFINITY, f64::max) >= cut.statistic
        };
        // p is (1 + how many are as large) / (1 + permutations): once too many are, the rest cannot help.
        let allowed = (search.significance * f64::from(PERMUTATIONS + 1)).floor() as usize;
        let too_many = (0..PERMUTATIONS).filter(|_| is_larger(&mut random)).nth(allowed.saturating_sub(1)).is_some();
        if too_many || allowed == 0 || cut.statistic <= 0.0 {
            break;
        }
        debug_assert!(from + cut.at < to);
        cuts.push(from + cut.at);
        cuts.sort_unstable();
    }
    cuts
}

/// The parts between the cuts.
fn segments(cuts: &[usize], length: usize) -> Vec<(usize, usize)> {
    let edges: Vec<usize> = std::iter::once(0).chain(cuts.iter().copied()).chain([length]).collect();
    edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// A cut and how far apart its sides are.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: usize,
    statistic: f64,
}

/// The cut with the largest energy statistic; `None` of a part that is too short to cut.
///
/// The sums of distances within the sides and between them are carried along from cut to cut, so a part of n values takes
/// n² steps.
fn best_cut(part: &[f64]) -> Option<Cut> {
    let n = part.len();
    if n < 2 * FEWEST {
        return None;
    }
    let distance = |i: usize, j: usize| (part[i] - part[j]).abs();
    let to_earlier: Vec<f64> = (0..n).map(|i| (0..i).map(|j| distance(i, j)).sum()).collect();
    let to_all: Vec<f64> = (0..n).map(|i| (0..n).map(|j| distance(i, j)).sum()).collect();
    let all: f64 = to_earlier.iter().sum();
    let mut within_left = 0.0;
    let mut left_to_all = 0.0;
    let mut best: Option<Cut> = None;
    for at in 1..n {
        within_left += to_earlier[at - 1];
        left_to_all += to_all[at - 1];
        if at < FEWEST || n - at < FEWEST {
            continue;
        }
        // Each pair within the left is in its rows twice.
        let between = left_to_all - 2.0 * within_left;
        let within_right = all - within_left - between;
        let (left, right) = (at as f64, (n - at) as f64);
        let pairs = |number: f64| number * (number - 1.0) / 2.0;
        let energy = 2.0 * between / (left * right) - within_left / pairs(left) - within_right / pairs(right);
        let statistic = energy * left * right / (left + right);
        if best.is_none_or(|best| statistic > best.statistic) {
            best = Some(Cut { at, statistic });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::*;

    const NONE: [usize; 0] = [];

    /// A normal deviate (Box and Muller).
    fn normal(random: &mut SmallRng) -> f64 {
        let (u, v): (f64, f64) = (random.random::<f64>().max(1e-300), random.random());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Levels with noise of 3 %, each so many values long.
    fn series(seed: u64, levels: &[(f64, usize)]) -> Vec<f64> {
        let mut random = SmallRng::seed_from_u64(seed);
        let levels = levels.iter().flat_map(|(level, length)| std::iter::repeat_n(*level, *length));
        levels.map(|level| level * (1.0 + 0.03 * normal(&mut random))).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        for seed in 0..10 {
            let values = series(seed, &[(10.0, 15), (12.0, 20), (10.5, 15)]);
            assert_eq!(change_points(&values, Search::default()), [15, 35], "seed {seed}");
        }
    }

    #[test]
    fn a_slow_drift_is_seen() {
        // One per cent a run: no two runs differ, thirty do.
        let mut random = SmallRng::seed_from_u64(3);
        let values: Vec<f64> =
            (0..30).map(|i| 10.0 * (1.0 + 0.01 * f64::from(i)) * (1.0 + 0.03 * normal(&mut random))).collect();
        assert!(!change_points(&values, Search::default()).is_empty());
    }

    #[test]
    fn noise_has_no_steps() {
        let with_steps = |seed: &u64| !change_points(&series(*seed, &[(10.0, 40)]), Search::default()).is_empty();
        let found = (100..200).filter(with_steps).count();
        assert!(found <= 1, "{found} of 100");
    }

    #[test]
    fn an_outlier_is_no_level_and_short_series_have_none() {
        let mut values = series(5, &[(10.0, 30)]);
        values[20] = 30.0;
        assert_eq!(change_points(&values, Search::default()), NONE);
        assert_eq!(change_points(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0], Search::default()), NONE);
        assert_eq!(change_points(&[5.0; 40], Search::default()), NONE);
        assert_eq!(change_points(&[], Search::default()), NONE);
    }

    proptest! {
        /// The sums carried along are those of the definition.
        #[test]
        fn the_statistic_is_that_of_the_definition(part in prop::collection::vec(-10.0f64..10.0, 8..20)) {
            let mean = |a: &[f64], b: &[f64]| {
                a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum::<f64>() / (a.len() * b.len()) as f64
            };
            // Within a side, over pairs of different values.
            let within = |a: &[f64]| mean(a, a) * a.len() as f64 / (a.len() as f64 - 1.0);
            let statistic = |at: usize| {
                let (left, right) = part.split_at(at);
                let (m, n) = (left.len() as f64, right.len() as f64);
                (2.0 * mean(left, right) - within(left) - within(right)) * m * n / (m + n)
            };
            let largest = (FEWEST..=part.len() - FEWEST).map(statistic).fold(f64::NEG_INFINITY, f64::max);
            let found = best_cut(&part).unwrap();
            prop_assert!((found.statistic - largest).abs() < 1e-9);
            prop_assert!((statistic(found.at) - largest).abs() < 1e-9);
        }
    }
}
