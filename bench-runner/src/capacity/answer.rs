//! How much load keeps the limits: where curves cross them.

use super::curves::{FARTHEST, Fitted};
use super::document::{Answer, LimitAnswer, Method, Reach};
use super::models::interval;
use super::plan::branch::{Rules, by_place};
use super::plan::search::bracket;
use super::point::Point;
use crate::scenario::SweepSettings;
use crate::scenario::gate::Slo;

/// Places in equal ratios at which a curve is asked; between two of them the crossing is bisected.
const STEPS: usize = 400;

/// Bisections between two places: beyond the digits of a float.
const BISECTIONS: usize = 60;

/// Where a curve first breaks a limit between two places: 0 where it is broken at the first, infinity where it is kept up to
/// the last.
pub fn crossing(curve: impl Fn(f64) -> f64, limit: &Slo, from: f64, to: f64) -> f64 {
    let is_broken = |x: f64| !limit.holds(curve(x));
    if is_broken(from) {
        return 0.0;
    }
    let place = |step: usize| from * (to / from).powf(step as f64 / STEPS as f64);
    let Some(step) = (1..=STEPS).find(|step| is_broken(place(*step))) else { return f64::INFINITY };
    let (mut kept, mut broken) = (place(step - 1), place(step));
    for _ in 0..BISECTIONS {
        let middle = (kept + broken) / 2.0;
        if is_broken(middle) { broken = middle } else { kept = middle }
    }
    kept
}

/// Where the figure's curve crosses a limit, with the interval of it.
pub fn of_limit(limit: &Slo, fitted: &Fitted, is_whole: bool) -> LimitAnswer {
    let (low, high) = fitted.measured;
    // Below the smallest measured load nothing is said but that it breaks there.
    let (from, to) = (low, FARTHEST * high);
    let whole = |x: f64| if is_whole && x.is_finite() { x.floor() } else { x };
    let value = whole(crossing(|x| fitted.fit.value(x), limit, from, to));
    let again = fitted
        .replicates
        .iter()
        .map(|replicate| whole(crossing(|x| replicate.fit.value_off_by(x, replicate.residual), limit, from, to)));
    let ends = interval(again);
    let reach = match value {
        0.0 => Reach::AtOnce,
        value if value.is_infinite() => Reach::NotReached,
        _ => Reach::Breaks,
    };
    let inside = |end: f64| (end > 0.0 && end.is_finite()).then_some(end);
    LimitAnswer {
        limit: limit.clone(),
        reach,
        value: inside(value),
        low: ends.and_then(|ends| inside(ends.0)),
        high: ends.and_then(|ends| inside(ends.1)),
        law: fitted.curve.law,
        extrapolated: value.is_finite() && value > high,
    }
}

/// What a branch carries.
pub fn of_branch(
    method: Method,
    rules: &Rules<'_>,
    sweep: &SweepSettings,
    branch: &[&Point],
    fitted: &[Fitted],
) -> Option<Answer> {
    let first = branch.first()?;
    let is_whole = sweep.first.variable.is_whole();
    let own = rules.limits.iter().filter(|limit| limit.arm.as_deref().is_none_or(|arm| arm == first.label));
    let limits: Vec<LimitAnswer> = own
        .filter_map(|limit| {
            let fitted = fitted.iter().find(|fitted| fitted.curve.figure == limit.metric.name())?;
            Some(of_limit(limit, fitted, is_whole))
        })
        .collect();
    let places = by_place(branch.iter().copied());
    let broken = places.iter().find(|(_, points)| !rules.kept(points)).map(|(x, _)| *x);
    let kept = places.iter().map(|(x, _)| *x).take_while(|x| broken.is_none_or(|broken| *x < broken)).last();
    let mut answer = Answer {
        arm: first.label.clone(),
        service: first.service,
        y: first.cell.y,
        reach: Reach::Unknown,
        value: None,
        low: None,
        high: None,
        breaks_first: None,
        extrapolated: false,
        kept,
        broken,
        limits,
    };
    match method {
        Method::Sweep => by_curves(&mut answer, rules, branch),
        Method::Search => by_bracket(&mut answer, rules, sweep, branch),
    }
    Some(answer)
}

