//! The door of a barrier: when each member came and when it was let through.

use super::{Chart, first, places};
use crate::measure::figures::DoorLine;
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Door;

/// Arms at the most.
const MOST_ARMS: usize = 4;

fn lines<'a>(view: &ArmView<'a>) -> &'a [DoorLine] {
    view.arm.barriers.as_ref().map_or(&[], |barriers| barriers.door.as_slice())
}

/// The arms that are drawn: of each recipe the one with the most members, and of those the one with the most barriers.
pub(super) fn drawn(arms: &[ArmView]) -> Vec<usize> {
    let mut largest: Vec<&ArmView> = Vec::new();
    let mut by_size: Vec<&ArmView> = arms.iter().filter(|view| !lines(view).is_empty()).collect();
    let barriers = |view: &ArmView| view.arm.barriers.as_ref().map_or(0, |barriers| barriers.barriers);
    by_size.sort_by_key(|view| std::cmp::Reverse((view.arm.workers, barriers(view))));
    for view in by_size {
        let alike = |other: &&&ArmView| (other.arm.recipe, other.arm.service) == (view.arm.recipe, view.arm.service);
        if !largest.iter().any(|other| alike(&other)) {
            largest.push(view);
        }
    }
    largest.truncate(MOST_ARMS);
    let chosen: Vec<usize> = largest.iter().map(|view| view.index).collect();
    places(arms, |view| chosen.contains(&view.index))
}

/// One way through the barrier: from one moment to the next.
type Way = fn(&DoorLine) -> Option<(f64, f64)>;

const IN: Way = |line| Some((line.arrived_ms, line.released_ms?));
const OUT: Way = |line| Some((line.leaving_ms?, line.left_ms?));

impl Chart for Door {
    fn name(&self) -> &'static str {
        "door"
    }

    fn title(&self) -> &'static str {
        "The door"
    }

    fn caption(&self) -> &'static str {
        "Each member's way through one barrier in the middle of the first trial, one line each in the order of their coming: in, \
         from its arrival to the moment at which it was inside, and out, from the moment at which it had finished to the one at \
         which it was out. No line may end before the last one begins. Of each recipe the arm with the most members is shown."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = drawn(arms);
        if drawn.is_empty() {
            return Err("No member passed a barrier.".to_owned());
        }
        let panels = arms
            .iter()
            .filter(|view| drawn.contains(&view.index))
            .flat_map(|view| [panel(view, "in", IN), panel(view, "out", OUT)])
            .flatten()
            .collect();
        Ok(Picture { columns: 2, key: Key::Arms(drawn), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "arrived", "inside", "finished", "out"];
        let mut table = Table::new("Members at the door, since the first arrival", 1, &head);
        let drawn = drawn(arms);
        for view in arms.iter().filter(|view| drawn.contains(&view.index)) {
            for line in lines(view) {
                let moments = [Some(line.arrived_ms), line.released_ms, line.leaving_ms, line.left_ms];
                table.row(std::iter::once(first(view)).chain(moments.into_iter().map(format::maybe_ms)));
            }
        }
        vec![table]
    }
}

/// One way of all members; `None` where nobody goes it.
fn panel(view: &ArmView, name: &str, way: Way) -> Option<Panel> {
    let mut stretches: Vec<(f64, f64)> = lines(view).iter().filter_map(way).collect();
    stretches.sort_by(|one, other| one.0.total_cmp(&other.0));
    let first = stretches.first()?.0;
    let threads: Vec<Vec<(f64, f64)>> = stretches
        .iter()
        .zip(1u32..)
        .map(|((from, to), height)| vec![(from - first, f64::from(height)), (to - first, f64::from(height))])
        .collect();
    let ends = || threads.iter().filter_map(|thread| thread.last().copied());
    let dots = Mark::Dots { arm: view.index, points: ends().collect() };
    Some(Panel::Plot(Plot {
        title: format!("{}: {name}", view.label),
        x: Axis::time("milliseconds since the first came", ends().map(|(ms, _)| ms)),
        y: Axis::between("members, one by one", 0.0, threads.len() as f64 + 1.0),
        rules: Vec::new(),
        marks: threads
            .iter()
            .map(|thread| Mark::Thread { arm: view.index, points: thread.clone() })
            .chain([dots])
            .collect(),
    }))
}
