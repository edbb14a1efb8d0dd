//! Fits find the coefficients again that synthetic data were made with, and the choice finds the law.

use bench_runner::capacity::models::{Errors, Law, choose, fit, interval, replicates};
use proptest::prelude::*;

use crate::synthetic::Source;

const PLACES: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0];

fn exact(law: Law, coefficients: &[f64], rest_ms: f64) -> Vec<(f64, f64)> {
    PLACES.map(|x| (x, law.value(coefficients, x, rest_ms))).into_iter().filter(|(_, y)| y.is_finite()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_scalability_law_is_found_again(rate in 1.0f64..1e4, contention in 1e-3f64..0.5, coherence in 1e-6f64..1e-2) {
        let data = exact(Law::ScalabilityLaw, &[rate, contention, coherence], 0.0);
        for errors in [Errors::Relative, Errors::Absolute] {
            let found = fit(Law::ScalabilityLaw, &data, 0.0, errors).unwrap();
            for (found, known) in found.coefficients.iter().zip([rate, contention, coherence]) {
                prop_assert!((found / known - 1.0).abs() < 1e-2, "{found}, not {known} ({errors:?})");
            }
        }
    }

    #[test]
    fn power_laws_are_found_again(offset in 1.0f64..100.0, factor in 0.1f64..100.0, exponent in 0.5f64..2.5) {
        let data = exact(Law::PowerLaw, &[factor, exponent], 0.0);
        let found = fit(Law::PowerLaw, &data, 0.0, Errors::Relative).unwrap();
        prop_assert!((found.coefficients[1] - exponent).abs() < 1e-6);
        let data = exact(Law::OffsetPowerLaw, &[offset, factor, exponent], 0.0);
        let found = fit(Law::OffsetPowerLaw, &data, 0.0, Errors::Relative).unwrap();
        for (x, y) in data {
            prop_assert!((found.value(x) / y - 1.0).abs() < 1e-3, "{} at {x}, not {y}", found.value(x));
        }
    }

    #[test]
    fn a_closed_queue_is_found_again(service in 0.1f64..10.0, per_worker in 1e-4f64..0.1, rest in 0.0f64..500.0) {
        let data = exact(Law::ClosedQueue, &[service, per_worker], rest);
        let found = fit(Law::ClosedQueue, &data, rest, Errors::Relative).unwrap();
        prop_assert!((found.coefficients[0] / service - 1.0).abs() < 1e-2, "{:?}, not {service}", found.coefficients);
        prop_assert!((found.coefficients[1] / per_worker - 1.0).abs() < 1e-2, "{:?}, not {per_worker}", found.coefficients);
    }

    #[test]
    fn an_open_queue_is_found_again(service in 0.2f64..0.9, variation in 0.5f64..3.0) {
        let data = exact(Law::OpenQueue, &[service, variation], 0.0);
        let found = fit(Law::OpenQueue, &data, 0.0, Errors::Relative).unwrap();
        for (found, known) in found.coefficients.iter().zip([service, variation]) {
            prop_assert!((found / known - 1.0).abs() < 1e-2, "{found}, not {known}");
        }
    }

    /// Without a rest a closed queue is `N·S`, with a long one nobody waits, and it never falls.
    #[test]
    fn a_closed_queue_has_its_asymptotes(service in 0.1f64..10.0, n in 1.0f64..1_000.0, rest in 0.0f64..1e5) {
        let at = |n: f64, rest: f64| Law::ClosedQueue.value(&[service, 0.0], n, rest);
        prop_assert!((at(n, 0.0) / (n * service) - 1.0).abs() < 1e-9);
        prop_assert!((at(n, 1e12) / service - 1.0).abs() < 1e-3);
        prop_assert!(at(n, rest) <= at(n + 1.0, rest) * (1.0 + 1e-9));
        // Nobody waits less than the work that the others leave, or less than one's own.
        prop_assert!(at(n, rest) >= (n * service - rest).max(service) * (1.0 - 1e-9));
    }
}

/// Pollaczek and Khinchine: an M/M/1 queue (C² = 1) has R = S / (1 − ρ), an M/D/1 queue (C² = 0) half of its wait.
#[test]
fn an_open_queue_is_that_of_the_text_books() {
    let (service, rate) = (5.0, 150.0);
    let utilisation: f64 = rate * service / 1e3;
    let exponential = Law::OpenQueue.value(&[service, 1.0], rate, 0.0);
    assert!((exponential - service / (1.0 - utilisation)).abs() < 1e-9, "{exponential}");
    let constant = Law::OpenQueue.value(&[service, 0.5], rate, 0.0);
    assert!(((constant - service) * 2.0 - (exponential - service)).abs() < 1e-9, "{constant}");
    assert!(Law::OpenQueue.value(&[service, 1.0], 200.0, 0.0).is_infinite());
}

type Places = Vec<(f64, f64)>;

/// The exact values, and three noisy observations at each place.
fn noisy(law: Law, coefficients: &[f64], seed: u64) -> (Places, Places) {
    let mut source = Source::new(seed, 0.03);
    let exact = exact(law, coefficients, 0.0);
    let observed = exact.iter().flat_map(|(x, y)| [(*x, *y), (*x, *y), (*x, *y)]);
    let observed = observed.map(|(x, y)| (x, y * source.factor())).collect();
    (exact, observed)
}

#[test]
fn the_law_that_made_the_data_is_chosen() {
    let known: [(&[Law], Law, &[f64]); 4] = [
        (&[Law::Constant, Law::PowerLaw, Law::ScalabilityLaw], Law::ScalabilityLaw, &[100.0, 0.02, 1e-4]),
        (&[Law::Constant, Law::PowerLaw, Law::OffsetPowerLaw], Law::PowerLaw, &[3.0, 1.3]),
        (&[Law::Constant, Law::PowerLaw, Law::OffsetPowerLaw], Law::OffsetPowerLaw, &[500.0, 3.0, 1.0]),
        (&[Law::Constant, Law::PowerLaw, Law::OffsetPowerLaw, Law::ClosedQueue], Law::ClosedQueue, &[5.0, 0.05]),
    ];
    for (laws, law, coefficients) in known {
        let hits = (0..20).filter(|seed| {
            let (exact, observed) = noisy(law, coefficients, *seed);
            choose(laws, &exact, &observed, 0.0, Errors::Relative).law == law
        });
        assert!(hits.count() >= 17, "{law:?} is hardly ever chosen");
    }
}

#[test]
fn where_nothing_matters_the_null_model_is_chosen() {
    let laws = [Law::Constant, Law::PowerLaw, Law::OffsetPowerLaw];
    let hits = (0..20).filter(|seed| {
        let (_, observed) = noisy(Law::Constant, &[5.0], *seed);
        let places: Vec<(f64, f64)> = observed.chunks(3).map(|three| three[1]).collect();
        choose(&laws, &places, &observed, 0.0, Errors::Relative).law == Law::Constant
    });
    assert!(hits.count() >= 15);
}

#[test]
fn every_third_place_is_held_out_and_the_ends_never() {
    let (exact, observed) = noisy(Law::PowerLaw, &[3.0, 1.0], 1);
    let choice = choose(&[Law::Constant, Law::PowerLaw], &exact, &observed, 0.0, Errors::Relative);
    assert_eq!(choice.held_out, [5.0, 50.0, 500.0]);
    let few = choose(&[Law::Constant, Law::PowerLaw], &exact[..3], &observed[..9], 0.0, Errors::Relative);
    assert_eq!((few.held_out.len(), few.law), (0, Law::PowerLaw));
}

/// An interval that is said to hold 95 % has to hold the truth that often: here in at least 35 of 40 draws.
#[test]
fn intervals_hold_what_they_say() {
    let known = [100.0, 0.02, 1e-4];
    let mut hits = [0; 3];
    for seed in 0..40 {
        let (_, observed) = noisy(Law::ScalabilityLaw, &known, seed);
        let fit = fit(Law::ScalabilityLaw, &observed, 0.0, Errors::Relative).unwrap();
        let all = replicates(&fit, &observed, seed);
        for (index, known) in known.iter().enumerate() {
            let (low, high) = interval(all.iter().map(|replicate| replicate.fit.coefficients[index])).unwrap();
            hits[index] += usize::from(low <= *known && *known <= high);
        }
    }
    assert!(hits.iter().all(|hits| *hits >= 35), "{hits:?} of 40");
}

#[test]
fn too_few_places_for_a_law_are_no_fit() {
    let observed = [(5.0, 1.0), (5.0, 1.1), (5.0, 0.9)];
    assert!(fit(Law::PowerLaw, &observed, 0.0, Errors::Relative).is_none());
    let level = fit(Law::Constant, &observed, 0.0, Errors::Relative).unwrap();
    assert!((level.value(5.0) - 1.0).abs() < 0.02);
    assert!(fit(Law::Constant, &[], 0.0, Errors::Relative).is_none());
}
