//! A figure of every arm over what varies: points with their spread, the curve with its band, the limit, the knee.

use super::words;
use crate::capacity::document::{Capacity, Curve};
use crate::capacity::figure::{self, Figure, Kind};
use crate::capacity::models::median;
use crate::capacity::plan::branch::by_place;
use crate::capacity::point::Point;
use crate::report::format;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot};
use crate::report::table::Table;
use crate::scenario::Variable;

/// Curves that fit into one chart.
const MOST_CURVES: usize = 6;

/// The figures of a sweep that have anything to draw, in the order of the report.
pub(super) fn figures(capacity: &Capacity) -> Vec<Figure> {
    let all = figure::figures(capacity.limits.iter().map(|limit| limit.metric));
    let has = |figure: &Figure| capacity.points.iter().any(|point| point.figure(figure.name).is_some_and(|y| y > 0.0));
    all.into_iter().filter(has).collect()
}

/// Name of the chart's file, without the extension.
pub(super) fn file_name(figure: &Figure) -> String {
    figure.name.replace(['.', '_'], "-")
}

/// What stands below the heading.
pub(super) fn caption(capacity: &Capacity, figure: &Figure) -> String {
    let mut text =
        "Each point is the median of its repeats, its whiskers are the smallest and the largest; the curve is the law \
                    that predicts best what it has not seen, the band where 95 % of single runs are."
            .to_owned();
    if capacity.curves.iter().any(|curve| curve.figure == figure.name && curve.knee.is_some()) {
        text += " A dashed upright rule is a knee: beyond it more load brings less.";
    }
    if limits(capacity, figure).next().is_some() {
        text += " The line across is the limit.";
    }
    text += " Dashed curves are extrapolated, to twice what was measured and no further.";
    text
}

fn limits<'c>(capacity: &'c Capacity, figure: &Figure) -> impl Iterator<Item = (f64, String)> + 'c {
    let name = figure.name;
    let own = capacity.limits.iter().filter(move |limit| limit.metric.name() == name);
    own.map(|limit| (limit.limit, format::plain(&limit.to_string())))
}

/// The curves of a figure.
pub(super) fn curves<'c>(capacity: &'c Capacity, figure: &Figure) -> Vec<&'c Curve> {
    capacity.curves.iter().filter(|curve| curve.figure == figure.name).collect()
}

/// The points that a curve is drawn beside: by place, with smallest, median and largest.
fn spread(capacity: &Capacity, curve: &Curve) -> Vec<(f64, [f64; 3])> {
    let own = capacity.points.iter().filter(|point| point.label == curve.arm && point.cell.y == curve.y);
    let places = by_place(own.filter(|point: &&Point| point.is_complete()));
    let of = |(x, points): (f64, Vec<&Point>)| {
        let values: Vec<f64> = points.iter().filter_map(|point| point.figure(&curve.figure)).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some((x, [low, median(&values)?, high]))
    };
    places.into_iter().filter_map(of).collect()
}

/// What is drawn.
///
/// # Errors
/// Where there is nothing to draw: a sentence that says why.
pub(super) fn picture(capacity: &Capacity, figure: &Figure) -> Result<Picture, String> {
    let missing = || format!("{} was not measured.", figure.title);
    let variable = capacity.variables.first().map(|axis| axis.variable).ok_or_else(missing)?;
    let curves: Vec<&Curve> = curves(capacity, figure).into_iter().take(MOST_CURVES).collect();
    let spreads: Vec<_> = curves.iter().map(|curve| spread(capacity, curve)).collect();
    let xs: Vec<f64> = spreads
        .iter()
        .flatten()
        .map(|(x, _)| *x)
        .chain(curves.iter().flat_map(|curve| curve.line.iter().map(|point| point.x)))
        .collect();
    let ys: Vec<f64> = spreads
        .iter()
        .flatten()
        .flat_map(|(_, spread)| *spread)
        .chain(curves.iter().flat_map(|curve| curve.line.iter().map(|point| point.y)))
        .chain(limits(capacity, figure).map(|(limit, _)| limit))
        .collect();
    let tick = |variable| match variable {
        Variable::Hold | Variable::SessionTimeout => words::tick(Kind::Latency),
        _ => format::tick,
    };
    let x = Axis::log(words::axis_name(variable), xs, tick(variable)).ok_or_else(missing)?;
    let y = Axis::log(words::unit(figure.kind), ys, words::tick(figure.kind)).ok_or_else(missing)?;
    let mut marks = Vec::new();
    for (arm, curve) in curves.iter().enumerate() {
        let band = |point: &crate::capacity::document::CurvePoint| Some((point.x, point.low?, point.high?));
        marks.push(Mark::Area { arm, points: curve.line.iter().filter_map(band).collect() });
    }
    for (limit, text) in limits(capacity, figure) {
        marks.push(Mark::Level { at: limit, text });
    }
    for (arm, (curve, spread)) in curves.iter().zip(&spreads).enumerate() {
        let last = curve.line.iter().filter(|point| !point.extrapolated).count();
        let points: Vec<(f64, f64)> = curve.line.iter().map(|point| (point.x, point.y)).collect();
        marks.push(Mark::Curve { arm, points: points[..last].to_vec(), beyond: false });
        let from = last.saturating_sub(1);
        marks.push(Mark::Curve { arm, points: points[from..].to_vec(), beyond: true });
        marks
            .push(Mark::Whiskers { arm, points: spread.iter().map(|(x, [low, _, high])| (*x, *low, *high)).collect() });
        marks.push(Mark::Dots { arm, points: spread.iter().map(|(x, [_, middle, _])| (*x, *middle)).collect() });
    }
    let rules = curves.iter().filter_map(|curve| curve.knee).collect();
    let named = |curve: &&Curve| words::branch(capacity, &curve.arm, curve.y);
    let key = Key::Curves(curves.iter().enumerate().map(|(arm, curve)| (arm, named(curve))).collect());
    let plot = Plot { title: String::new(), x, y, rules, marks };
    Ok(Picture { columns: 1, key, panels: vec![Panel::Plot(plot)] })
}

/// The figures behind the picture.
pub(super) fn table(capacity: &Capacity, figure: &Figure) -> Table {
    let Some(first) = capacity.variables.first() else { return Table::default() };
    let x_name = words::axis_name(first.variable);
    let head = ["arm", x_name, "median", "smallest", "largest", "curve"];
    let mut table = Table::new(format!("{} by {x_name}", figure.title), 1, &head);
    for curve in curves(capacity, figure) {
        for (x, [low, middle, high]) in spread(capacity, curve) {
            let on_curve = curve.line.iter().min_by(|one, other| (one.x - x).abs().total_cmp(&(other.x - x).abs()));
            let near = on_curve.filter(|point| (point.x / x - 1.0).abs() < 0.03);
            table.row([
                words::branch(capacity, &curve.arm, curve.y),
                words::value_of(first.variable, x),
                words::amount(figure.kind, middle),
                words::amount(figure.kind, low),
                words::amount(figure.kind, high),
                near.map_or_else(|| format::ABSENT.to_owned(), |point| words::amount(figure.kind, point.y)),
            ]);
        }
    }
    table
}
