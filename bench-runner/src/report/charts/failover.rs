//! What faults did to grants and notifications over time.

use super::{Chart, any_faults, first, first_failovers, places, struck};
use crate::measure::figures::{Failover, RatePoint};
use crate::report::format;
use crate::report::palette::Phase;
use crate::report::plot::{Axis, Band, Key, Mark, Panel, Picture, Plot, Sign};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Timeline;

impl Chart for Timeline {
    fn name(&self) -> &'static str {
        "failover"
    }

    fn title(&self) -> &'static str {
        "Failover timeline"
    }

    fn caption(&self) -> &'static str {
        "Grants and notifications a second in the first trial of each arm, and the faults. From a fault on nobody has noticed \
         until the old holder is gone in the servers' view (of a node that led: until another one leads); takeover lasts until \
         the next grant. All panels have the same axes; beyond 1 the upright one runs in powers of ten."
    }

    fn applies(&self, arms: &[ArmView]) -> bool {
        any_faults(arms)
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let drawn = places(arms, |view| !view.arm.series.rates.is_empty() && first_failovers(view).next().is_some());
        let drawn: Vec<&ArmView> = arms.iter().filter(|view| drawn.contains(&view.index)).collect();
        if drawn.is_empty() {
            return Err("No fault was carried out in a first trial, so there is no failover to show.".to_owned());
        }
        let rates = || drawn.iter().flat_map(|view| &view.arm.series.rates);
        let ends = drawn.iter().map(|view| view.arm.series.rates.last().map_or(0.0, |last| last.seconds + width(view)));
        let x = Axis::time("seconds since the trial began", ends);
        let highest = rates().map(|point| point.grants_per_second.max(point.notifications_per_second));
        let y = Axis::counts("per second, in powers of ten", highest);
        let panels = drawn.iter().map(|view| {
            let line = |value: fn(&RatePoint) -> f64| {
                view.arm.series.rates.iter().map(move |point| (point.seconds, value(point)))
            };
            let bands = merged(first_failovers(view).flat_map(bands).collect());
            let notifications = line(|point| point.notifications_per_second).collect();
            let grants = line(|point| point.grants_per_second).collect();
            Panel::Plot(Plot {
                title: view.label.clone(),
                x: x.clone(),
                y: y.clone(),
                rules: struck(view),
                marks: vec![
                    Mark::Bands(bands),
                    Mark::Columns { arm: view.index, points: notifications, width: width(view) },
                    Mark::Steps { arm: view.index, points: grants, width: width(view) },
                ],
            })
        });
        let panels = panels.collect();
        let heals = drawn.iter().flat_map(|view| first_failovers(view)).any(|one| one.healed_seconds.is_some());
        let mut signs = vec![
            (Sign::Line, "grants"),
            (Sign::Columns, "notifications"),
            (Sign::Rule, "fault"),
            (Sign::Band(Phase::Unnoticed), "nobody has noticed"),
            (Sign::Band(Phase::Takeover), "takeover"),
        ];
        if heals {
            signs.push((Sign::Band(Phase::Mending), "not mended yet"));
        }
        Ok(Picture { columns: 2, key: Key::Signs(signs), panels })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head =
            ["arm", "fault", "t0 struck", "t1 noticed", "t2 notified", "t3 granted", "t4 grants are back", "mended"];
        let mut table = Table::new("Moments of the first trial's failovers, seconds since it began", 2, &head);
        for view in arms {
            for one in first_failovers(view) {
                let moments = [one.detection_ms, one.notified_ms, one.total_ms, one.recovery_ms];
                let moments = moments.map(|ms| ms.map(|ms| one.seconds + ms / 1e3));
                let moments = [Some(one.seconds)].into_iter().chain(moments).chain([one.healed_seconds]);
                let moments = moments.map(|at| at.map_or_else(|| format::ABSENT.to_owned(), |at| format!("{at:.3}")));
                table.row([first(view), format::plain(&one.fault)].into_iter().chain(moments));
            }
        }
        vec![table]
    }
}

/// How long the stretches are that rates are taken over, seconds.
fn width(view: &ArmView) -> f64 {
    match view.arm.series.rates.as_slice() {
        [first, second, ..] => second.seconds - first.seconds,
        _ => 0.0,
    }
}

/// The stretches of a failover.
fn bands(failover: &Failover) -> impl Iterator<Item = Band> {
    let t0 = failover.seconds;
    let after = |ms: Option<f64>| ms.map(|ms| t0 + ms / 1e3);
    let (t1, t3) = (after(failover.detection_ms), after(failover.total_ms));
    let unnoticed = t1.map(|t1| Band { x: (t0, t1), phase: Phase::Unnoticed });
    let takeover = t1.zip(t3).filter(|(t1, t3)| t3 > t1).map(|x| Band { x, phase: Phase::Takeover });
    let mending = failover.healed_seconds.map(|healed| Band { x: (t0, healed), phase: Phase::Mending });
    [unnoticed, takeover, mending].into_iter().flatten()
}

/// The same with bands of one kind that touch made one: of a fault that struck several holders, the tint stays the same.
fn merged(mut bands: Vec<Band>) -> Vec<Band> {
    bands.sort_by(|a, b| a.phase.cmp(&b.phase).then(a.x.0.total_cmp(&b.x.0)));
    let mut merged: Vec<Band> = Vec::new();
    for band in bands {
        match merged.last_mut() {
            Some(last) if last.phase == band.phase && band.x.0 <= last.x.1 => last.x.1 = last.x.1.max(band.x.1),
            _ => merged.push(band),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_struck_several_holders_is_shaded_once() {
        let band = |from, to, phase| Band { x: (from, to), phase };
        let seen = merged(vec![
            band(2.0, 4.0, Phase::Unnoticed),
            band(4.0, 5.0, Phase::Takeover),
            band(2.0, 4.5, Phase::Unnoticed),
            band(9.0, 9.5, Phase::Unnoticed),
        ]);
        let expected =
            [band(2.0, 4.5, Phase::Unnoticed), band(9.0, 9.5, Phase::Unnoticed), band(4.0, 5.0, Phase::Takeover)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_stretches_of_a_failover_follow_one_another() {
        let failover = Failover {
            seconds: 2.0,
            detection_ms: Some(2_500.0),
            takeover_ms: Some(500.0),
            total_ms: Some(3_000.0),
            healed_seconds: Some(7.0),
            ..Failover::default()
        };
        let seen: Vec<_> = bands(&failover).map(|band| (band.phase, band.x)).collect();
        let expected = [(Phase::Unnoticed, (2.0, 4.5)), (Phase::Takeover, (4.5, 5.0)), (Phase::Mending, (2.0, 7.0))];
        assert_eq!(seen, expected);
        // A node that led: another one leads, and no grant follows from that.
        let node = Failover { seconds: 1.0, detection_ms: Some(800.0), ..Failover::default() };
        assert_eq!(bands(&node).map(|band| band.phase).collect::<Vec<_>>(), [Phase::Unnoticed]);
        assert_eq!(bands(&Failover::default()).count(), 0);
    }
}