/// The limit that its curve crosses first.
fn by_curves(answer: &mut Answer, rules: &Rules<'_>, branch: &[&Point]) {
    let place = |limit: &LimitAnswer| match limit.reach {
        Reach::AtOnce => 0.0,
        _ => limit.value.unwrap_or(f64::INFINITY),
    };
    let first = answer.limits.iter().min_by(|one, other| place(one).total_cmp(&place(other))).cloned();
    // What could not be measured at all is an end too.
    let unmeasured = by_place(branch.iter().copied())
        .into_iter()
        .find(|(_, points)| points.iter().any(|point| !point.is_complete()))
        .map(|(x, _)| x);
    let Some(first) = first else {
        if unmeasured.is_some() {
            ended(answer, unmeasured);
        }
        return;
    };
    if unmeasured.is_some_and(|x| place(&first) > x) {
        return ended(answer, unmeasured);
    }
    if let Some(found) = measured_end(rules, branch).filter(|found| place(&first) > found.highest) {
        return by_measured(answer, rules, &found);
    }
    answer.reach = first.reach;
    answer.value = first.value;
    answer.low = first.low;
    answer.high = first.high;
    answer.extrapolated = first.extrapolated;
    answer.breaks_first = (first.reach != Reach::NotReached).then(|| bare(&first.limit));
}

/// Where a branch breaks to its end, by what was measured alone.
struct MeasuredEnd<'p> {
    /// The largest place that keeps every limit, below all that break one; `None` where every place breaks one.
    kept: Option<f64>,
    /// The smallest place from which on each breaks one, and its points.
    broken: (f64, Vec<&'p Point>),
    /// The largest place of all.
    highest: f64,
}

/// `None` where the largest place keeps every limit.
fn measured_end<'p>(rules: &Rules<'_>, branch: &[&'p Point]) -> Option<MeasuredEnd<'p>> {
    let mut places = by_place(branch.iter().copied());
    let highest = places.last()?.0;
    let keeps = places.iter().rposition(|(_, points)| rules.kept(points));
    let first = keeps.map_or(0, |index| index + 1);
    let kept = keeps.map(|index| places[index].0);
    (first < places.len()).then(|| MeasuredEnd { kept, broken: places.swap_remove(first), highest })
}

/// Curves through noisy points may cross a limit beyond what was measured, or nowhere, where the points themselves break it:
/// the points are believed.
fn by_measured(answer: &mut Answer, rules: &Rules<'_>, found: &MeasuredEnd<'_>) {
    let (x, points) = &found.broken;
    answer.reach = if found.kept.is_some() { Reach::Breaks } else { Reach::AtOnce };
    answer.value = found.kept;
    answer.low = found.kept;
    answer.high = Some(*x);
    (answer.kept, answer.broken) = (found.kept, Some(*x));
    answer.breaks_first = rules.worst(points).map(|(limit, _, _)| bare(limit));
}

/// A branch that ended where a trial could not be brought to its end.
fn ended(answer: &mut Answer, at: Option<f64>) {
    answer.reach = if answer.kept.is_some() { Reach::Breaks } else { Reach::AtOnce };
    answer.value = answer.kept;
    answer.low = answer.kept;
    answer.high = at;
    answer.breaks_first = None;
}

/// The ends of what a search closed in on.
fn by_bracket(answer: &mut Answer, rules: &Rules<'_>, sweep: &SweepSettings, branch: &[&Point]) {
    let found = bracket(rules, sweep.repeats, branch);
    answer.value = found.kept;
    answer.low = found.kept;
    answer.high = found.broken;
    (answer.kept, answer.broken) = (found.kept, found.broken);
    answer.reach = match (found.kept, found.broken) {
        (_, None) => Reach::NotReached,
        (None, Some(_)) => Reach::AtOnce,
        (Some(_), Some(_)) => Reach::Breaks,
    };
    let Some(broken) = found.broken else { return };
    let points: Vec<&Point> = branch.iter().copied().filter(|point| point.cell.x == broken).collect();
    if points.iter().all(|point| point.is_complete()) {
        answer.breaks_first = rules.worst(&points).map(|(limit, _, _)| bare(limit));
    }
}

/// The limit without the arm that it is for.
fn bare(limit: &Slo) -> String {
    Slo { arm: None, ..limit.clone() }.to_string()
}
