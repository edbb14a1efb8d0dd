//! The history of a gate: each metric over time with its change points, on the terminal and as a page.

use maud::{Markup, PreEscaped, html};

use super::page::document;
use super::rows::{unit, value};
use crate::gate::history::Series;
use crate::report::format::{self, Unit, plain, plural};
use crate::report::html::inline;
use crate::report::plot::{Axis, Key, Mark, Panel, Picture, Plot, Width, draw};

/// The heights of a line of a few characters.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How many of the last runs a line on the terminal shows.
const SHOWN: usize = 40;

/// Each series in a line, and its changes below it.
pub fn history_terminal(all: &[Series]) -> String {
    let mut text = String::new();
    let mut head = String::new();
    for series in all {
        let here = format!("{}, {} on {}", plain(&series.scenario), plain(&series.arm), plain(&series.machine));
        if here != head {
            text += &format!("{}{here}\n", if head.is_empty() { "" } else { "\n" });
            head = here;
        }
        let last = series.values.last().copied();
        let from = series.values.len().saturating_sub(SHOWN);
        let name = series.metric.name();
        text += &format!("  {name:<34} {:>11}  {}\n", value(series.metric, last), line(&series.values[from..]));
        for change in changes(series) {
            text += &format!("      {change}\n");
        }
    }
    if all.is_empty() {
        text += "no gate has run yet\n";
    }
    text
}

/// The values as a line of bars.
fn line(values: &[f64]) -> String {
    let (low, high) = ends(values);
    let height = |value: f64| if high > low { ((value - low) / (high - low) * 7.0).round() as usize } else { 0 };
    values.iter().map(|value| BARS[height(*value).min(7)]).collect()
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

/// Each change in a sentence.
fn changes(series: &Series) -> Vec<String> {
    let edges: Vec<usize> =
        std::iter::once(0).chain(series.changes.iter().copied()).chain([series.values.len()]).collect();
    let level = |from: usize, to: usize| crate::gate::statistics::median(&series.values[from..to]);
    let told = edges.windows(3).map(|edge| {
        let [before, after] = [level(edge[0], edge[1]), level(edge[1], edge[2])];
        let revision = series.revisions[edge[1]].as_deref().map(|revision| format!(" ({})", plain(revision)));
        format!(
            "changed with the run of {}{}: {} → {}",
            plain(&series.times[edge[1]]),
            revision.unwrap_or_default(),
            value(series.metric, before),
            value(series.metric, after),
        )
    });
    told.collect()
}

/// Every series as one self-contained HTML document.
pub fn history_page(all: &[Series]) -> String {
    // What changed is what the page is opened for, and comes first.
    let (changed, steady): (Vec<&Series>, Vec<&Series>) = all.iter().partition(|series| !series.changes.is_empty());
    let answer = format!(
        "{} of {} changed their level.",
        format::count(changed.len() as u64),
        plural(all.len() as u64, "series", "series")
    );
    let body = html! {
        header {
            p.product { "bench-runner history" }
            h1 { "History of the gate" }
        }
        main {
            section.answer { p.headline { (answer) } }
            section { @for series in changed.iter().chain(&steady) { (figure(series)) } }
        }
    };
    document("History of the gate – bench-runner", &body)
}

fn figure(series: &Series) -> Markup {
    let picture = picture(series);
    let [wide, narrow] = [Width::Wide, Width::Narrow].map(|width| draw(&picture, &[], width).unwrap_or_default());
    let title = format!("{}: {}, {}", plain(&series.scenario), plain(&series.arm), series.metric);
    html! {
        figure {
            h3 { (title) }
            figcaption {
                (plain(&series.machine)) ". "
                @for change in changes(series) { (change) ". " }
            }
            (PreEscaped(inline(&wide, "chart wide", &title)))
            (PreEscaped(inline(&narrow, "chart narrow", &title)))
        }
    }
}

/// The runs as dots, the levels as lines.
fn picture(series: &Series) -> Picture {
    let scale = if unit(series.metric) == Unit::Bytes { 1e-3 } else { 1.0 };
    let of = match unit(series.metric) {
        Unit::Bytes => ", kilobytes",
        Unit::Milliseconds => ", milliseconds",
        _ => "",
    };
    let values: Vec<f64> = series.values.iter().map(|value| value * scale).collect();
    let last = (values.len().max(2) - 1) as f64;
    let edges: Vec<usize> = std::iter::once(0).chain(series.changes.iter().copied()).chain([values.len()]).collect();
    let mut marks = vec![Mark::Dots {
        arm: 1,
        points: (0..).map(f64::from).zip(values.iter().copied()).map(|(x, y): (f64, f64)| (x, y)).collect(),
    }];
    marks.extend(edges.windows(2).filter_map(|edge| {
        let level = crate::gate::statistics::median(&values[edge[0]..edge[1]])?;
        Some(Mark::Line { arm: 0, points: vec![(edge[0] as f64, level), (edge[1] as f64 - 1.0, level)] })
    }));
    let plot = Plot {
        title: String::new(),
        x: Axis::between("gate runs, the oldest first", 0.0, last),
        y: Axis::from_zero(&format!("{}{of}", series.metric), values.iter().copied(), format::tick),
        rules: series.changes.iter().map(|change| *change as f64 - 0.5).collect(),
        marks,
    };
    Picture { columns: 1, key: Key::Arms(Vec::new()), panels: vec![Panel::Plot(plot)] }
}
