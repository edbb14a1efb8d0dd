//! The statistics of the gate: rank tests, the interval of a shift, and the correction for many metrics. Everything works on
//! a handful of values (a trial each) of an unknown distribution, so nothing here assumes one.

mod holm;
mod null;
mod ranks;
mod shift;

pub use holm::holm;
pub use ranks::{mann_whitney, signed_rank};
pub use shift::{Shift, fewest_trials, paired, unpaired};

/// The median; `None` without values. Values must be finite.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The median of values in rising order.
fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
