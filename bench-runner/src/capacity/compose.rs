//! From stored points to the whole answer.

use std::collections::BTreeMap;

use super::answer;
use super::curves::{Fitted, fitted};
use super::document::{Capacity, Header, Method, SCHEMA_VERSION, SizingRow};
use super::figure::figures;
use super::models::median;
use super::plan::branch::by_place;
use super::plan::{Rules, stopped};
use super::point::Point;
use crate::results::summary::Warning;
use crate::results::warnings;
use crate::scenario::gate::Slo;
use crate::scenario::{Axis, Scenario, SweepSettings, Variable};

/// A share of the processors that others may take before the reader is told.
const CROWDED: f64 = 0.3;

/// Name of the share of the processors that other programs took, in a point.
pub const OTHERS: &str = "other_cpu_share";

/// The rules of a scenario's sweep.
pub fn rules<'a>(limits: &'a [Slo], sweep: &SweepSettings) -> Rules<'a> {
    Rules {
        limits,
        stop_beyond: sweep.stop_beyond,
        agree: sweep.repeats.clamp(1, 2) as usize,
        is_load: sweep.first.variable.is_load(),
    }
}

/// Works everything out of the points. `incomplete` says why not all planned ones are there.
pub fn compose(
    header: &Header,
    scenario: &Scenario,
    sweep: &SweepSettings,
    points: Vec<Point>,
    incomplete: Option<String>,
) -> Capacity {
    let rules = rules(&scenario.slo, sweep);
    let figures = figures(scenario.slo.iter().map(|limit| limit.metric));
    let (mut answers, mut curves, mut sizing) = (Vec::new(), Vec::new(), Vec::new());
    for (number, branch) in branches(&points).iter().enumerate() {
        let fitted: Vec<Fitted> = figures
            .iter()
            .enumerate()
            .filter_map(|(place, figure)| {
                // Each curve draws its own residuals, the same ones each time.
                let seed = scenario.seed.wrapping_add((number * figures.len() + place) as u64);
                fitted(figure, sweep.first.variable, branch, seed)
            })
            .collect();
        if rules.is_load && !scenario.slo.is_empty() {
            answers.extend(answer::of_branch(header.method, &rules, sweep, branch, &fitted));
        }
        sizing.extend(row(&rules, sweep, branch));
        curves.extend(fitted.into_iter().map(|fitted| fitted.curve));
    }
    let services: Vec<String> = scenario.services().iter().map(ToString::to_string).collect();
    sizing.sort_by_key(|row: &SizingRow| row.nodes);
    Capacity {
        schema_version: SCHEMA_VERSION,
        scenario: scenario.name.clone(),
        question: scenario.question.clone(),
        service: services.join(" + "),
        method: header.method,
        started: header.started.clone(),
        spent_seconds: points.iter().map(|point| point.spent_seconds).sum(),
        complete: incomplete.is_none(),
        incomplete_reason: incomplete,
        variables: variables(sweep),
        repeats: sweep.repeats,
        seed: scenario.seed,
        stop_beyond: sweep.stop_beyond,
        limits: scenario.slo.clone(),
        answers,
        stopped: stopped(&rules, &points),
        curves,
        sizing,
        warnings: of_servers(header, scenario).chain(of_points(&points)).collect(),
        points,
        environment: header.environment.clone(),
        versions: header.versions.clone(),
        settings: scenario.text.clone(),
    }
}

fn variables(sweep: &SweepSettings) -> Vec<Axis> {
    std::iter::once(&sweep.first).chain(&sweep.second).cloned().collect()
}

/// The points of each arm at each value of the second variable, in the order of arms and values.
fn branches(points: &[Point]) -> Vec<Vec<&Point>> {
    let mut branches: BTreeMap<(usize, u64), Vec<&Point>> = BTreeMap::new();
    for point in points {
        // Bits of positive numbers are in the order of the numbers.
        let y = point.cell.y.map_or(0, f64::to_bits);
        branches.entry((point.cell.arm, y)).or_default().push(point);
    }
    branches.into_values().collect()
}

