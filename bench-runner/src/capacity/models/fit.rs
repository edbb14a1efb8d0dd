//! Fits a law to observations by least squares, with the crate `levenberg-marquardt` (a port of MINPACK's `lmder`).
//!
//! Coefficients that cannot be negative are fitted by their logarithm; the Jacobian is taken by central differences, which is
//! exact enough for curves as smooth as these.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};

use super::law::{Domain, Law};

/// What a residual is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// The difference of the logarithms: what is measured over several orders of magnitude errs by a share of itself.
    Relative,
    /// The difference, as published fits of the scalability law have it; also where a figure can be 0.
    Absolute,
}

/// A law with the coefficients that fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Its coefficients, in the order of [`Law::coefficients`].
    pub coefficients: Vec<f64>,
    /// Rest of a closed queue, milliseconds.
    pub rest_ms: f64,
    /// What its residuals are.
    pub errors: Errors,
    /// Residuals of the observations, in their order.
    pub residuals: Vec<f64>,
}

impl Fit {
    /// The curve at `x`.
    pub fn value(&self, x: f64) -> f64 {
        self.law.value(&self.coefficients, x, self.rest_ms)
    }

    /// The curve at `x`, off by a residual.
    pub fn value_off_by(&self, x: f64, residual: f64) -> f64 {
        match self.errors {
            Errors::Relative => self.value(x) * residual.exp(),
            Errors::Absolute => self.value(x) + residual,
        }
    }

    fn sum_of_squares(&self) -> f64 {
        self.residuals.iter().map(|residual| residual * residual).sum()
    }
}

/// Fits `law` to pairs of x and y; `None` where there are fewer places than coefficients, or no fit comes to an end. Relative
/// errors need values above 0.
pub fn fit(law: Law, observed: &[(f64, f64)], rest_ms: f64, errors: Errors) -> Option<Fit> {
    let mut places: Vec<f64> = observed.iter().map(|(x, _)| *x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if places.len() < law.coefficients().len() {
        return None;
    }
    let fits = law.starts(observed).into_iter().filter_map(|start| fit_from(law, &start, observed, rest_ms, errors));
    fits.min_by(|one, other| one.sum_of_squares().total_cmp(&other.sum_of_squares()))
}

/// The same from one start: for a bootstrap, which knows where the fit is.
pub(super) fn fit_from(law: Law, start: &[f64], observed: &[(f64, f64)], rest_ms: f64, errors: Errors) -> Option<Fit> {
    let domains: Vec<Domain> = law.coefficients().iter().map(|(_, domain)| *domain).collect();
    let inner = |(value, domain): (&f64, &Domain)| match domain {
        Domain::Positive => value.max(1e-300).ln(),
        Domain::Any => *value,
    };
    let parameters = DVector::from_iterator(start.len(), start.iter().zip(&domains).map(inner));
    let problem = Problem {
        law,
        domains,
        rest_ms,
        errors,
        // Absolute residuals in the figure's own size, so that tolerances mean the same for bytes and for seconds.
        scale: observed.iter().map(|(_, y)| y.abs()).fold(f64::MIN_POSITIVE, f64::max),
        observed,
        parameters,
    };
    let (problem, report) =
        LevenbergMarquardt::new().with_ftol(1e-12).with_xtol(1e-12).with_gtol(0.0).with_patience(60).minimize(problem);
    if !report.objective_function.is_finite() {
        return None;
    }
    let coefficients = problem.coefficients(&problem.parameters);
    let residuals = problem.errors_at(&coefficients);
    if residuals.contains(&OUTSIDE) {
        return None;
    }
    let unscaled = match errors {
        Errors::Relative => 1.0,
        Errors::Absolute => problem.scale,
    };
    let residuals = residuals.iter().map(|residual| residual * unscaled).collect();
    Some(Fit { law, coefficients, rest_ms, errors, residuals })
}

/// The residual where a curve has no value, or one that the figure cannot have: so large that no step goes there.
const OUTSIDE: f64 = 1e6;

struct Problem<'a> {
    law: Law,
    domains: Vec<Domain>,
    rest_ms: f64,
    errors: Errors,
    scale: f64,
    observed: &'a [(f64, f64)],
    parameters: DVector<f64>,
}

impl Problem<'_> {
    fn coefficients(&self, parameters: &DVector<f64>) -> Vec<f64> {
        let outer = |(value, domain): (&f64, &Domain)| match domain {
            Domain::Positive => value.exp(),
            Domain::Any => *value,
        };
        parameters.iter().zip(&self.domains).map(outer).collect()
    }

    /// Observed against the curve.
    fn errors_at(&self, coefficients: &[f64]) -> Vec<f64> {
        let residual = |(x, y): &(f64, f64)| {
            let curve = self.law.value(coefficients, *x, self.rest_ms);
            let residual = match self.errors {
                Errors::Relative => (y / curve).ln(),
                Errors::Absolute => (y - curve) / self.scale,
            };
            if residual.is_finite() { residual } else { OUTSIDE }
        };
        self.observed.iter().map(residual).collect()
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Problem<'_> {
    type ParameterStorage = Owned<f64, Dyn>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;

    fn set_params(&mut self, parameters: &DVector<f64>) {
        self.parameters.copy_from(parameters);
    }

    fn params(&self) -> DVector<f64> {
        self.parameters.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        Some(DVector::from_vec(self.errors_at(&self.coefficients(&self.parameters))))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let mut jacobian = DMatrix::zeros(self.observed.len(), self.parameters.len());
        for column in 0..self.parameters.len() {
            let step = 1e-6 * self.parameters[column].abs().max(1.0);
            let at = |step: f64| {
                let mut moved = self.parameters.clone();
                moved[column] += step;
                self.errors_at(&self.coefficients(&moved))
            };
            let (above, below) = (at(step), at(-step));
            for (row, (above, below)) in above.iter().zip(&below).enumerate() {
                jacobian[(row, column)] = (above - below) / (2.0 * step);
            }
        }
        Some(jacobian)
    }
}
