//! A figure with its spread over the trials.

use super::figures::Quantity;

impl Quantity {
    /// Mean, sample standard deviation, smallest and largest of `values`; all 0 without values.
    pub fn of(values: &[f64]) -> Quantity {
        if values.is_empty() {
            return Quantity::default();
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Quantity {
            mean,
            spread: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        let quantity = Quantity::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((quantity.mean, quantity.min, quantity.max), (5.0, 2.0, 9.0));
        assert!((quantity.spread.unwrap_or_default() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Quantity::of(&[3.0]).spread, None);
    }

    proptest! {
        #[test]
        fn the_mean_lies_between_the_ends(values in prop::collection::vec(-1e6f64..1e6, 1..50)) {
            let quantity = Quantity::of(&values);
            prop_assert!(quantity.min <= quantity.mean + 1e-6 && quantity.mean <= quantity.max + 1e-6);
            prop_assert!(quantity.spread.is_none_or(|spread| spread >= 0.0 && spread <= quantity.max - quantity.min + 1e-6));
        }
    }
}
