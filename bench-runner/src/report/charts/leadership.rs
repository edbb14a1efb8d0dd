//! Who held when, and when nobody did.

use super::{Chart, any_faults, first, struck};
use crate::measure::figures::Leadership;
use crate::report::format::Unit;
use crate::report::plot::{Axis, Bar, Form, Group, Key, Panel, Picture, Rows, Sign};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Leaderships;

/// The most lanes of an arm with several locks.
const MOST_LANES: usize = 6;

impl Chart for Leaderships {
    fn name(&self) -> &'static str {
        "leadership"
    }

    fn title(&self) -> &'static str {
        "Leadership over time"
    }

    fn caption(&self) -> &'static str {
        "When somebody led or held, in the first trial of each arm: each stretch is one grant, from the moment of the grant until \
         its holder did not act on it any more, in alternating tints; in the gaps, nobody did. The thin line ends with the trial, \
         or where more stretches came than are kept. Beside it, the share of its time in which somebody led or held. The table \
         says who."
    }

    fn applies(&self, arms: &[ArmView]) -> bool {
        any_faults(arms)
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let groups: Vec<Group> = arms.iter().filter_map(group).collect();
        if groups.is_empty() {
            return Err(
                "Nobody was granted anything in a first trial with faults, so there is no holder to show.".to_owned()
            );
        }
        let lanes = || groups.iter().flat_map(|group| &group.bars);
        let x = Axis::time("seconds since the trial began", lanes().map(|bar| bar.to));
        let has_overlap = lanes().any(|bar| matches!(&bar.form, Form::Lane { overlaps, .. } if !overlaps.is_empty()));
        let mut signs = vec![(Sign::Stretches, "one after another"), (Sign::Rule, "fault")];
        if has_overlap {
            signs.push((Sign::Overlap, "two at once"));
        }
        let rows = Rows { title: String::new(), x, groups };
        Ok(Picture { columns: 1, key: Key::Signs(signs), panels: vec![Panel::Rows(rows)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "lock", "worker", "from second", "to second", "nobody before it"];
        let mut table = Table::new("Who held when, first trial", 1, &head);
        for view in arms {
            for (resource, lane) in lanes(view) {
                let mut until = 0.0f64;
                for one in lane {
                    let nobody = (one.from_seconds - until).max(0.0) * 1e3;
                    until = until.max(one.to_seconds);
                    table.row([
                        first(view),
                        resource.to_string(),
                        one.worker.to_string(),
                        format!("{:.3}", one.from_seconds),
                        format!("{:.3}", one.to_seconds),
                        Unit::Milliseconds.show(nobody),
                    ]);
                }
            }
        }
        vec![table]
    }
}

/// The lanes of an arm; `None` where nobody was granted anything.
fn group(view: &ArmView) -> Option<Group> {
    let lanes = lanes(view);
    if lanes.is_empty() {
        return None;
    }
    let recorded = recorded(view);
    let rules: Vec<f64> = struck(view).into_iter().filter(|at| *at <= recorded).collect();
    let name = match lanes.len() {
        0..=MOST_LANES => view.label.clone(),
        many => format!("{}, {MOST_LANES} of {many} locks", view.label),
    };
    let bars = lanes
        .iter()
        .take(MOST_LANES)
        .map(|(_, lane)| {
            let stretches = || lane.iter().map(|one| (one.from_seconds, one.to_seconds.min(recorded)));
            let (held, overlaps) = cover(stretches());
            let share = if recorded > 0.0 { held / recorded } else { 0.0 };
            Bar {
                arm: view.index,
                form: Form::Lane {
                    stretches: stretches().collect(),
                    overlaps,
                    needles: Vec::new(),
                    rules: rules.clone(),
                },
                to: recorded,
                text: Unit::Share.show(share),
            }
        })
        .collect();
    Some(Group { name, bars })
}

/// The stretches of each lock, in the order of the grants. Without faults there are none.
fn lanes<'a>(view: &ArmView<'a>) -> Vec<(u32, Vec<&'a Leadership>)> {
    let all = &view.arm.series.leaderships;
    let mut resources: Vec<u32> = all.iter().map(|one| one.resource).collect();
    resources.sort_unstable();
    resources.dedup();
    let lane = |resource: u32| (resource, all.iter().filter(|one| one.resource == resource).collect());
    resources.into_iter().map(lane).collect()
}

/// Until when it is known who held, seconds: to the end of the trial, or to the last grant that was kept.
fn recorded(view: &ArmView) -> f64 {
    let all = &view.arm.series.leaderships;
    let last_grant = all.last().map_or(0.0, |one| one.from_seconds);
    match view.arm.trial.first() {
        Some(trial) if trial.grants <= all.len() as u64 => trial.seconds.max(last_grant),
        _ => last_grant,
    }
}

/// How long anybody held, and when more than one did; of stretches in the order in which they begin.
fn cover(stretches: impl Iterator<Item = (f64, f64)>) -> (f64, Vec<(f64, f64)>) {
    let (mut held, mut until) = (0.0, 0.0f64);
    let mut overlaps = Vec::new();
    for (from, to) in stretches {
        if from < until {
            overlaps.push((from, to.min(until)));
        }
        held += (to - from.max(until)).max(0.0);
        until = until.max(to);
    }
    (held, overlaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_two_held_counts_once_and_is_named() {
        let (held, overlaps) = cover([(1.0, 3.0), (4.0, 8.0), (6.0, 7.0), (9.0, 10.0)].into_iter());
        assert_eq!(held, 7.0);
        assert_eq!(overlaps, [(6.0, 7.0)]);
    }
}
