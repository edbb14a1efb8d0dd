//! The report of a sweep as one HTML file: the answer first, then the curves that it is read off, and what they rest on.

use maud::{Markup, PreEscaped, html};

use super::{curves, heat, tables, terminal, words};
use crate::capacity::document::Capacity;
use crate::report::format::{self, Unit, plain, plural};
use crate::report::gate::document;
use crate::report::html::{inline, table};
use crate::report::plot::{Picture, Width, draw};
use crate::report::table::Table;

/// The report of a sweep as one self-contained HTML document.
pub fn page(capacity: &Capacity) -> String {
    let body = html! {
        (header(capacity))
        main {
            @if let Some(why) = &capacity.incomplete_reason {
                div.alarm.banner role="alert" { p { strong { "Incomplete sweep. " } (plain(why)) } }
            }
            section.answer aria-label="The answer" {
                @for sentence in words::headline(capacity).split("; ") { p.headline { (sentence) } }
            }
            @for warning in &capacity.warnings {
                div.caution.banner role="note" {
                    p { strong { "Warning" } " " (plain(&warning.text)) }
                    p.remedy { (plain(&warning.remedy)) }
                }
            }
            (limits(capacity))
            (charts(capacity))
            (growth(capacity))
            (sizing(capacity))
            (laws(capacity))
            (points(capacity))
            (facts(capacity))
        }
    };
    document(&format!("{} – bench-runner capacity", plain(&capacity.scenario)), &body)
}

fn header(capacity: &Capacity) -> Markup {
    let axes = capacity.variables.iter().map(|axis| {
        let values: Vec<String> = axis.values.iter().map(|value| words::value_of(axis.variable, *value)).collect();
        let (first, last) = (values.first().cloned().unwrap_or_default(), values.last().cloned().unwrap_or_default());
        format!("{} {first} to {last}", words::axis_name(axis.variable))
    });
    let facts: Vec<String> = axes
        .chain([
            plural(u64::from(capacity.repeats), "repeat", "repeats"),
            plain(&capacity.service),
            plain(&capacity.started),
            format!("took {}", format::seconds(capacity.spent_seconds.round())),
        ])
        .collect();
    html! {
        header {
            p.product { "bench-runner capacity" }
            h1 { (plain(&capacity.scenario)) }
            @if let Some(question) = &capacity.question { p.question { (plain(question)) } }
            ul.meta { @for fact in facts { li { (fact) } } }
        }
    }
}

/// A section of one table; nothing where it has no rows.
fn section(title: &str, lead: &str, tables: &[Table]) -> Markup {
    html! {
        @if tables.iter().any(|table| !table.rows.is_empty()) {
            section {
                h2 { (title) }
                p.lead { (lead) }
                @for one in tables.iter().filter(|table| !table.rows.is_empty()) {
                    h3 { (one.caption) }
                    (table(one))
                }
            }
        }
    }
}

fn limits(capacity: &Capacity) -> Markup {
    let lead = "By the curves: the largest load that keeps the limit, with the interval in which 95 % of single runs break it. \
                Measured: the largest value of the sweep that kept every limit in the median of its repeats, and the smallest \
                that did not.";
    section("Limits", lead, &[tables::limits(capacity), tables::measured(capacity)])
}

fn growth(capacity: &Capacity) -> Markup {
    let lead = "The exponent of the power law nearest to the points: 0 stays as it is, 1 grows in proportion, 2 with the \
                square. Its interval is a bootstrap's.";
    let mut all = vec![tables::growth(capacity)];
    if capacity.points.iter().any(|point| point.mode == "closed") {
        all.push(tables::per_thousand(capacity));
    }
    section("Growth", lead, &all)
}

fn sizing(capacity: &Capacity) -> Markup {
    let lead = "At the largest load that kept every limit, medians of the repeats. Memory and CPU are of all nodes together; \
                100 % is one processor; data is what each node keeps.";
    section("Sizing", lead, &[tables::sizing(capacity)])
}

