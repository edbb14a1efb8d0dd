//! Grants, requests and notifications a second over time.

use super::{Chart, first, places};
use crate::measure::figures::RatePoint;
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Rates;

impl Chart for Rates {
    fn name(&self) -> &'static str {
        "rates"
    }

    fn title(&self) -> &'static str {
        "Rates over time"
    }

    fn caption(&self) -> &'static str {
        "Grants, requests and notifications a second in the first trial of each arm. Each panel has its own scale."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = places(arms, |view| !view.arm.series.rates.is_empty());
        if drawn.is_empty() {
            return Err("No rates were recorded, so there is nothing to show over time.".to_owned());
        }
        let panel = |title: &str, value: fn(&RatePoint) -> f64| {
            let all = || arms.iter().flat_map(|view| &view.arm.series.rates);
            Panel::Plot(Plot {
                title: title.to_owned(),
                x: Axis::time("seconds since the trial began", all().map(|point| point.seconds)),
                y: Axis::from_zero("per second", all().map(value), format::tick),
                rules: Vec::new(),
                marks: arms
                    .iter()
                    .map(|view| Mark::Line {
                        arm: view.index,
                        points: view.arm.series.rates.iter().map(|point| (point.seconds, value(point))).collect(),
                    })
                    .collect(),
            })
        };
        let panels = vec![
            panel("Grants", |point| point.grants_per_second),
            panel("Requests", |point| point.requests_per_second),
            panel("Notifications", |point| point.notifications_per_second),
        ];
        Ok(Picture { columns: 3, key: Key::Arms(drawn), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "seconds", "grants/s", "requests/s", "notifications/s", "response bytes/s"];
        let mut table = Table::new("First trial of each arm", 1, &head);
        for view in arms {
            for point in &view.arm.series.rates {
                table.row([
                    first(view),
                    format!("{:.2}", point.seconds),
                    format::trimmed(point.grants_per_second),
                    format::trimmed(point.requests_per_second),
                    format::trimmed(point.notifications_per_second),
                    Unit::Bytes.show(point.response_bytes_per_second),
                ]);
            }
        }
        vec![table]
    }
}
