//! The stages of an acquisition.

use super::{Chart, first, places};
use crate::measure::figures::{Arm, Latency};
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Bar, Form, Group, Key, Panel, Picture, Rows};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Stages;

/// How to read a stage's latency off an arm.
type Stage = fn(&Arm) -> &Latency;

/// The stages with their names, in the order in which an acquisition goes through them.
const STAGES: [(&str, Stage); 3] = [
    ("enqueue: called → its znode or key exists", |arm| &arm.enqueue_ms),
    ("wait: queued → last wake-up", |arm| &arm.wait_ms),
    ("wake to grant: last wake-up → granted", |arm| &arm.wake_to_grant_ms),
];

impl Chart for Stages {
    fn name(&self) -> &'static str {
        "stages"
    }

    fn title(&self) -> &'static str {
        "Stages of an acquisition"
    }

    fn caption(&self) -> &'static str {
        "Where the time of an acquisition goes. Each bar runs from the median (the shape) to the 99th percentile (the end); \
         the axis runs in powers of ten. Waiting and waking are of those acquisitions that had to wait."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let groups: Vec<Group> = STAGES
            .iter()
            .map(|(name, stage)| Group {
                name: (*name).to_owned(),
                bars: arms.iter().filter_map(|view| range(view.index, stage(view.arm))).collect(),
            })
            .filter(|group| !group.bars.is_empty())
            .collect();
        let x = Axis::log_ms("latency, in powers of ten", ends(&groups))
            .ok_or_else(|| "No stage of an acquisition was timed, so there is nothing to show.".to_owned())?;
        let drawn = places(arms, |view| groups.iter().flat_map(|group| &group.bars).any(|bar| bar.arm == view.index));
        let rows = Rows { title: String::new(), x, groups };
        Ok(Picture { columns: 1, key: Key::Arms(drawn), panels: vec![Panel::Rows(rows)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "stage", "count", "mean", "p50", "p90", "p99", "p99.9", "max"];
        let mut table = Table::new("Latency by stage, all trials", 2, &head);
        for view in arms {
            for (name, stage) in STAGES {
                table.row([first(view), name.to_owned()].into_iter().chain(cells(stage(view.arm))));
            }
        }
        vec![table]
    }
}

/// A bar from the median to the 99th percentile; `None` where there is nothing to measure.
pub(super) fn range(arm: usize, latency: &Latency) -> Option<Bar> {
    let (p50, p99) = latency.p50.zip(latency.p99)?;
    let text = format!("{} – {}", Unit::Milliseconds.show(p50), Unit::Milliseconds.show(p99));
    Some(Bar { arm, form: Form::Range(p50), to: p99, text })
}

/// Both ends of every bar.
pub(super) fn ends(groups: &[Group]) -> Vec<f64> {
    let from = |bar: &Bar| match bar.form {
        Form::Range(from) => Some(from),
        _ => None,
    };
    groups.iter().flat_map(|group| &group.bars).flat_map(|bar| [bar.to].into_iter().chain(from(bar))).collect()
}

/// The figures of a latency as cells.
pub(super) fn cells(latency: &Latency) -> impl Iterator<Item = String> {
    let Latency { count, mean, p50, p90, p99, p999, max } = *latency;
    std::iter::once(format::count(count)).chain([mean, p50, p90, p99, p999, max].into_iter().map(format::maybe_ms))
}
