//! All points of a sweep, in an order drawn by the seed.
//!
//! Servers are started for each number of nodes once, so everything at one number of nodes stands together; the numbers
//! themselves are in random order. Within it the first round climbs, all branches side by side, so that a branch which breaks
//! its limits can end before its dearest points: where one seems to, the place is measured once more at once, so that no single
//! hiccup of the machine cuts a branch off. Every later round is in random order, so that a drift of the machine falls
//! on no place more than on another.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::branch::{Rules, end_of};
use crate::capacity::point::{Cell, Point};
use crate::scenario::{SweepSettings, Variable};

/// The points in order.
pub fn order(sweep: &SweepSettings, arms: usize, seed: u64) -> Vec<Cell> {
    let mut random = StdRng::seed_from_u64(seed);
    let seconds: Vec<Option<f64>> = match &sweep.second {
        Some(axis) => axis.values.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut cells = Vec::new();
    for (xs, ys) in groups(sweep, &seconds, &mut random) {
        for repeat in 1..=sweep.repeats {
            let mut round = Vec::new();
            for x in &xs {
                let mut step: Vec<Cell> =
                    (0..arms).flat_map(|arm| ys.iter().map(move |y| Cell { arm, x: *x, y: *y, repeat })).collect();
                step.shuffle(&mut random);
                round.extend(step);
            }
            if repeat > 1 {
                round.shuffle(&mut random);
            }
            cells.extend(round);
        }
    }
    cells
}

/// What stands together because it is on the same servers.
type Group = (Vec<f64>, Vec<Option<f64>>);

fn groups(sweep: &SweepSettings, seconds: &[Option<f64>], random: &mut StdRng) -> Vec<Group> {
    let xs = &sweep.first.values;
    let is_nodes = |variable: Variable| variable == Variable::Nodes;
    let mut groups: Vec<Group> = if is_nodes(sweep.first.variable) {
        xs.iter().map(|x| (vec![*x], seconds.to_vec())).collect()
    } else if sweep.second.as_ref().is_some_and(|axis| is_nodes(axis.variable)) {
        seconds.iter().map(|y| (xs.clone(), vec![*y])).collect()
    } else {
        vec![(xs.clone(), seconds.to_vec())]
    };
    groups.shuffle(random);
    groups
}

/// The next point that was not measured, and is not beyond the end of its branch.
pub fn next(order: &[Cell], rules: &Rules<'_>, done: &[Point]) -> Option<Cell> {
    left(order, rules, done).into_iter().next()
}

/// All such points, those of a place that seems to be the end of its branch first.
pub fn left(order: &[Cell], rules: &Rules<'_>, done: &[Point]) -> Vec<Cell> {
    let mut ends: Vec<(usize, Option<f64>, Option<f64>)> = Vec::new();
    let mut end = |cell: &Cell| {
        if let Some((.., end)) = ends.iter().find(|(arm, y, _)| cell.is_beside(*arm, *y)) {
            return *end;
        }
        let end = end_of(rules, cell.arm, cell.y, done).map(|(at, _)| at);
        ends.push((cell.arm, cell.y, end));
        end
    };
    let is_done = |cell: &Cell| done.iter().any(|point| point.cell == *cell);
    let mut left: Vec<Cell> =
        order.iter().copied().filter(|cell| !is_done(cell) && end(cell).is_none_or(|at| cell.x < at)).collect();
    let is_suspect = |cell: &Cell| {
        let of_place = |point: &&Point| point.cell.is_beside(cell.arm, cell.y) && point.cell.x == cell.x;
        rules.is_load && rules.is_suspect(&done.iter().filter(of_place).collect::<Vec<_>>())
    };
    // Stable: what is not pulled forward stays in its order.
    left.sort_by_cached_key(|cell| !is_suspect(cell));
    left
}