fn laws(capacity: &Capacity) -> Markup {
    let held: Vec<String> = capacity
        .curves
        .first()
        .map(|curve| {
            curve
                .held_out
                .iter()
                .map(|x| capacity.variables.first().map_or(String::new(), |axis| words::value_of(axis.variable, *x)))
                .collect()
        })
        .unwrap_or_default();
    let held = match held.is_empty() {
        true => {
            "There were too few places to hold any out, so that laws are told apart by what they leave over.".to_owned()
        }
        false => format!("Held out: every third place, the ends never ({} of the first arm).", held.join(", ")),
    };
    let lead = format!(
        "Each law is fitted to the other places and errs by so much at those held out; the best is taken and fitted to all \
         points. One with more coefficients has to err a fifth less. {held}"
    );
    let candidates = tables::candidates(capacity);
    html! {
        section {
            h2 { "Laws" }
            p.lead { (lead) }
            (table(&tables::laws(capacity)))
            details {
                summary { "Every law at the places that were held out" }
                (table(&candidates))
            }
        }
    }
}

fn points(capacity: &Capacity) -> Markup {
    let all = tables::points(capacity);
    html! {
        section {
            h2 { "Points" }
            p.lead {
                (terminal::order(capacity)) ". Little's law, N = X·(R + Z), is checked on each: 1 where it holds. Where it does not, \
                 the trial was too short for the queue to turn over, and its latencies are too low."
            }
            @for stopped in &capacity.stopped {
                p.note {
                    (words::branch(capacity, &stopped.arm, stopped.y)) " was ended at "
                    @if let Some(axis) = capacity.variables.first() { (words::place(axis.variable, stopped.at)) }
                    ": " (plain(&stopped.why))
                }
            }
            details {
                summary { (plural(all.rows.len() as u64, "point", "points")) }
                (table(&all))
            }
        }
    }
}

fn charts(capacity: &Capacity) -> Markup {
    html! {
        section {
            h2 { "Charts" }
            @if let (Some(picture), Some(shown)) = (heat::picture(capacity), heat::figure(capacity)) {
                (figure("two-variables", &format!("{} over both variables", shown.title), HEAT, &picture, None))
            }
            @for shown in curves::figures(capacity) {
                @if let Ok(picture) = curves::picture(capacity, &shown) {
                    (figure(
                        &curves::file_name(&shown),
                        shown.title,
                        &curves::caption(capacity, &shown),
                        &picture,
                        Some(&curves::table(capacity, &shown)),
                    ))
                }
            }
        }
    }
}

const HEAT: &str = "Medians of the repeats. Empty cells were not measured: their branch had ended.";

fn figure(id: &str, title: &str, caption: &str, picture: &Picture, behind: Option<&Table>) -> Markup {
    let [wide, narrow] = [Width::Wide, Width::Narrow].map(|width| draw(picture, &[], width).unwrap_or_default());
    let label = format!("{title}. {caption}");
    html! {
        figure id=(id) {
            h3 { (title) }
            figcaption { (caption) }
            (PreEscaped(inline(&wide, "chart wide", &label)))
            (PreEscaped(inline(&narrow, "chart narrow", &label)))
            @if let Some(behind) = behind {
                details {
                    summary { "Table" }
                    (table(behind))
                }
            }
        }
    }
}

fn facts(capacity: &Capacity) -> Markup {
    let environment = &capacity.environment;
    let versions = capacity.versions.iter().map(|(service, version)| (plain(service), plain(version)));
    let pairs: Vec<(String, String)> = versions
        .chain([
            ("bench-runner".to_owned(), plain(&environment.bench_runner)),
            ("git revision".to_owned(), plain(environment.git_revision.as_deref().unwrap_or("outside a checkout"))),
            ("java".to_owned(), plain(environment.java.as_deref().unwrap_or_default())),
            ("kernel".to_owned(), plain(&environment.kernel)),
            (
                "processor".to_owned(),
                format!("{} × {}", format::count(u64::from(environment.cpus)), plain(&environment.cpu_model)),
            ),
            ("memory".to_owned(), Unit::Bytes.show(environment.memory_bytes as f64)),
            ("scenario SHA-256".to_owned(), plain(&environment.scenario_sha256)),
        ])
        .filter(|(_, value)| !value.is_empty())
        .collect();
    html! {
        section {
            h2 { "What was run, and on what" }
            dl.pairs { @for (name, value) in &pairs { div { dt { (name) } dd { (value) } } } }
            h3 { "Settings" }
            pre.scroll tabindex="0" { code { (capacity.settings.lines().map(plain).collect::<Vec<_>>().join("\n")) } }
        }
        footer { p { "Drawn from capacity.json, schema " (capacity.schema_version) "." } }
    }
}
