//! A sweep over two variables as heat maps, one for each arm: the figure that the first limit is about.

use super::words;
use crate::capacity::document::Capacity;
use crate::capacity::figure::{self, Figure};
use crate::capacity::models::median;
use crate::report::palette::HEAT;
use crate::report::plot::{Axis, HeatCell, Key, Mark, Panel, Picture, Plot};
use crate::scenario::Variable;

/// The figure that is shown: what the first limit is about, else the acquisition latency.
pub(super) fn figure(capacity: &Capacity) -> Option<Figure> {
    let all = figure::figures(capacity.limits.iter().map(|limit| limit.metric));
    let wanted = capacity.limits.first().map_or("acquire_ms.p99", |limit| limit.metric.name());
    all.into_iter().find(|figure| figure.name == wanted)
}

/// What is drawn; `None` for a sweep over one variable.
pub(super) fn picture(capacity: &Capacity) -> Option<Picture> {
    let [first, second] = capacity.variables.as_slice() else { return None };
    let figure = figure(capacity)?;
    let mut arms: Vec<(usize, &str)> = Vec::new();
    for point in &capacity.points {
        if !arms.iter().any(|(arm, _)| *arm == point.cell.arm) {
            arms.push((point.cell.arm, &point.label));
        }
    }
    arms.sort_unstable();
    let value = |arm: usize, x: f64, y: f64| {
        let at = |point: &&crate::capacity::point::Point| {
            point.is_complete() && (point.cell.arm, point.cell.x, point.cell.y) == (arm, x, Some(y))
        };
        let values: Vec<f64> =
            capacity.points.iter().filter(at).filter_map(|point| point.figure(figure.name)).collect();
        median(&values).filter(|value| *value > 0.0)
    };
    let cells = |arm: usize| {
        let all = first
            .values
            .iter()
            .enumerate()
            .flat_map(|(column, x)| second.values.iter().enumerate().map(move |(row, y)| (column, row, *x, *y)));
        all.filter_map(|(column, row, x, y)| Some((column, row, value(arm, x, y)?))).collect::<Vec<_>>()
    };
    let all: Vec<f64> = arms.iter().flat_map(|(arm, _)| cells(*arm)).map(|(_, _, value)| value).collect();
    let (low, high) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    let level = |value: f64| {
        let share = if high > low { (value / low).ln() / (high / low).ln() } else { 1.0 };
        ((share * HEAT.len() as f64) as usize).min(HEAT.len() - 1)
    };
    let named = |variable: Variable, values: &[f64]| {
        values.iter().map(|value| words::value_of(variable, *value)).collect::<Vec<_>>()
    };
    let panel = |(arm, label): &(usize, &str)| {
        let mut marks = Vec::new();
        let (mut rectangles, mut texts) = (Vec::new(), Vec::new());
        for (column, row, value) in cells(*arm) {
            let (x, y) = (column as f64, row as f64);
            let level = level(value);
            rectangles.push(HeatCell { x: (x, x + 1.0), y: (y, y + 1.0), level });
            texts.push((x + 0.5, y + 0.5, words::amount(figure.kind, value), level));
        }
        marks.push(Mark::Heat(rectangles));
        marks.push(Mark::Texts(texts));
        Panel::Plot(Plot {
            title: crate::report::format::plain(label),
            x: Axis::places(words::axis_name(first.variable), named(first.variable, &first.values)),
            y: Axis::places(words::axis_name(second.variable), named(second.variable, &second.values)),
            rules: Vec::new(),
            marks,
        })
    };
    let key = Key::Ramp {
        name: figure.title.to_owned(),
        low: words::amount(figure.kind, low),
        high: words::amount(figure.kind, high),
    };
    Some(Picture { columns: 2.min(arms.len()), key, panels: arms.iter().map(panel).collect() })
}
