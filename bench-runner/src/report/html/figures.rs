//! The charts, each with a caption and the tables behind it.

use maud::{Markup, PreEscaped, html};

use super::tables;
use crate::report::charts::{Chart, all};
use crate::report::plot::{Width, draw};
use crate::report::view::ArmView;

/// Every chart; one whose data are missing is a sentence.
pub(super) fn section(arms: &[ArmView]) -> Markup {
    html! {
        section.charts {
            h2 { "Charts" }
            @for chart in all() { (figure(chart, arms)) }
        }
    }
}

fn figure(chart: &dyn Chart, arms: &[ArmView]) -> Markup {
    let drawn = chart.picture(arms).and_then(|picture| {
        let wide = draw(&picture, arms, Width::Wide)?;
        let narrow = draw(&picture, arms, Width::Narrow)?;
        Ok((wide, narrow))
    });
    html! {
        figure id=(chart.name()) {
            h3 { (chart.title()) }
            @match drawn {
                Ok((wide, narrow)) => {
                    figcaption { (chart.caption()) }
                    (PreEscaped(inline(&wide, "chart wide", chart)))
                    (PreEscaped(inline(&narrow, "chart narrow", chart)))
                    @for table in chart.tables(arms).iter().filter(|table| !table.rows.is_empty()) {
                        details {
                            summary { "Table: " (lower(&table.caption)) }
                            (tables::table(table))
                        }
                    }
                },
                Err(why) => figcaption.missing { (why) },
            }
        }
    }
}

/// The SVG as an element of the page: with a class and a name for those who do not see it. The namespace goes without
/// saying inside HTML, and left in it would be the only address in the file.
fn inline(svg: &str, class: &str, chart: &dyn Chart) -> String {
    let label = html! { (chart.title()) ". " (chart.caption()) }.into_string();
    let opening = format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{label}\" ");
    svg.replacen("<svg ", &opening, 1).replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

/// A caption in the middle of a sentence.
fn lower(caption: &str) -> String {
    let mut chars = caption.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
