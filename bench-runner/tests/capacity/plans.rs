//! The plan: every point once, whatever was measured before and in whichever order it was read back.

use std::collections::BTreeSet;

use bench_runner::capacity::compose::rules;
use bench_runner::capacity::plan::Plan;
use bench_runner::capacity::point::{Cell, Point};
use bench_runner::scenario::Scenario;
use proptest::prelude::*;

use crate::synthetic::{SWEEP, Source, TWO, scenario, sweep};

fn key(cell: Cell) -> (usize, u64, u64, u32) {
    (cell.arm, cell.x.to_bits(), cell.y.unwrap_or(0.0).to_bits(), cell.repeat)
}

fn cells(points: &[Point]) -> Vec<Cell> {
    points.iter().map(|point| point.cell).collect()
}

/// Goes on from these points to the end.
fn goes_on(scenario: &Scenario, points: Vec<Point>, search: bool) -> Vec<Point> {
    goes_on_with(scenario, points, search, &|_| false)
}

/// The same, where the machine has a hiccup at these points: acquisitions take a hundred seconds.
fn goes_on_with(
    scenario: &Scenario,
    mut points: Vec<Point>,
    search: bool,
    is_hiccup: &dyn Fn(Cell) -> bool,
) -> Vec<Point> {
    let settings = scenario.sweep.as_ref().unwrap();
    let rules = rules(&scenario.slo, settings);
    let plan = Plan::of(scenario, search).unwrap();
    // Figures depend on the place alone here, as they would without noise.
    let mut source = Source::new(0, 0.0);
    while let Some(cell) = plan.next(&rules, settings, scenario.arms.len(), &points) {
        let mut point = source.point(scenario, cell);
        if is_hiccup(cell) {
            point.figures.insert("acquire_ms.p99".to_owned(), 1e5);
        }
        points.push(point);
    }
    points
}

#[test]
fn the_order_is_the_seeds() {
    let order = |text: &str| cells(&sweep(&scenario(text), 1, 0.0, false));
    assert_eq!(order(SWEEP), order(SWEEP));
    assert_ne!(order(SWEEP), order(&SWEEP.replace("seed = 3", "seed = 4")));
}

#[test]
fn the_first_round_climbs_and_the_others_are_mixed() {
    let scenario = scenario(&SWEEP.replace("repeats = 3", "repeats = 3\nstop_beyond = 1000"));
    let all = cells(&sweep(&scenario, 1, 0.0, false));
    assert_eq!(all.len(), 2 * 10 * 3);
    let round = |repeat: u32| all.iter().filter(|cell| cell.repeat == repeat).map(|cell| cell.x).collect::<Vec<_>>();
    assert!(round(1).is_sorted());
    assert!(!round(2).is_sorted() && !round(3).is_sorted() && round(2) != round(3));
    assert!(all.iter().map(|cell| cell.repeat).is_sorted());
}

#[test]
fn servers_are_started_once_for_each_number_of_nodes() {
    let all = cells(&sweep(&scenario(TWO), 1, 0.0, false));
    let mut nodes: Vec<u64> = all.iter().map(|cell| cell.y.unwrap() as u64).collect();
    nodes.dedup();
    assert_eq!(nodes.len(), 3, "{nodes:?}");
    assert_eq!(nodes.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([1, 3, 5]));
}

/// Seen on a real server: the first point of a server that had just started was the only one of its branch, and the answer was
/// "fewer than 25 workers".
#[test]
fn a_single_hiccup_ends_no_branch_and_two_of_one_place_do() {
    let scenario = scenario(SWEEP);
    let far = |cell: &Cell| cell.arm == 0 && cell.x == 20.0;
    let places = |points: &[Point]| {
        let own = points.iter().filter(|point| point.cell.arm == 0).map(|point| point.cell.x as u64);
        own.collect::<BTreeSet<_>>()
    };
    for search in [false, true] {
        let plain = goes_on(&scenario, Vec::new(), search);
        let once = goes_on_with(&scenario, Vec::new(), search, &|cell| far(&cell) && cell.repeat == 1);
        assert_eq!(places(&once), places(&plain), "search: {search}");

        let always = cells(&goes_on_with(&scenario, Vec::new(), search, &|cell| far(&cell)));
        let there: Vec<usize> = (0..always.len()).filter(|number| far(&always[*number])).collect();
        assert_eq!(there.len(), 2, "search: {search}");
        assert!(search || there[1] == there[0] + 1, "it is seen to at once");
        assert!(search || always.iter().all(|cell| cell.arm != 0 || cell.x <= 20.0), "and nothing beyond is measured");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// Interrupted anywhere, and read back in any order, a sweep ends with the same points, none of them twice.
    #[test]
    fn a_sweep_that_goes_on_measures_the_same_points(
        seed in 0u64..1_000, two in any::<bool>(), search in any::<bool>(), share in 0.0f64..1.0, turned in any::<bool>(),
    ) {
        let text = if two { TWO } else { SWEEP };
        let scenario = scenario(&text.replace("version = 1\n", &format!("version = 1\n# {seed}\n")).replace("seed = 3", &format!("seed = {seed}")));
        let whole = goes_on(&scenario, Vec::new(), search);
        let mut kept = whole[..(whole.len() as f64 * share) as usize].to_vec();
        if turned {
            kept.reverse();
        }
        let resumed = goes_on(&scenario, kept.clone(), search);
        prop_assert_eq!(&resumed[..kept.len()], &kept[..], "what was measured stays");
        let set = |points: &[Point]| points.iter().map(|point| key(point.cell)).collect::<BTreeSet<_>>();
        prop_assert_eq!(set(&resumed), set(&whole));
        prop_assert_eq!(resumed.len(), set(&resumed).len(), "no point twice");
        if !turned {
            prop_assert_eq!(cells(&resumed), cells(&whole), "and in the same order");
        }
    }

    /// Nothing is measured beyond the end of a branch once that is known.
    #[test]
    fn nothing_is_measured_beyond_an_end(seed in 0u64..1_000, noise in 0.0f64..0.2) {
        let scenario = scenario(&SWEEP.replace("seed = 3", &format!("seed = {seed}")));
        let settings = scenario.sweep.as_ref().unwrap();
        let rules = rules(&scenario.slo, settings);
        let points = sweep(&scenario, seed, noise, false);
        for (number, point) in points.iter().enumerate() {
            let end = bench_runner::capacity::plan::branch::end_of(&rules, point.cell.arm, None, &points[..number]);
            prop_assert!(end.is_none_or(|(at, _)| point.cell.x < at));
        }
    }
}
