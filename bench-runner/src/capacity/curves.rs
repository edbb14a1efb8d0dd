//! Curves through the points of a branch, one for each figure.

use super::document::{Coefficient, Curve, CurvePoint};
use super::figure::{Figure, Kind, laws};
use super::models::{Errors, Fit, Law, Replicate, choose, fit, interval, median, replicates};
use super::plan::branch::by_place;
use super::point::Point;
use crate::scenario::Variable;

/// Places of a curve that are stored.
const PLACES: usize = 61;

/// How far beyond the largest measured value a curve is drawn and asked.
pub const FARTHEST: f64 = 2.0;

/// A curve, and what it takes to ask it where it crosses a limit.
pub struct Fitted {
    /// What is stored of it.
    pub curve: Curve,
    /// The fit to all points.
    pub fit: Fit,
    /// The same fit with residuals drawn anew.
    pub replicates: Vec<Replicate>,
    /// The smallest and the largest measured value.
    pub measured: (f64, f64),
}

/// Whether a point's figure of this kind is to be believed.
fn is_sound(point: &Point, kind: Kind) -> bool {
    point.is_complete() && (kind != Kind::Latency || point.little.is_none_or(|little| little.holds()))
}

/// Fits the figure over the points of a branch; `None` where hardly any point has it.
pub fn fitted(figure: &Figure, variable: Variable, branch: &[&Point], seed: u64) -> Option<Fitted> {
    let first = branch.first()?;
    let has = branch.iter().filter(|point| point.figure(figure.name).is_some());
    let sound: Vec<&&Point> = has.clone().filter(|point| is_sound(point, figure.kind)).collect();
    let left_out = branch.len() - sound.len();
    let observed: Vec<(f64, f64)> =
        sound.iter().filter_map(|point| Some((point.cell.x, point.figure(figure.name)?))).collect();
    let places: Vec<(f64, f64)> = by_place(sound.iter().map(|point| **point))
        .into_iter()
        .filter_map(|(x, points)| {
            let values: Vec<f64> = points.iter().filter_map(|point| point.figure(figure.name)).collect();
            Some((x, median(&values)?))
        })
        .collect();
    let (low, high) = (places.first()?.0, places.last()?.0);
    let is_positive = observed.iter().all(|(_, y)| *y > 0.0);
    let errors = if is_positive { Errors::Relative } else { Errors::Absolute };
    let rest_ms = first.think_ms;
    let choice = choose(&laws(figure.kind, variable, &first.mode), &places, &observed, rest_ms, errors);
    let fit = fit(choice.law, &observed, rest_ms, errors)?;
    let replicates = replicates(&fit, &observed, seed);
    let chosen = choice.candidates.iter().find(|candidate| candidate.law == choice.law);
    let curve = Curve {
        arm: first.label.clone(),
        y: first.cell.y,
        figure: figure.name.to_owned(),
        kind: figure.kind,
        law: choice.law,
        coefficients: coefficients(&fit, &replicates),
        exponent: is_positive.then(|| exponent(&observed, seed)).flatten(),
        knee: knee(&fit).filter(|knee| *knee <= FARTHEST * high),
        held_out_error: chosen.and_then(|chosen| chosen.median_error).filter(|_| !choice.held_out.is_empty()),
        held_out: choice.held_out,
        candidates: choice.candidates,
        points: observed.len() as u32,
        left_out: left_out as u32,
        line: line(&fit, &replicates, (low, high)),
    };
    Some(Fitted { curve, fit, replicates, measured: (low, high) })
}

fn coefficients(fit: &Fit, replicates: &[Replicate]) -> Vec<Coefficient> {
    let names = fit.law.coefficients().iter().enumerate();
    names
        .map(|(index, (name, _))| {
            let ends = interval(replicates.iter().map(|replicate| replicate.fit.coefficients[index]));
            Coefficient {
                name: (*name).to_owned(),
                value: fit.coefficients[index],
                low: ends.map(|ends| ends.0),
                high: ends.map(|ends| ends.1),
            }
        })
        .collect()
}

/// The exponent of the power law nearest to the points.
fn exponent(observed: &[(f64, f64)], seed: u64) -> Option<Coefficient> {
    let power = fit(Law::PowerLaw, observed, 0.0, Errors::Relative)?;
    let all = coefficients(&power, &replicates(&power, observed, seed));
    all.into_iter().find(|coefficient| coefficient.name == "exponent")
}

/// Where throughput peaks by the scalability law: √((1 − σ) / κ).
fn knee(fit: &Fit) -> Option<f64> {
    match (fit.law, fit.coefficients.as_slice()) {
        (Law::ScalabilityLaw, [_, contention, coherence]) if *contention < 1.0 && *coherence > 0.0 => {
            Some(((1.0 - contention) / coherence).sqrt())
        }
        _ => None,
    }
}

/// Places in equal ratios, from the smallest measured value to twice the largest.
fn line(fit: &Fit, replicates: &[Replicate], (low, high): (f64, f64)) -> Vec<CurvePoint> {
    let ratio = FARTHEST * high / low;
    let mut places: Vec<f64> = (0..PLACES).map(|index| low * ratio.powf(index as f64 / (PLACES - 1) as f64)).collect();
    // The last measured place is one, so that what is dashed begins there.
    places.push(high);
    places.sort_by(f64::total_cmp);
    places.dedup();
    let point = |x: f64| {
        let ends = interval(replicates.iter().map(|replicate| replicate.fit.value_off_by(x, replicate.residual)));
        let finite = |value: f64| value.is_finite().then_some(value);
        let y = finite(fit.value(x))?;
        let (low, high_end) = (ends.and_then(|ends| finite(ends.0)), ends.and_then(|ends| finite(ends.1)));
        Some(CurvePoint { x, y, low, high: high_end, extrapolated: x > high })
    };
    places.into_iter().filter_map(point).collect()
}

/// The median error of curves at the places that were held out, over all of these curves.
pub fn held_out_errors<'c>(curves: impl IntoIterator<Item = &'c Curve>) -> Option<f64> {
    let errors: Vec<f64> = curves.into_iter().filter_map(|curve| curve.held_out_error).collect();
    median(&errors)
}
