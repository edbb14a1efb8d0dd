//! Notifications of a barrier against its members, with the power law that fits.

use super::Chart;
use crate::measure::barrier::growth::growths;
use crate::measure::figures::{Arm, Growth};
use crate::report::format::{self, Unit};
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct GrowthChart;

/// Each growth with the place of the first arm that it is of, for colour and shape.
fn of(arms: &[ArmView]) -> Vec<(usize, Growth)> {
    let all: Vec<Arm> = arms.iter().map(|view| view.arm.clone()).collect();
    let place = |growth: &Growth| {
        arms.iter().find(|view| (view.arm.recipe, view.arm.service) == (growth.recipe, growth.service))
    };
    let mut found: Vec<(usize, Growth)> =
        growths(&all).into_iter().filter_map(|growth| Some((place(&growth)?.index, growth))).collect();
    found.sort_by_key(|(index, _)| *index);
    // One after the other, since the places of the arms may repeat a colour.
    found.into_iter().enumerate().map(|(place, (_, growth))| (place, growth)).collect()
}

/// What the fitted law gives for so many members.
fn law(growth: &Growth, members: f64) -> f64 {
    growth.factor * members.powf(growth.exponent)
}

impl Chart for GrowthChart {
    fn name(&self) -> &'static str {
        "growth"
    }

    fn title(&self) -> &'static str {
        "Notifications against members"
    }

    fn caption(&self) -> &'static str {
        "What one barrier costs, in and out, with more and more members: the notifications that were counted, and the power law \
         that fits them best, N to the power in the key. Both axes run in equal ratios, so that a power law is a straight line \
         and its exponent the slope."
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let growths = of(arms);
        let points = || growths.iter().flat_map(|(_, growth)| &growth.points);
        let members: Vec<f64> = points().map(|point| f64::from(point.members)).collect();
        let notifications: Vec<f64> = points().map(|point| point.notifications).collect();
        let axes = Axis::log("members, N", members, format::tick).zip(Axis::log(
            "notifications of one barrier",
            notifications,
            format::tick,
        ));
        let (x, y) = axes.ok_or("No recipe was measured with several numbers of members.")?;
        let mut marks = Vec::new();
        for (place, growth) in &growths {
            let ends: Vec<f64> = growth.points.iter().map(|point| f64::from(point.members)).collect();
            marks.push(Mark::Thread { arm: *place, points: ends.iter().map(|n| (*n, law(growth, *n))).collect() });
            let counted = growth.points.iter().map(|point| (f64::from(point.members), point.notifications)).collect();
            marks.push(Mark::Dots { arm: *place, points: counted });
        }
        let name = |growth: &Growth| format!("N^{:.2}: {}, {}", growth.exponent, growth.recipe, growth.service);
        let plot = Plot { title: String::new(), x, y, rules: Vec::new(), marks };
        let key = Key::Named(growths.iter().map(|(place, growth)| (*place, name(growth))).collect());
        Ok(Picture { columns: 1, key, panels: vec![Panel::Plot(plot)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["recipe", "service", "members", "notifications of one barrier", "fitted", "exponent"];
        let mut table = Table::new("Notifications against members", 2, &head);
        for (_, growth) in of(arms) {
            for point in &growth.points {
                table.row([
                    growth.recipe.to_string(),
                    growth.service.to_string(),
                    format::count(u64::from(point.members)),
                    Unit::Number.show(point.notifications),
                    Unit::Number.show(law(&growth, f64::from(point.members))),
                    format!("{:.3}", growth.exponent),
                ]);
            }
        }
        vec![table]
    }
}
