//! Fan-out per release: over time, and how often each occurred.

use super::{Chart, first, places};
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct FanOut;

impl Chart for FanOut {
    fn name(&self) -> &'static str {
        "fan-out"
    }

    fn title(&self) -> &'static str {
        "Fan-out per release"
    }

    fn caption(&self) -> &'static str {
        "How many workers one release woke: each release of the first trial over time, and over all trials how often each \
         fan-out occurred. A herd wakes everybody who waits; a queue wakes one. The axis of fan-out runs in powers of ten."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn =
            places(arms, |view| !view.arm.series.fan_out_points.is_empty() || !view.arm.series.fan_out_bins.is_empty());
        if drawn.is_empty() {
            return Err("No release was recorded, so there is no fan-out to show.".to_owned());
        }
        let points = || arms.iter().flat_map(|view| &view.arm.series.fan_out_points);
        let bins = || arms.iter().flat_map(|view| &view.arm.series.fan_out_bins);
        let mut panels = Vec::new();
        if points().next().is_some() {
            panels.push(Panel::Plot(Plot {
                title: "Over time".to_owned(),
                x: Axis::time("seconds since the trial began", points().map(|point| point.seconds)),
                y: Axis::counts("notifications per release", points().map(|point| point.notifications as f64)),
                rules: Vec::new(),
                marks: arms
                    .iter()
                    .map(|view| Mark::Dots {
                        arm: view.index,
                        points: view
                            .arm
                            .series
                            .fan_out_points
                            .iter()
                            .map(|point| (point.seconds, point.notifications as f64))
                            .collect(),
                    })
                    .collect(),
            }));
        }
        if bins().next().is_some() {
            panels.push(Panel::Plot(Plot {
                title: "How often each occurred".to_owned(),
                x: Axis::counts("notifications per release", bins().map(|bin| bin.to as f64)),
                y: Axis::from_zero(
                    "releases, % of the arm's",
                    arms.iter().flat_map(shares).map(|(_, share)| share),
                    format::tick,
                ),
                rules: Vec::new(),
                marks: arms.iter().map(|view| Mark::Stems { arm: view.index, points: shares(view) }).collect(),
            }));
        }
        Ok(Picture { columns: 2, key: Key::Arms(drawn), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let mut bins =
            Table::new("How often each fan-out occurred, all trials", 1, &["arm", "from", "to", "releases", "share"]);
        let mut points = Table::new("Releases of the first trial", 1, &["arm", "seconds", "notifications"]);
        for view in arms {
            let all: u64 = view.arm.series.fan_out_bins.iter().map(|bin| bin.releases).sum();
            for bin in &view.arm.series.fan_out_bins {
                bins.row([
                    first(view),
                    format::count(bin.from),
                    format::count(bin.to),
                    format::count(bin.releases),
                    Unit::Share.show(bin.releases as f64 / all.max(1) as f64),
                ]);
            }
            for point in &view.arm.series.fan_out_points {
                points.row([first(view), format!("{:.3}", point.seconds), format::count(point.notifications)]);
            }
        }
        vec![bins, points]
    }
}

/// The middle of each bin, on the axis of powers of ten, and its share of the arm's releases in per cent.
fn shares(view: &ArmView) -> Vec<(f64, f64)> {
    let bins = &view.arm.series.fan_out_bins;
    let all: u64 = bins.iter().map(|bin| bin.releases).sum();
    let middle = |from: u64, to: u64| if from == 0 { to as f64 / 2.0 } else { (from as f64 * to as f64).sqrt() };
    bins.iter()
        .filter(|bin| bin.releases > 0)
        .map(|bin| (middle(bin.from, bin.to), 100.0 * bin.releases as f64 / all as f64))
        .collect()
}
