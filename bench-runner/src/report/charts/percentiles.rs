//! Latency by percentile on an axis of nines: what the charts of acquisition and of handoff share.

use super::{first, places};
use crate::measure::figures::PercentilePoint;
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

/// The curve of a stage; empty where the stage has none.
fn curve<'a>(view: &'a ArmView, stage: &str) -> &'a [PercentilePoint] {
    view.arm.series.percentiles.get(stage).map_or(&[], Vec::as_slice)
}

/// A panel with the stage's curve of each arm; `None` where no arm has one.
pub(in crate::report) fn picture(arms: &[ArmView], stage: &str, y_name: &str) -> Option<Picture> {
    let drawn = places(arms, |view| !curve(view, stage).is_empty());
    let all = || arms.iter().flat_map(|view| curve(view, stage)).filter(|point| point.percentile < 100.0);
    let plot = Plot {
        title: String::new(),
        x: Axis::nines("percentile", all().map(|point| point.percentile)),
        y: Axis::log_ms(y_name, all().map(|point| point.ms))?,
        rules: Vec::new(),
        marks: arms
            .iter()
            .map(|view| {
                let below = curve(view, stage).iter().filter(|point| point.percentile < 100.0);
                Mark::Line { arm: view.index, points: below.map(|point| (point.percentile, point.ms)).collect() }
            })
            .collect(),
    };
    Some(Picture { columns: 1, key: Key::Arms(drawn), panels: vec![Panel::Plot(plot)] })
}

/// The curves as a table.
pub(super) fn table(arms: &[ArmView], stage: &str) -> Table {
    let mut table = Table::new("Latency by percentile, all trials", 1, &["arm", "percentile", "latency"]);
    for view in arms {
        for point in curve(view, stage) {
            let percentile = format!("{:.6}", point.percentile);
            let percentile = percentile.trim_end_matches('0').trim_end_matches('.').to_owned();
            table.row([first(view), percentile, format::maybe_ms(Some(point.ms))]);
        }
    }
    table
}
