//! The charts, each with a caption and the tables behind it.

use maud::{Markup, PreEscaped, html};

use super::tables;
use crate::report::charts::{self, Chart};
use crate::report::plot::{Width, draw};
use crate::report::view::ArmView;

/// A chart drawn for a desk and for a phone.
struct Drawn {
    wide: String,
    narrow: String,
}

/// Every chart that has to do with these arms; those whose data are missing are named at the end, with the reason.
pub(super) fn section(arms: &[ArmView]) -> Markup {
    let mut missing: Vec<(&dyn Chart, String)> = Vec::new();
    let mut drawn: Vec<(&dyn Chart, Drawn)> = Vec::new();
    for chart in charts::of(arms) {
        match draw_both(chart, arms) {
            Ok(both) => drawn.push((chart, both)),
            Err(why) => missing.push((chart, why)),
        }
    }
    html! {
        section {
            h2 { "Charts" }
            @for (chart, both) in &drawn { (figure(*chart, both, arms)) }
            @if !missing.is_empty() {
                h3 { "Left out" }
                dl.pairs.missing {
                    @for (chart, why) in &missing {
                        div {
                            dt { (chart.title()) }
                            dd { (why) }
                        }
                    }
                }
            }
        }
    }
}

fn draw_both(chart: &dyn Chart, arms: &[ArmView]) -> Result<Drawn, String> {
    let picture = chart.picture(arms)?;
    Ok(Drawn { wide: draw(&picture, arms, Width::Wide)?, narrow: draw(&picture, arms, Width::Narrow)? })
}

fn figure(chart: &dyn Chart, drawn: &Drawn, arms: &[ArmView]) -> Markup {
    let label = format!("{}. {}", chart.title(), chart.caption());
    html! {
        figure id=(chart.name()) {
            h3 { (chart.title()) }
            figcaption { (chart.caption()) }
            (PreEscaped(inline(&drawn.wide, "chart wide", &label)))
            (PreEscaped(inline(&drawn.narrow, "chart narrow", &label)))
            @for table in chart.tables(arms).iter().filter(|table| !table.rows.is_empty()) {
                details {
                    summary { "Table: " (lower(&table.caption)) }
                    (tables::table(table))
                }
            }
        }
    }
}

/// The SVG as an element of the page: with a class and a name for those who do not see it. The namespace goes without
/// saying inside HTML, and left in it would be the only address in the file.
pub(in crate::report) fn inline(svg: &str, class: &str, label: &str) -> String {
    let label = html! { (label) }.into_string();
    let opening = format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{label}\" ");
    svg.replacen("<svg ", &opening, 1).replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

/// A caption in the middle of a sentence.
fn lower(caption: &str) -> String {
    let mut chars = caption.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
