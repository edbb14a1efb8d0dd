//! The correction for many metrics.

/// The p values, adjusted so that comparing each with α keeps the chance of any false alarm at all below α: S. Holm, "A Simple
/// Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979). It asks nothing of how the
/// metrics hang together, as latency and throughput of one trial do.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (done, index) in order.iter().enumerate() {
        let left = (p_values.len() - done) as f64;
        largest = largest.max((p_values[*index] * left).min(1.0));
        adjusted[*index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        // 4 × 0.005, 3 × 0.01, 2 × 0.03, and 0.04 not below the one before.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
    }

    proptest! {
        #[test]
        fn never_below_and_in_the_same_order(p in prop::collection::vec(0.0f64..=1.0, 1..20)) {
            let adjusted = holm(&p);
            for (a, before) in adjusted.iter().zip(&p) {
                prop_assert!(*a >= *before && *a <= 1.0);
            }
            for i in 0..p.len() {
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
