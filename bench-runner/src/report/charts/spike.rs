//! Requests and notifications around a release.

use super::{Chart, first, places};
use crate::measure::figures;
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Spike;

impl Chart for Spike {
    fn name(&self) -> &'static str {
        "spike"
    }

    fn title(&self) -> &'static str {
        "The spike around a release"
    }

    fn caption(&self) -> &'static str {
        "Requests and notifications around the moment at which a release was sent (the dashed line), in the mean over all \
         releases of all trials. What stands out right of the line is the herd."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = places(arms, |view| view.arm.series.spike.releases > 0);
        if drawn.is_empty() {
            return Err("No release was recorded, so there is no spike to show.".to_owned());
        }
        let bucket = arms.iter().map(|view| view.arm.series.spike.bucket_ms).fold(0.0, f64::max);
        let panel = |title: &str, values: fn(&figures::Spike) -> &Vec<f64>| {
            let points: Vec<(usize, Vec<(f64, f64)>)> = arms
                .iter()
                .filter(|view| drawn.contains(&view.index))
                .map(|view| (view.index, around(&view.arm.series.spike, values)))
                .collect();
            let all = || points.iter().flat_map(|(_, points)| points);
            let low = all().map(|point| point.0).fold(0.0, f64::min);
            let high = all().map(|point| point.0).fold(0.0, f64::max);
            let name = format!("{} in {} ms, mean", title.to_lowercase(), format::trimmed(bucket));
            Panel::Plot(Plot {
                title: title.to_owned(),
                x: Axis::between("ms since the release was sent", low, high),
                y: Axis::from_zero(&name, all().map(|point| point.1), format::tick),
                rules: vec![0.0],
                marks: points.iter().map(|(arm, points)| Mark::Line { arm: *arm, points: points.clone() }).collect(),
            })
        };
        let panels =
            vec![panel("Requests", |spike| &spike.requests), panel("Notifications", |spike| &spike.notifications)];
        Ok(Picture { columns: 2, key: Key::Arms(drawn.clone()), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "from ms", "requests", "notifications"];
        let mut table = Table::new("Mean over the releases, by bucket", 1, &head);
        for view in arms {
            let spike = &view.arm.series.spike;
            for (index, (requests, notifications)) in spike.requests.iter().zip(&spike.notifications).enumerate() {
                table.row([
                    first(view),
                    format::trimmed(spike.start_ms + index as f64 * spike.bucket_ms),
                    format::trimmed(*requests),
                    format::trimmed(*notifications),
                ]);
            }
        }
        vec![table]
    }
}

/// Both edges of each bucket at its value: a line through them is a flight of steps, which claims nothing about what
/// happened within a bucket.
fn around(spike: &figures::Spike, values: fn(&figures::Spike) -> &Vec<f64>) -> Vec<(f64, f64)> {
    let edge = |index: usize| spike.start_ms + index as f64 * spike.bucket_ms;
    values(spike)
        .iter()
        .enumerate()
        .flat_map(|(index, value)| [(edge(index), *value), (edge(index + 1), *value)])
        .collect()
}
