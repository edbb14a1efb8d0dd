//! Detection and takeover, end to end.

use std::collections::BTreeMap;

use super::{Chart, any_faults, first};
use crate::measure::figures::{DetectionBounds, Failover};
use crate::report::format::{self, Unit, maybe_ms};
use crate::report::palette::Phase;
use crate::report::plot::{Axis, Bar, Form, Group, Key, Panel, Picture, Rows, Sign};
use crate::report::table::Table;
use crate::report::view::ArmView;

pub(super) struct Detection;

impl Chart for Detection {
    fn name(&self) -> &'static str {
        "detection-takeover"
    }

    fn title(&self) -> &'static str {
        "Detection and takeover"
    }

    fn caption(&self) -> &'static str {
        "How long nobody held after a fault: the median time until the servers took the old holder for gone (of a node that \
         led: until another one led), and then the median time until the next grant; all trials. The bracket is what the \
         detection of a crash lies between: the session timeout, and what the servers add to it."
    }

    fn applies(&self, arms: &[ArmView]) -> bool {
        any_faults(arms)
    }

    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String> {
        let kinds: Vec<Kind> = arms.iter().flat_map(kinds).filter(|kind| kind.detection().is_some()).collect();
        if kinds.is_empty() {
            return Err(
                "No fault was detected whose holder could be watched, so there is no detection to show.".to_owned()
            );
        }
        let is_mixed = kinds.iter().any(|kind| kind.fault != kinds[0].fault);
        let groups: Vec<Group> = kinds
            .iter()
            .filter_map(|kind| {
                let detection = kind.detection()?;
                let takeover = kind.takeover();
                let parts = [Some(detection), takeover].into_iter().flatten();
                let text: Vec<String> = parts.map(|ms| Unit::Milliseconds.show(ms)).collect();
                let fault = if is_mixed { format!("{} · ", kind.fault) } else { String::new() };
                let bounds = kind.bounds.map(|bounds| (bounds.from_ms, bounds.to_ms));
                let bar = Bar {
                    arm: kind.arm,
                    form: Form::Phases { middle: detection, bounds },
                    to: detection + takeover.unwrap_or(0.0),
                    text: text.join(" + "),
                };
                Some(Group { name: format!("{fault}{}", kind.label), bars: vec![bar] })
            })
            .collect();
        let bars = || groups.iter().flat_map(|group| &group.bars);
        let bounds = kinds.iter().filter_map(|kind| kind.bounds).map(|bounds| bounds.to_ms);
        let ends: Vec<f64> = bars().map(|bar| bar.to).chain(bounds.clone()).collect();
        let x = Axis::from_zero("time since the fault", ends, |ms| format::unit_tick(ms, Unit::Milliseconds));
        let mut signs = vec![(Sign::Part(Phase::Unnoticed), "detection"), (Sign::Part(Phase::Takeover), "takeover")];
        if bounds.count() > 0 {
            signs.push((Sign::Bracket, "by the session timeout"));
        }
        let rows = Rows { title: String::new(), x, groups };
        Ok(Picture { columns: 1, key: Key::Signs(signs), panels: vec![Panel::Rows(rows)] })
    }

    fn tables(&self, arms: &[ArmView]) -> Vec<Table> {
        let head = [
            "arm",
            "fault",
            "failovers",
            "detection p50",
            "detection max",
            "takeover p50",
            "takeover max",
            "by timeout, least",
            "by timeout, most",
        ];
        let mut table = Table::new("Detection and takeover, all trials", 2, &head);
        for view in arms {
            for kind in kinds(view) {
                let most = |values: &[f64]| values.iter().copied().reduce(f64::max);
                let bounds = kind.bounds;
                let figures = [
                    kind.detection(),
                    most(&kind.detections),
                    kind.takeover(),
                    most(&kind.takeovers),
                    bounds.map(|bounds| bounds.from_ms),
                    bounds.map(|bounds| bounds.to_ms),
                ];
                let count = format::count(kind.detections.len() as u64);
                table.row([first(view), kind.fault, count].into_iter().chain(figures.map(maybe_ms)));
            }
        }
        vec![table]
    }
}

/// All failovers of an arm from faults of one kind.
struct Kind {
    arm: usize,
    label: String,
    fault: String,
    /// Milliseconds, sorted.
    detections: Vec<f64>,
    /// Milliseconds, sorted.
    takeovers: Vec<f64>,
    /// What a detection lies between, where it comes from the session's end.
    bounds: Option<DetectionBounds>,
}

impl Kind {
    fn detection(&self) -> Option<f64> {
        median(&self.detections)
    }

    fn takeover(&self) -> Option<f64> {
        median(&self.takeovers)
    }
}

/// The failovers of an arm by the kind of fault, in the order of its name.
fn kinds(view: &ArmView) -> Vec<Kind> {
    let mut by_fault: BTreeMap<String, Vec<&Failover>> = BTreeMap::new();
    for failover in view.arm.trial.iter().flat_map(|trial| &trial.failovers).filter(|one| one.skipped.is_none()) {
        by_fault.entry(format::plain(&failover.fault)).or_default().push(failover);
    }
    let bounds = view.arm.failovers.as_ref().map(|failovers| failovers.bounds);
    by_fault
        .into_iter()
        .map(|(fault, failovers)| {
            let sorted = |value: fn(&Failover) -> Option<f64>| {
                let mut values: Vec<f64> = failovers.iter().copied().filter_map(value).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            // Who closes says so at once, a node has no session, and of a pause or cut the last heartbeat was before it.
            let by_timeout = is_crash(&fault) && failovers.iter().any(|one| one.holder.is_some());
            Kind {
                arm: view.index,
                label: view.label.clone(),
                detections: sorted(|one| one.detection_ms),
                takeovers: sorted(|one| one.takeover_ms),
                bounds: bounds.filter(|_| by_timeout),
                fault,
            }
        })
        .collect()
}

/// Whether a fault of this name leaves a session to expire.
pub(in crate::report) fn is_crash(fault: &str) -> bool {
    fault.starts_with("crash")
}

/// The smallest value that half of them do not exceed, as histograms have it.
fn median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().div_ceil(2).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0]), Some(1.0));
        assert_eq!(median(&[1.0, 2.0]), Some(1.0));
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}
