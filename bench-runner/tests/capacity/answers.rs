//! The answer: where curves cross limits, with intervals, and how often those of two sweeps overlap.

use bench_runner::capacity::answer::crossing;
use bench_runner::capacity::document::{Answer, Capacity, Reach};
use bench_runner::scenario::gate::Slo;
use proptest::prelude::*;

use crate::synthetic::{SWEEP, capacity, scenario, sweep};

fn answers(seed: u64, noise: f64, search: bool) -> Capacity {
    let scenario = scenario(SWEEP);
    capacity(&scenario, sweep(&scenario, seed, noise, search), search)
}

fn of<'c>(capacity: &'c Capacity, arm: &str) -> &'c Answer {
    capacity.answers.iter().find(|answer| answer.arm == arm).unwrap()
}

/// 2 ms and 0.1 ms for each worker: N·(2 + 0.1 N) = 1,000 at N = 90.5; 4 ms: at N = 250.
#[test]
fn the_answer_is_where_the_limit_breaks() {
    let capacity = answers(1, 0.03, false);
    let naive = of(&capacity, "lock/naive");
    assert_eq!((naive.reach, naive.breaks_first.as_deref()), (Reach::Breaks, Some("acquire_ms.p99 < 1000")));
    assert!((80.0..100.0).contains(&naive.value.unwrap()), "{naive:?}");
    assert!(naive.low < naive.value && naive.value < naive.high, "{naive:?}");
    assert_eq!((naive.kept, naive.broken), (Some(60.0), Some(100.0)));
    let free = of(&capacity, "lock/sequential");
    assert!((225.0..275.0).contains(&free.value.unwrap()), "{free:?}");
    let line = bench_runner::report::capacity::terminal(&capacity, false);
    let first = line.lines().next().unwrap();
    assert!(first.starts_with("lock/naive: ") && first.contains("workers ("), "{first}");
}

#[test]
fn a_branch_that_is_far_beyond_its_limits_ends() {
    let capacity = answers(1, 0.01, false);
    // 160 workers take 2.9 s, 250 take 6.8 s: the first that is more than three times beyond 1 s.
    assert_eq!(capacity.stopped.len(), 2, "{:?}", capacity.stopped);
    assert_eq!((capacity.stopped[0].arm.as_str(), capacity.stopped[0].at), ("lock/naive", 250.0));
    let most = |arm: &str| {
        let own = capacity.points.iter().filter(|point| point.label == arm);
        own.map(|point| point.cell.x).fold(0.0, f64::max)
    };
    assert_eq!(most("lock/naive"), 250.0);
    assert_eq!(most("lock/sequential"), 1000.0);
}

/// What the sweep of both locks has to show, on data whose counts are exact.
#[test]
fn counts_grow_by_the_exponents_that_they_have() {
    let capacity = answers(1, 0.05, false);
    let curve = |arm: &str, figure: &str| {
        capacity.curves.iter().find(|curve| curve.arm == arm && curve.figure == figure).unwrap()
    };
    let exponent = |arm: &str, figure: &str| curve(arm, figure).exponent.as_ref().unwrap().value;
    assert!(exponent("lock/naive", "requests.per_grant") > 0.85);
    assert!(exponent("lock/sequential", "requests.per_grant").abs() < 1e-6);
    assert!(exponent("lock/sequential", "requests.response_bytes_per_grant") > 0.6);
    for figure in ["requests.per_grant", "notifications.per_grant", "requests.response_bytes_per_grant"] {
        for arm in ["lock/naive", "lock/sequential"] {
            let curve = curve(arm, figure);
            assert!(curve.held_out_error.unwrap() < 0.02, "{figure} of {arm}: {curve:?}");
        }
    }
    let p99 = curve("lock/naive", "acquire_ms.p99");
    assert!(p99.held_out_error.unwrap() < 0.15, "{:?}", p99.candidates);
}

#[test]
fn a_search_closes_in_on_the_same_place() {
    let capacity = answers(5, 0.005, true);
    for (arm, known) in [("lock/naive", 90.5), ("lock/sequential", 250.0)] {
        let answer = of(&capacity, arm);
        let (low, high) = (answer.low.unwrap(), answer.high.unwrap());
        assert!(low <= known * 1.02 && known <= high * 1.02, "{answer:?}");
        assert!(high / low <= 1.06, "{answer:?}");
        assert_eq!(answer.breaks_first.as_deref(), Some("acquire_ms.p99 < 1000"));
    }
}

