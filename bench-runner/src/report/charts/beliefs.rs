//! Who believed to hold, and when: a lane for each worker, so that two at once are seen beside one another.

use super::{Chart, first, struck};
use crate::measure::figures::{Arm, Leadership, StaleWrite};
use crate::report::format::Unit;
use crate::report::plot::{Axis, Bar, Form, Group, Key, Panel, Picture, Rows, Sign};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Beliefs;

/// The most workers of an arm that have a lane.
const MOST_LANES: usize = 6;
/// The most grants of an arm that are shown: in more, nobody would see two at once.
const MOST_GRANTS: usize = 60;

impl Chart for Beliefs {
    fn name(&self) -> &'static str {
        "beliefs"
    }

    fn title(&self) -> &'static str {
        "Who believed to hold"
    }

    fn caption(&self) -> &'static str {
        "The first trial of each arm, or as much of it as has 60 grants, of its first lock. Each lane is a worker, each stretch one of its \
         grants, from the grant until it did not act on it any more; where it is black, another one believed the same. A needle is a \
         stale write, after somebody else had read or written under a later grant: the plain store took it, the fenced one refused it. \
         At most six workers of an arm are shown, first those who held together with another one."
    }

    fn applies(&self, arms: &[ArmView]) -> bool {
        arms.iter().any(|view| shows(view.arm))
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn: Vec<&ArmView> = arms.iter().filter(|view| shows(view.arm) && !grants(view.arm).is_empty()).collect();
        if drawn.is_empty() {
            return Err("Nobody was granted anything in the first trial, so there is nobody to show.".to_owned());
        }
        let panels = drawn.iter().map(|view| Panel::Rows(panel(view))).collect();
        let mut signs = vec![(Sign::Stretches, "believed to hold"), (Sign::Overlap, "and so did another one")];
        if drawn.iter().any(|view| !view.arm.series.stale_writes.is_empty()) {
            signs.push((Sign::Needle, "stale write"));
        }
        if drawn.iter().any(|view| !struck(view).is_empty()) {
            signs.push((Sign::Rule, "fault"));
        }
        Ok(Picture { columns: 1, key: Key::Signs(signs), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let mut table = Table::new("Stale writes, first trial", 1, &["arm", "lock", "worker", "at second"]);
        for view in arms {
            for stale in &view.arm.series.stale_writes {
                let StaleWrite { resource, worker, seconds } = stale;
                table.row([first(view), resource.to_string(), worker.to_string(), format!("{seconds:.3}")]);
            }
        }
        if table.rows.is_empty() { Vec::new() } else { vec![table] }
    }
}

/// Whether an arm is about two holders at once.
fn shows(arm: &Arm) -> bool {
    arm.split_brain.is_some() || arm.control.is_some()
}

/// The grants of the first lock that are shown.
fn grants(arm: &Arm) -> Vec<&Leadership> {
    // One that came while the books were being closed is no part of the trial.
    let end = arm.trial.first().map_or(f64::INFINITY, |trial| trial.seconds);
    let of_trial = |one: &&Leadership| one.resource == 0 && one.from_seconds < end;
    arm.series.leaderships.iter().filter(of_trial).take(MOST_GRANTS).collect()
}

fn panel(view: &ArmView) -> Rows {
    let grants = grants(view.arm);
    let all = view.arm.series.leaderships.iter().filter(|one| one.resource == 0).count();
    let whole = view.arm.trial.first().map_or(0.0, |trial| trial.seconds);
    let until = match grants.last() {
        // Up to the last grant that is shown: later ones would be missing.
        Some(last) if all > MOST_GRANTS || view.arm.grants > all as u64 && all == MOST_GRANTS => last.from_seconds,
        _ => whole,
    };
    let rules: Vec<f64> = struck(view).into_iter().filter(|at| *at <= until).collect();
    let bars = workers(&grants).into_iter().map(|worker| lane(view, worker, &grants, until, &rules)).collect();
    Rows {
        title: String::new(),
        x: Axis::time("seconds since the trial began", [until]),
        groups: vec![Group { name: view.label.clone(), bars }],
    }
}

/// The workers that get a lane, those first who held together with another one.
fn workers(grants: &[&Leadership]) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::new();
    let overlapping = grants.iter().filter(|one| !shared(one, grants).is_empty());
    for one in overlapping.chain(grants) {
        if chosen.len() < MOST_LANES && !chosen.contains(&one.worker) {
            chosen.push(one.worker);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Where another worker believed to hold during this grant.
fn shared(one: &Leadership, grants: &[&Leadership]) -> Vec<(f64, f64)> {
    let others = grants.iter().filter(|other| other.worker != one.worker);
    let both = others.map(|other| (one.from_seconds.max(other.from_seconds), one.to_seconds.min(other.to_seconds)));
    both.filter(|(from, to)| from < to).collect()
}

fn lane(view: &ArmView, worker: u32, grants: &[&Leadership], until: f64, rules: &[f64]) -> Bar {
    let own: Vec<&Leadership> = grants.iter().copied().filter(|one| one.worker == worker).collect();
    let overlaps: Vec<(f64, f64)> = own.iter().flat_map(|one| shared(one, grants)).collect();
    let needles = view.arm.series.stale_writes.iter().filter(|stale| stale.worker == worker && stale.resource == 0);
    let held: f64 = own.iter().map(|one| one.to_seconds.min(until) - one.from_seconds).sum();
    Bar {
        arm: view.index,
        form: Form::Lane {
            stretches: own.iter().map(|one| (one.from_seconds, one.to_seconds.min(until))).collect(),
            overlaps: overlaps.into_iter().map(|(from, to)| (from, to.min(until))).collect(),
            needles: needles.map(|stale| stale.seconds).filter(|at| *at <= until).collect(),
            rules: rules.to_vec(),
        },
        to: until,
        text: format!("worker {worker}, {}", Unit::Milliseconds.show(held * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(worker: u32, from_seconds: f64, to_seconds: f64) -> Leadership {
        Leadership { resource: 0, worker, from_seconds, to_seconds }
    }

    #[test]
    fn two_at_once_are_two_workers_at_one_time() {
        let all = [grant(0, 1.0, 5.0), grant(1, 4.0, 8.0), grant(0, 6.0, 7.0), grant(2, 9.0, 10.0)];
        let grants: Vec<&Leadership> = all.iter().collect();
        assert_eq!(shared(&all[0], &grants), [(4.0, 5.0)]);
        assert_eq!(shared(&all[1], &grants), [(4.0, 5.0), (6.0, 7.0)]);
        assert!(shared(&all[3], &grants).is_empty());
    }

    #[test]
    fn those_who_held_together_have_their_lanes_first() {
        let mut all: Vec<Leadership> =
            (0..8).map(|worker| grant(worker, f64::from(worker), f64::from(worker) + 0.5)).collect();
        all.push(grant(7, 20.0, 22.0));
        all.push(grant(6, 21.0, 23.0));
        let grants: Vec<&Leadership> = all.iter().collect();
        assert_eq!(workers(&grants), [0, 1, 2, 3, 6, 7]);
    }
}
