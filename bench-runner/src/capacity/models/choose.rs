//! Which law a figure follows: the one that predicts best what it has not seen.
//!
//! Every third place of the curve is held out, the ends never: each law is fitted to the rest, and errs by so much at those
//! that were held out. A law with more coefficients has to be clearly better than one with fewer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::{Errors, fit};
use super::law::Law;

/// A law with more coefficients has to err less than this share of what one with fewer does …
const BETTER: f64 = 0.8;

/// … and by this much less, as a share of the figure: nobody prefers a law for half a per cent.
const WORTH: f64 = 0.005;

/// How a law did at the places that were held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The law.
    pub law: Law,
    /// Its mean error at the places that were held out, as a share; `null` where it could not be fitted to the rest.
    pub mean_error: Option<f64>,
    /// The median of those errors.
    pub median_error: Option<f64>,
}

/// The choice among laws.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The law that was chosen.
    pub law: Law,
    /// The places that were held out; empty where there are too few to hold any out.
    pub held_out: Vec<f64>,
    /// How each law did.
    pub candidates: Vec<Candidate>,
}

/// Places that are needed to hold any out.
const LEAST_PLACES: usize = 5;

/// Chooses among `laws`, of which the first is the null model. `places` are x with the median y there, rising.
pub fn choose(laws: &[Law], places: &[(f64, f64)], observed: &[(f64, f64)], rest_ms: f64, errors: Errors) -> Choice {
    let is_held_out = |index: usize| places.len() >= LEAST_PLACES && index % 3 == 2 && index + 1 < places.len();
    let held_out: Vec<(f64, f64)> =
        places.iter().enumerate().filter(|(index, _)| is_held_out(*index)).map(|(_, place)| *place).collect();
    let is_kept = |x: f64| held_out.iter().all(|(held, _)| *held != x);
    let kept: Vec<(f64, f64)> = observed.iter().copied().filter(|(x, _)| is_kept(*x)).collect();
    // Without any held out, laws are told apart by what they leave over where they were fitted.
    let judged = if held_out.is_empty() { places } else { &held_out };
    let candidate = |law: &Law| {
        let fitted = fit(*law, &kept, rest_ms, errors);
        let off = fitted.map(|fit| judged.iter().map(|(x, y)| share(fit.value(*x), *y)).collect::<Vec<f64>>());
        let off = off.filter(|off| off.iter().all(|error| error.is_finite()));
        Candidate {
            law: *law,
            mean_error: off.as_deref().and_then(mean),
            median_error: off.as_deref().and_then(median),
        }
    };
    let candidates: Vec<Candidate> = laws.iter().map(candidate).collect();
    let mut by_size: Vec<&Candidate> = candidates.iter().collect();
    by_size.sort_by_key(|candidate| candidate.law.coefficients().len());
    let best = by_size.into_iter().fold(None::<&Candidate>, |best, candidate| match (best, candidate.mean_error) {
        (None, Some(_)) => Some(candidate),
        (Some(so_far), Some(error)) => {
            let before = so_far.mean_error.unwrap_or(f64::INFINITY);
            let as_many = so_far.law.coefficients().len() == candidate.law.coefficients().len();
            let better = if as_many { error < before } else { error < BETTER * before && error + WORTH < before };
            Some(if better { candidate } else { so_far })
        }
        (best, None) => best,
    });
    let law = best.map_or(laws.first().copied().unwrap_or(Law::Constant), |best| best.law);
    Choice { law, held_out: held_out.into_iter().map(|(x, _)| x).collect(), candidates }
}

/// How far a prediction is off, as a share of what was measured; of nothing, whether it is nothing.
pub fn share(predicted: f64, measured: f64) -> f64 {
    if measured == 0.0 { predicted.abs() } else { (predicted / measured - 1.0).abs() }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle of the values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let (middle, number) = (values.len() / 2, values.len());
    match number {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}