/// What the servers carried at the largest load of a branch that kept every limit. Nodes as the first variable are no load:
/// each is a row of its own.
fn row(rules: &Rules<'_>, sweep: &SweepSettings, branch: &[&Point]) -> Vec<SizingRow> {
    let places = by_place(branch.iter().copied());
    let of = |x: f64, points: &[&Point]| {
        let first = points.first()?;
        let names = points.iter().flat_map(|point| point.figures.keys());
        let middle = |name: &String| {
            let values: Vec<f64> = points.iter().filter_map(|point| point.figure(name)).collect();
            Some((name.clone(), median(&values)?))
        };
        Some(SizingRow {
            nodes: first.nodes,
            arm: first.label.clone(),
            service: first.service,
            variable: sweep.first.variable,
            x,
            y: first.cell.y,
            kept: rules.kept(points),
            clients: first.workers,
            figures: names.filter_map(middle).collect(),
        })
    };
    if sweep.first.variable == Variable::Nodes {
        return places.iter().filter_map(|(x, points)| of(*x, points)).collect();
    }
    let kept = places.iter().take_while(|(_, points)| rules.kept(points)).last();
    kept.or(places.first()).and_then(|(x, points)| of(*x, points)).into_iter().collect()
}

/// What the servers give reason to say.
fn of_servers(header: &Header, scenario: &Scenario) -> impl Iterator<Item = Warning> {
    let external = scenario.ensemble.external.is_some().then(|| warnings::Warning::External.told());
    header.noticed.iter().cloned().chain(external)
}

fn of_points(points: &[Point]) -> Vec<Warning> {
    let count = |is: &dyn Fn(&Point) -> bool| points.iter().filter(|point| is(point)).count();
    let of = |number: usize| format!("{number} of {} points", points.len());
    let mut warnings = Vec::new();
    let mut add = |number: usize, text: String, remedy: &str| {
        if number > 0 {
            warnings.push(Warning { text, remedy: remedy.to_owned() });
        }
    };
    let restless = count(&|point| point.is_complete() && point.little.is_some_and(|little| !little.holds()));
    add(
        restless,
        format!(
            "Little's law does not hold at {}: the trials were too short for the queue to turn over, so that their \
             latencies are too low; the curves leave them out",
            of(restless)
        ),
        "raise trials.duration, or use fewer workers",
    );
    let saturated = count(&|point| point.saturated);
    add(
        saturated,
        format!("the generator was the limit at {}, so that the figures there are its own", of(saturated)),
        "give it a machine of its own, or more processors",
    );
    let held_back = count(&|point| point.held_back > 0);
    add(
        held_back,
        format!(
            "the generator held requests back at {}, to stay below ensemble.max_rate: latencies and rates there are those of this \
             ceiling, and what the servers carry may be more",
            of(held_back)
        ),
        "raise ensemble.max_rate where the servers are known to bear it",
    );
    let crowded = count(&|point| point.figure(OTHERS).is_some_and(|share| share > CROWDED));
    add(
        crowded,
        format!("other programs took more than {:.0} % of the processors at {}", CROWDED * 100.0, of(crowded)),
        "times and rates are theirs as well, counts are not; repeat the sweep on a quiet machine",
    );
    let failed = count(&|point| !point.is_complete());
    add(failed, format!("{} did not come to an end; no curve has them", of(failed)), "the list of points says why");
    warnings
}

/// The header of a sweep that begins now.
pub fn header(
    scenario: &Scenario,
    search: bool,
    started: String,
    environment: crate::results::summary::Environment,
) -> Header {
    Header {
        schema_version: SCHEMA_VERSION,
        scenario: scenario.name.clone(),
        method: if search { Method::Search } else { Method::Sweep },
        started,
        environment,
        versions: BTreeMap::new(),
        noticed: Vec::new(),
    }
}
