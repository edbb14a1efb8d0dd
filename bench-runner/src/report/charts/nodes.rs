//! CPU of servers and generator, and watches, over time.

use super::{Chart, first, places};
use crate::measure::figures::NodesPoint;
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Nodes;

impl Chart for Nodes {
    fn name(&self) -> &'static str {
        "nodes"
    }

    fn title(&self) -> &'static str {
        "Servers and generator over time"
    }

    fn caption(&self) -> &'static str {
        "CPU of all nodes together, CPU of the load generator, and the watches that the servers hold, in the first trial of \
         each arm. 100 % is one core."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = places(arms, |view| !view.arm.series.nodes.is_empty());
        if drawn.is_empty() {
            return Err(
                "The nodes were not watched during the trials, so there is no CPU over time to show.".to_owned()
            );
        }
        let panel = |title: &str, name: &str, value: fn(&NodesPoint) -> Option<f64>| {
            let line = |view: &ArmView| -> Vec<(f64, f64)> {
                view.arm.series.nodes.iter().filter_map(|point| Some((point.seconds, value(point)?))).collect()
            };
            let lines: Vec<(usize, Vec<(f64, f64)>)> = arms.iter().map(|view| (view.index, line(view))).collect();
            let all = || lines.iter().flat_map(|(_, points)| points);
            all().next()?;
            Some(Panel::Plot(Plot {
                title: title.to_owned(),
                x: Axis::time("seconds since the trial began", all().map(|point| point.0)),
                y: Axis::from_zero(name, all().map(|point| point.1), format::tick),
                rules: Vec::new(),
                marks: lines.iter().map(|(arm, points)| Mark::Line { arm: *arm, points: points.clone() }).collect(),
            }))
        };
        let panels = [
            panel("CPU of all nodes", "% of one core", |point| point.cpu_percent),
            panel("CPU of the generator", "% of one core", |point| Some(point.generator_cpu_percent)),
            panel("Watches held", "watches", |point| point.watches.map(|watches| watches as f64)),
        ];
        Ok(Picture { columns: 3, key: Key::Arms(drawn), panels: panels.into_iter().flatten().collect() })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "seconds", "nodes' CPU %", "generator's CPU %", "nodes' memory", "watches", "sessions"];
        let mut table = Table::new("First trial of each arm", 1, &head);
        for view in arms {
            for point in &view.arm.series.nodes {
                table.row([
                    first(view),
                    format!("{:.2}", point.seconds),
                    point.cpu_percent.map_or_else(|| format::ABSENT.to_owned(), |percent| format!("{percent:.1}")),
                    format!("{:.1}", point.generator_cpu_percent),
                    point.rss_bytes.map_or_else(|| format::ABSENT.to_owned(), |bytes| Unit::Bytes.show(bytes as f64)),
                    format::maybe_count(point.watches),
                    format::maybe_count(point.sessions),
                ]);
            }
        }
        vec![table]
    }
}
