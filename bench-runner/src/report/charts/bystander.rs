//! Bystanders' latency at rest and during.

use super::{Chart, first, places, stages};
use crate::report::plot::{Axis, Group, Key, Panel, Picture, Rows};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Bystander;

impl Chart for Bystander {
    fn name(&self) -> &'static str {
        "bystander"
    }

    fn title(&self) -> &'static str {
        "Bystanders"
    }

    fn caption(&self) -> &'static str {
        "Latency of sessions that read and write a znode of their own and have nothing to do with the lock: while the workers \
         were connected and idle, and while they contended. Each bar runs from the median (the shape) to the 99th percentile \
         (the end); the axis runs in powers of ten."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let mut groups = Vec::new();
        for view in arms {
            let bystander = &view.arm.bystander_ms;
            for (when, latency) in [("at rest", &bystander.rest), ("during", &bystander.during)] {
                if let Some(bar) = stages::range(view.index, latency) {
                    groups.push(Group { name: format!("{when} · {}", view.label), bars: vec![bar] });
                }
            }
        }
        let x = Axis::log_ms("latency of a read or write, in powers of ten", stages::ends(&groups))
            .ok_or_else(|| "There were no bystanders, so there is no collateral latency to show.".to_owned())?;
        let drawn = places(arms, |view| groups.iter().flat_map(|group| &group.bars).any(|bar| bar.arm == view.index));
        let rows = Rows { title: String::new(), x, groups };
        Ok(Picture { columns: 1, key: Key::Arms(drawn), panels: vec![Panel::Rows(rows)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "when", "count", "mean", "p50", "p90", "p99", "p99.9", "max"];
        let mut table = Table::new("Bystanders' latency, all trials", 2, &head);
        for view in arms {
            let bystander = &view.arm.bystander_ms;
            for (when, latency) in [("at rest", &bystander.rest), ("during", &bystander.during)] {
                table.row([first(view), when.to_owned()].into_iter().chain(stages::cells(latency)));
            }
        }
        vec![table]
    }
}
