//! The door of a barrier: when each member came and when it was let through.

use super::{Chart, first, places};
use crate::measure::figures::DoorLine;
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Door;

/// Panels at the most: of more arms, those with the most members, two for each recipe.
const MOST_PANELS: usize = 4;

fn lines<'a>(view: &ArmView<'a>) -> &'a [DoorLine] {
    view.arm.barriers.as_ref().map_or(&[], |barriers| barriers.door.as_slice())
}

/// The arms that are drawn.
fn drawn(arms: &[ArmView]) -> Vec<usize> {
    let mut largest: Vec<&ArmView> = Vec::new();
    let mut by_size: Vec<&ArmView> = arms.iter().filter(|view| !lines(view).is_empty()).collect();
    by_size.sort_by_key(|view| std::cmp::Reverse(view.arm.workers));
    for view in by_size {
        let alike = |other: &&&ArmView| (other.arm.recipe, other.arm.service) == (view.arm.recipe, view.arm.service);
        if largest.iter().filter(alike).count() < 1 {
            largest.push(view);
        }
    }
    largest.truncate(MOST_PANELS);
    let chosen: Vec<usize> = largest.iter().map(|view| view.index).collect();
    places(arms, |view| chosen.contains(&view.index))
}

/// A member's stretches from one moment to the next, at its height.
fn stretches(line: &DoorLine, height: f64) -> Vec<Vec<(f64, f64)>> {
    let waits_in = line.released_ms.map(|end| vec![(line.arrived_ms, height), (end, height)]);
    let waits_out = line.leaving_ms.zip(line.left_ms).map(|(begin, end)| vec![(begin, height), (end, height)]);
    waits_in.into_iter().chain(waits_out).collect()
}

impl Chart for Door {
    fn name(&self) -> &'static str {
        "door"
    }

    fn title(&self) -> &'static str {
        "The door"
    }

    fn caption(&self) -> &'static str {
        "Each member's way through one barrier in the middle of the first trial, one line each in the order of their coming: \
         from its arrival to the moment at which it was inside, and further right from the moment at which it had finished to \
         the one at which it was out. All lines of the way in must end after the last of them begins, and so must those of the \
         way out."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = drawn(arms);
        if drawn.is_empty() {
            return Err("No member passed a barrier.".to_owned());
        }
        let panels = arms.iter().filter(|view| drawn.contains(&view.index)).map(panel).collect();
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

fn panel(view: &ArmView) -> Panel {
    let lines = lines(view);
    let last = lines.iter().flat_map(|line| [Some(line.arrived_ms), line.released_ms, line.left_ms]).flatten();
    let (mut marks, mut dots) = (Vec::new(), Vec::new());
    for (line, height) in lines.iter().zip(1u32..) {
        for stretch in stretches(line, f64::from(height)) {
            dots.extend(stretch.last().copied());
            marks.push(Mark::Thread { arm: view.index, points: stretch });
        }
    }
    marks.push(Mark::Dots { arm: view.index, points: dots });
    Panel::Plot(Plot {
        title: view.label.clone(),
        x: Axis::time("milliseconds since the first arrival", last),
        y: Axis::between("member, by arrival", 0.0, lines.len() as f64 + 1.0),
        rule: None,
        marks,
    })
}
