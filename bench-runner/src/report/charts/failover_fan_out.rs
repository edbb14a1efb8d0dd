//! Fan-out of each failover, in order.

use super::{Chart, any_faults, first, places};
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct FailoverFanOut;

/// The dots of a failover stand over this share of its place, the arms beside one another.
const SPREAD: f64 = 0.6;

impl Chart for FailoverFanOut {
    fn name(&self) -> &'static str {
        "failover-fan-out"
    }

    fn title(&self) -> &'static str {
        "Fan-out per failover"
    }

    fn caption(&self) -> &'static str {
        "How many workers the end of each old holder woke, failover by failover of each trial, where everybody else stood in \
         the queue. A herd wakes all who are left, one fewer each time; a queue wakes one."
    }

    fn applies(&self, arms: &[ArmView]) -> bool {
        any_faults(arms)
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let dots: Vec<Vec<Dot>> = arms.iter().map(dots).collect();
        let drawn = places(arms, |view| !dots[view.index].is_empty());
        let all = || dots.iter().flatten();
        let Some(last) = all().map(|dot| dot.place).max() else {
            let why =
                "No holder was lost with everybody else in the queue, so there is no fan-out per failover to show.";
            return Err(why.to_owned());
        };
        // Beside one another, since dots of several arms would coincide.
        let aside = |arm: usize| {
            let place = drawn.iter().position(|other| *other == arm).unwrap_or(0);
            SPREAD * ((place as f64 + 0.5) / drawn.len() as f64 - 0.5)
        };
        let plot = Plot {
            title: String::new(),
            x: Axis::between("failover of its trial", 0.5, last as f64 + 0.5).whole(),
            y: Axis::from_zero("notifications", all().map(|dot| dot.notifications as f64), format::tick).whole(),
            rules: Vec::new(),
            marks: drawn
                .iter()
                .map(|arm| Mark::Dots {
                    arm: *arm,
                    points: dots[*arm]
                        .iter()
                        .map(|dot| (dot.place as f64 + aside(*arm), dot.notifications as f64))
                        .collect(),
                })
                .collect(),
        };
        Ok(Picture { columns: 1, key: Key::Arms(drawn), panels: vec![Panel::Plot(plot)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = ["arm", "trial", "failover", "notifications"];
        let mut table = Table::new("Fan-out of each failover", 1, &head);
        for view in arms {
            for dot in dots(view) {
                let numbers = [dot.trial, dot.place, dot.notifications].map(format::count);
                table.row([first(view)].into_iter().chain(numbers));
            }
        }
        vec![table]
    }
}

/// One failover.
struct Dot {
    trial: u64,
    /// Place among those of its trial that are drawn, from 1.
    place: u64,
    notifications: u64,
}

/// The failovers from queues that had settled.
fn dots(view: &ArmView) -> Vec<Dot> {
    let mut dots = Vec::new();
    for trial in &view.arm.trial {
        let settled = trial.failovers.iter().filter(|one| one.settled).filter_map(|one| one.notifications);
        let dot = |(notifications, place)| Dot { trial: u64::from(trial.position), place, notifications };
        dots.extend(settled.zip(1..).map(dot));
    }
    dots
}
