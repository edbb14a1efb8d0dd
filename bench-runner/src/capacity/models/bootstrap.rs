//! Intervals by resampling residuals (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 9): the fitted
//! curve, off by residuals drawn anew, is fitted again, so often that the spread of the fits shows.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::fit::{Fit, fit_from};

/// How often a fit is made again. The ends of 95 % intervals are then five fits from the outermost.
pub const REPLICATES: usize = 200;

/// The share of the replicates that an interval leaves out at each end.
const TAIL: f64 = 0.025;

/// A fit made again, and by how much one run differs from it.
#[derive(Clone, Debug)]
pub struct Replicate {
    /// The fit.
    pub fit: Fit,
    /// A residual for a run that is still to come.
    pub residual: f64,
}

/// Fits made again; fewer where some came to no end.
pub fn replicates(fit: &Fit, observed: &[(f64, f64)], seed: u64) -> Vec<Replicate> {
    let residuals = inflated(fit, observed.len());
    if residuals.is_empty() {
        return Vec::new();
    }
    let mut random = StdRng::seed_from_u64(seed);
    let mut draw = || residuals[random.random_range(0..residuals.len())];
    let again = (0..REPLICATES).filter_map(|_| {
        let drawn: Vec<(f64, f64)> = observed.iter().map(|(x, _)| (*x, fit.value_off_by(*x, draw()))).collect();
        let residual = draw();
        let fit = fit_from(fit.law, &fit.coefficients, &drawn, fit.rest_ms, fit.errors)?;
        Some(Replicate { fit, residual })
    });
    again.collect()
}

/// The residuals around their mean, larger by what the fit has taken off them.
fn inflated(fit: &Fit, number: usize) -> Vec<f64> {
    let free = number.saturating_sub(fit.coefficients.len());
    if free == 0 {
        return Vec::new();
    }
    let by = (number as f64 / free as f64).sqrt();
    let mean = fit.residuals.iter().sum::<f64>() / number as f64;
    fit.residuals.iter().map(|residual| by * (residual - mean)).collect()
}

/// The 95 % interval of these values, of which some may be infinite; `None` without any.
pub fn interval(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| values[(share * last as f64).round() as usize];
    Some((at(TAIL), at(1.0 - TAIL)))
}
