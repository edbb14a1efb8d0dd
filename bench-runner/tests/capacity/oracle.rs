//! The Universal Scalability Law on published data: the demo data sets of the R package `usl` (Möding), with the coefficients
//! that its documentation prints for them.

use bench_runner::capacity::models::{Errors, Fit, Law, fit, interval, replicates};

/// SPEC SDM91 on a Sun SPARCcenter 2000: generated load, and scripts an hour (Gunther, "Guerrilla Capacity Planning", 2007).
const SPEC_SDM91: [(f64, f64); 7] =
    [(1.0, 64.9), (18.0, 995.9), (36.0, 1652.4), (72.0, 1853.2), (108.0, 1828.9), (144.0, 1775.0), (216.0, 1702.2)];

/// A ray tracer on an SGI Origin: processors, and rays in a geometric scene a second (ibidem).
const RAY_TRACER: [(f64, f64); 11] = [
    (1.0, 20.0),
    (4.0, 78.0),
    (8.0, 130.0),
    (12.0, 170.0),
    (16.0, 190.0),
    (20.0, 200.0),
    (24.0, 210.0),
    (28.0, 230.0),
    (32.0, 260.0),
    (48.0, 280.0),
    (64.0, 310.0),
];

fn fitted(data: &[(f64, f64)]) -> Fit {
    fit(Law::ScalabilityLaw, data, 0.0, Errors::Absolute).unwrap()
}

fn assert_near(value: f64, published: f64, digits: f64) {
    assert!((value / published - 1.0).abs() < digits, "{value}, and {published} is published");
}

#[test]
fn the_spec_benchmark_has_the_published_coefficients() {
    let fit = fitted(&SPEC_SDM91);
    assert_near(fit.coefficients[0], 89.995_233, 1e-4);
    assert_near(fit.coefficients[1], 0.027_728_5, 1e-3);
    assert_near(fit.coefficients[2], 0.000_104_4, 1e-3);
    // Its peak, √((1 − σ)/κ), is published as 96.5.
    let peak = ((1.0 - fit.coefficients[1]) / fit.coefficients[2]).sqrt();
    assert_near(peak, 96.5, 2e-3);
}

#[test]
fn the_published_coefficients_lie_in_the_bootstrap_intervals() {
    let fit = fitted(&SPEC_SDM91);
    let all = replicates(&fit, &SPEC_SDM91, 7);
    assert!(all.len() > 150, "{} of the replicates came to an end", all.len());
    for (index, published, error) in [(1, 0.027_728_5, 0.009_121_7), (2, 0.000_104_4, 0.000_019_9)] {
        let (low, high) = interval(all.iter().map(|replicate| replicate.fit.coefficients[index])).unwrap();
        assert!(low < published && published < high, "{published} is not in {low}–{high}");
        // As wide as the published standard error asks for, within a factor of two.
        let width = (high - low) / (2.0 * 1.96 * error);
        assert!((0.5..2.0).contains(&width), "{low}–{high} is {width} times the published one");
    }
}

#[test]
fn the_ray_tracer_has_contention_and_no_coherence() {
    let fit = fitted(&RAY_TRACER);
    assert_near(fit.coefficients[0], 21.848_843, 1e-2);
    assert_near(fit.coefficients[1], 0.057_771, 1e-2);
    assert!(fit.coefficients[2] < 1e-6, "{}", fit.coefficients[2]);
}
