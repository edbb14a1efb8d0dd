//! Baseline and candidate over one another: the figures of the trials, and where the metric is a latency the whole of it.

use crate::gate::verdict::{Finding, Judgement};
use crate::measure::figures::Arm;
use crate::report::charts::percentiles;
use crate::report::format::{self, Unit, plain};
use crate::report::gate::rows::unit;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::view::ArmView;

/// The two sides of one arm, by the names of the sides.
pub(super) fn sides<'a>(judgement: &Judgement, baseline: &'a Arm, candidate: &'a Arm) -> [ArmView<'a>; 2] {
    let view = |index, name: &str, arm| ArmView { index, label: plain(name), arm };
    [view(0, &judgement.baseline.name, baseline), view(1, &judgement.candidate.name, candidate)]
}

/// Both sides of a finding over one another; `None` where a side has no figures.
pub(super) fn picture(finding: &Finding, sides: &[ArmView; 2]) -> Option<Picture> {
    let mut panels = vec![Panel::Plot(of_trials(finding)?)];
    if let Some(whole) = stage(finding).and_then(|stage| percentiles::picture(sides, stage, "milliseconds")) {
        panels.extend(whole.panels);
    }
    Some(Picture { columns: 2, key: Key::Arms(vec![0, 1]), panels })
}

/// The share of the trials whose figure is at most so large.
fn of_trials(finding: &Finding) -> Option<Plot> {
    if finding.baseline.is_empty() || finding.candidate.is_empty() {
        return None;
    }
    let (scale, name) = match unit(finding.metric) {
        Unit::Milliseconds => (1.0, format!("{}, milliseconds", finding.metric)),
        Unit::Bytes => (1e-3, format!("{}, kilobytes", finding.metric)),
        _ => (1.0, finding.metric.to_string()),
    };
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value * scale).collect() };
    let (baseline, candidate) = (scaled(&finding.baseline), scaled(&finding.candidate));
    let all = || baseline.iter().chain(&candidate).copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let room = ((high - low) * 0.05).max(high.abs() * 0.01).max(1e-6);
    let x = Axis::between(&name, (low - room).max(0.0), high + room);
    let y = Axis::from_zero("trials at most as large, %", [100.0], format::tick);
    let mark = |arm, values: &[f64]| Mark::Line { arm, points: steps(values) };
    let marks = vec![mark(0, &baseline), mark(1, &candidate)];
    Some(Plot { title: "The trials".to_owned(), x, y, rules: Vec::new(), marks })
}

/// The empirical distribution function as a line, in per cent.
fn steps(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let share = |number: usize| 100.0 * number as f64 / sorted.len() as f64;
    sorted.iter().enumerate().flat_map(|(at, value)| [(*value, share(at)), (*value, share(at + 1))]).collect()
}

/// The stage whose whole distribution stands behind the metric.
fn stage(finding: &Finding) -> Option<&'static str> {
    match finding.metric.name().split_once('.')?.0 {
        "acquire_ms" => Some("acquire"),
        "handoff_ms" => Some("handoff"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trial_is_a_step() {
        assert_eq!(steps(&[2.0, 1.0]), [(1.0, 0.0), (1.0, 50.0), (2.0, 50.0), (2.0, 100.0)]);
    }
}
