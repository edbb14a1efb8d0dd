//! A branch: the points of one arm, at one value of the second variable, over the first one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capacity::models::median;
use crate::capacity::point::Point;
use crate::scenario::gate::{Relation, Slo};

/// What branches are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The limits.
    pub limits: &'a [Slo],
    /// How many times a limit has to be exceeded for a branch to end.
    pub stop_beyond: f64,
    /// How many points of one place have to agree on that: one alone may be a hiccup of the machine's.
    pub agree: usize,
    /// Whether more of the first variable is more load.
    pub is_load: bool,
}

/// A branch that was ended early, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stopped {
    /// Label of the arm.
    pub arm: String,
    /// Value of the second variable; `null` where there is none.
    pub y: Option<f64>,
    /// Where the limit was far exceeded: nothing beyond it was measured.
    pub at: f64,
    /// Which limit, and by how much; or why the point could not be measured.
    pub why: String,
}

impl Rules<'_> {
    /// How many times the figure is beyond a limit, at least: 1 and more is broken. `None` where it was not measured, or the
    /// limit is another arm's.
    pub fn beyond(&self, limit: &Slo, label: &str, value: Option<f64>) -> Option<f64> {
        let value = value.filter(|_| limit.arm.as_deref().is_none_or(|arm| arm == label))?;
        let ratio = match limit.relation {
            Relation::Below | Relation::AtMost => value / limit.limit,
            Relation::Above | Relation::AtLeast => limit.limit / value,
        };
        // A limit of 0 is exceeded without measure by whatever breaks it.
        Some(if limit.holds(value) { ratio.min(1.0) } else { ratio.max(1.0) })
    }

    /// The limit that these points of one place exceed most, and how many times; by the median of the repeats.
    pub fn worst<'l>(&'l self, points: &[&Point]) -> Option<(&'l Slo, f64, f64)> {
        self.worst_of(points, |_| true)
    }

    /// The same, among these limits alone.
    fn worst_of<'l>(&'l self, points: &[&Point], is_asked: impl Fn(&Slo) -> bool) -> Option<(&'l Slo, f64, f64)> {
        let of = |limit: &'l Slo| {
            let name = limit.metric.name();
            let values: Vec<f64> = points.iter().filter_map(|point| point.figure(name)).collect();
            let value = median(&values);
            let label = points.first().map_or("", |point| point.label.as_str());
            Some((limit, self.beyond(limit, label, value)?, value?))
        };
        self.limits.iter().filter(|limit| is_asked(limit)).filter_map(of).max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Whether these points of one place keep every limit; points that could not be measured do not.
    pub fn kept(&self, points: &[&Point]) -> bool {
        let worst = self.worst(points);
        points.iter().all(|point| point.is_complete()) && worst.is_none_or(|(limit, _, value)| limit.holds(value))
    }

    /// How many of these points exceed the limit so far that a branch ends there.
    fn far_beyond(&self, limit: &Slo, points: &[&Point]) -> usize {
        let is_far = |point: &&&Point| {
            let value = point.figure(limit.metric.name());
            value.is_some_and(|value| !limit.holds(value))
                && self.beyond(limit, &point.label, value).is_some_and(|beyond| beyond >= self.stop_beyond)
        };
        points.iter().filter(is_far).count()
    }

    /// Whether these points of one place look like the end of their branch, and are too few to tell.
    pub fn is_suspect(&self, points: &[&Point]) -> bool {
        points.len() < self.agree && self.limits.iter().any(|limit| self.far_beyond(limit, points) > 0)
    }

    /// Why nothing beyond these points of one place is to be measured.
    pub fn end(&self, points: &[&Point]) -> Option<String> {
        if let Some(why) = points.iter().find_map(|point| point.incomplete.as_ref()) {
            return Some(why.clone());
        }
        let (limit, beyond, value) = self.worst_of(points, |limit| self.far_beyond(limit, points) >= self.agree)?;
        let bare = Slo { arm: None, ..limit.clone() };
        let places = if value.abs() < 10.0 { 3 } else { 0 };
        let exceeded = || format!("{bare} was exceeded {beyond:.1} times, by {value:.places$}");
        (!limit.holds(value) && beyond >= self.stop_beyond).then(exceeded)
    }
}

/// Points by place, rising.
pub fn by_place<'p>(points: impl IntoIterator<Item = &'p Point>) -> Vec<(f64, Vec<&'p Point>)> {
    // Bits of positive numbers are in the order of the numbers.
    let mut places: BTreeMap<u64, Vec<&Point>> = BTreeMap::new();
    for point in points {
        places.entry(point.cell.x.to_bits()).or_default().push(point);
    }
    places.into_iter().map(|(x, points)| (f64::from_bits(x), points)).collect()
}

/// Where a branch ends early, by what has been measured; `None` while it does not.
pub fn end_of(rules: &Rules<'_>, arm: usize, y: Option<f64>, done: &[Point]) -> Option<(f64, String)> {
    if !rules.is_load {
        return None;
    }
    let own = done.iter().filter(|point| point.cell.is_beside(arm, y));
    by_place(own).into_iter().find_map(|(x, points)| Some((x, rules.end(&points)?)))
}

/// The branches that were ended early, in the order of arms and second values.
pub fn stopped(rules: &Rules<'_>, done: &[Point]) -> Vec<Stopped> {
    let mut branches: Vec<(usize, Option<f64>)> = done.iter().map(|point| (point.cell.arm, point.cell.y)).collect();
    branches.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
    branches.dedup();
    let of = |(arm, y): (usize, Option<f64>)| {
        let (at, why) = end_of(rules, arm, y, done)?;
        let label = done.iter().find(|point| point.cell.arm == arm)?.label.clone();
        Some(Stopped { arm: label, y, at, why })
    };
    branches.into_iter().filter_map(of).collect()
}
