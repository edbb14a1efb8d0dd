//! What is drawn at random: within its bounds, right in the mean, and the same again from the same seed.
use std::time::Duration;

use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use workloads::settings::{Arrivals, Delay};

fn draw(delay: Delay, seed: u64, count: usize) -> Vec<Duration> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..count).map(|_| delay.draw(&mut rng)).collect()
}

fn mean(lengths: &[Duration]) -> f64 {
    lengths.iter().map(Duration::as_secs_f64).sum::<f64>() / lengths.len() as f64
}

/// So many standard deviations off happens once in 500 million times; the seeds do not change from run to run of a test
/// that fails.
const SIGMAS: f64 = 6.0;

fn length() -> impl Strategy<Value = Duration> {
    (0u64..10_000_000_000).prop_map(Duration::from_nanos)
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    let rate = || 0.1f64..20_000.0;
    prop_oneof![rate().prop_map(Arrivals::Constant), rate().prop_map(Arrivals::Poisson)]
}

proptest! {
    #[test]
    fn a_fixed_delay_is_always_the_same_and_takes_no_chance(fixed in length(), seed in any::<u64>()) {
        let mut rng = SmallRng::seed_from_u64(seed);
        prop_assert_eq!(Delay::Fixed(fixed).draw(&mut rng), fixed);
        prop_assert_eq!(rng, SmallRng::seed_from_u64(seed));
    }

    #[test]
    fn a_uniform_delay_stays_within_its_bounds(a in length(), b in length(), seed in any::<u64>()) {
        let (low, high) = (a.min(b), a.max(b));
        let lengths = draw(Delay::Uniform(low, high), seed, 1000);
        prop_assert!(lengths.iter().all(|length| (low..=high).contains(length)));
        let width = (high - low).as_secs_f64();
        let bound = SIGMAS * width / 12f64.sqrt() / 1000f64.sqrt() + 1e-9;
        prop_assert!((mean(&lengths) - (low + high).as_secs_f64() / 2.0).abs() <= bound);
    }

    #[test]
    fn an_exponential_delay_has_its_mean_and_its_median(of in 1u64..10_000_000_000, seed in any::<u64>()) {
        let of = Duration::from_nanos(of);
        let lengths = draw(Delay::Exponential(of), seed, 2000);
        // Each is rounded to a nanosecond.
        let bound = SIGMAS * of.as_secs_f64() / 2000f64.sqrt() + 1e-9;
        prop_assert!((mean(&lengths) - of.as_secs_f64()).abs() <= bound);
        let half = Duration::from_secs_f64(of.as_secs_f64() * std::f64::consts::LN_2);
        let below = lengths.iter().filter(|length| **length <= half).count() as f64;
        prop_assume!(of > Duration::from_micros(1));
        prop_assert!((below - 1000.0).abs() <= SIGMAS * 500f64.sqrt());
    }

    #[test]
    fn no_delay_is_too_long_to_draw(secs in any::<u64>(), other in any::<u64>(), seed in any::<u64>()) {
        let (a, b) = (Duration::from_secs(secs), Duration::from_secs(other));
        for delay in [Delay::Exponential(a), Delay::Uniform(a, b), Delay::Fixed(b)] {
            draw(delay, seed, 10);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same(a in length(), b in length(), seed in any::<u64>()) {
        for delay in [Delay::Exponential(a), Delay::Uniform(a.min(b), a.max(b))] {
            prop_assert_eq!(draw(delay, seed, 50), draw(delay, seed, 50));
        }
    }

    #[test]
    fn another_seed_draws_something_else(seed in 0..u64::MAX) {
        let delay = Delay::Exponential(Duration::from_secs(1));
        prop_assert_ne!(draw(delay, seed, 5), draw(delay, seed + 1, 5));
    }

    #[test]
    fn a_schedule_is_sorted_within_the_length_and_the_same_again(arrivals in arrivals(), length in length(), seed in any::<u64>()) {
        let schedule = |seed| arrivals.schedule(length, &mut SmallRng::seed_from_u64(seed));
        let due = schedule(seed);
        prop_assert!(due.is_sorted());
        prop_assert!(due.iter().all(|due| u128::from(*due) <= length.as_nanos()));
        prop_assert_eq!(due, schedule(seed));
    }

    #[test]
    fn a_schedule_has_its_rate(arrivals in arrivals(), length in length(), seed in any::<u64>()) {
        let due = arrivals.schedule(length, &mut SmallRng::seed_from_u64(seed)).len() as f64;
        match arrivals {
            Arrivals::Constant(rate) => prop_assert!((due - (rate * length.as_secs_f64()).ceil()).abs() <= 1.0),
            Arrivals::Poisson(rate) => {
                let expected = rate * length.as_secs_f64();
                // Above the bounds of a normal distribution where the mean is small.
                let bound = SIGMAS * expected.sqrt() + 12.0;
                prop_assert!((due - expected).abs() <= bound, "{due} of {expected}");
            }
        }
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced(rate in 0.1f64..20_000.0, length in length()) {
        let due = Arrivals::Constant(rate).schedule(length, &mut SmallRng::seed_from_u64(0));
        for (number, due) in due.iter().enumerate() {
            // Rounded to nanoseconds, and added up with the error of each step.
            prop_assert!((*due as f64 - number as f64 * 1e9 / rate).abs() <= 1_000.0);
        }
    }
}

#[test]
fn there_is_nothing_due_in_no_time() {
    let mut rng = SmallRng::seed_from_u64(1);
    assert_eq!(Arrivals::Constant(10.0).schedule(Duration::ZERO, &mut rng), [0; 0]);
    assert_eq!(Arrivals::Poisson(10.0).schedule(Duration::ZERO, &mut rng), [0; 0]);
}