/// Intervals of two sweeps that differ in their noise alone overlap: 19 of 20 pairs at the least.
#[test]
fn two_sweeps_agree() {
    let all: Vec<Capacity> = (0..21).map(|seed| answers(100 + seed, 0.05, false)).collect();
    let ends = |answer: &Answer| (answer.low.unwrap_or(0.0), answer.high.unwrap_or(f64::INFINITY));
    let overlap = |one: &Answer, other: &Answer| {
        let ((low, high), (other_low, other_high)) = (ends(one), ends(other));
        low.max(other_low) <= high.min(other_high)
    };
    let agree = all.windows(2).filter(|pair| {
        ["lock/naive", "lock/sequential"].iter().all(|arm| overlap(of(&pair[0], arm), of(&pair[1], arm)))
    });
    assert!(agree.count() >= 19);
}

#[test]
fn limits_that_nothing_breaks_are_said_to_be_kept() {
    let text = SWEEP.replace("acquire_ms.p99 < 1000", "acquire_ms.p99 < 1000000");
    let scenario = scenario(&text);
    let capacity = capacity(&scenario, sweep(&scenario, 1, 0.02, false), false);
    let free = of(&capacity, "lock/sequential");
    assert_eq!((free.reach, free.value), (Reach::NotReached, None));
    let text = bench_runner::report::capacity::terminal(&capacity, false);
    assert!(text.contains("lock/sequential: more than 1,000 workers, no limit breaks"), "{text}");
}

/// What is measured says that 100 workers keep the limit and 160 do not, while the nearest law is a constant that keeps it: a
/// figure that jumps between two places follows no curve.
#[test]
fn points_that_break_a_limit_are_believed_before_a_curve_that_does_not() {
    let scenario = scenario(SWEEP);
    let mut points = sweep(&scenario, 3, 0.02, false);
    points.retain(|point| point.label == "lock/sequential" && point.cell.x <= 160.0);
    for point in &mut points {
        let jumps = point.cell.x == 160.0;
        point.figures.insert("acquire_ms.p99".to_owned(), if jumps { 1_001.0 } else { 999.0 });
    }
    let capacity = capacity(&scenario, points, false);
    let free = of(&capacity, "lock/sequential");
    assert_eq!((free.reach, free.breaks_first.as_deref()), (Reach::Breaks, Some("acquire_ms.p99 < 1000")), "{free:?}");
    assert_eq!((free.value, free.low, free.high), (Some(100.0), Some(100.0), Some(160.0)));
    let text = bench_runner::report::capacity::terminal(&capacity, false);
    let told = "lock/sequential: 100 workers (100–160), acquire_ms.p99 < 1000 breaks first";
    assert!(text.starts_with(told), "{text}");
}

#[test]
fn a_limit_that_is_broken_from_the_start_is_told() {
    let scenario = scenario(&SWEEP.replace("bystander_ms.p99 < 50", "bystander_ms.p99 < 1"));
    let capacity = capacity(&scenario, sweep(&scenario, 1, 0.02, false), false);
    let naive = of(&capacity, "lock/naive");
    assert_eq!((naive.reach, naive.breaks_first.as_deref()), (Reach::AtOnce, Some("bystander_ms.during.p99 < 1")));
}

proptest! {
    /// The wider the limit, the more is carried; and what is carried keeps the limit.
    #[test]
    fn more_is_carried_within_a_wider_limit(
        service in 0.1f64..20.0, per_worker in 0.0f64..1.0, limit in 1.0f64..1e5, wider in 1.0f64..10.0,
    ) {
        let curve = |x: f64| x * (service + per_worker * x);
        let slo = |limit: f64| format!("acquire_ms.p99 < {limit}").parse::<Slo>().unwrap();
        let at = |limit: f64| crossing(curve, &slo(limit), 1.0, 4_000.0);
        prop_assert!(at(limit) <= at(limit * wider));
        let carried = at(limit);
        if carried > 0.0 && carried.is_finite() {
            prop_assert!(curve(carried) <= limit * (1.0 + 1e-9));
            prop_assert!(curve(carried * 1.001 + 1e-6) >= limit, "{carried} is not the most");
        }
    }
}
