//! The whole page, in order.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use super::{answer, facts, faults, figures, proof, tables};
use crate::report::format::{self, plain, plural};
use crate::report::palette;
use crate::report::view::arms;
use crate::results::summary::Summary;

/// The report of a run as one self-contained HTML document.
pub fn html(summary: &Summary) -> String {
    let arms = arms(summary);
    let scenario = plain(&summary.scenario);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "bench-runner " (plain(&summary.environment.bench_runner)) };
                title { (scenario) " – bench-runner report" }
                style { (PreEscaped(palette::style_sheet())) (PreEscaped(include_str!("style.css"))) }
            }
            body {
                (header(summary, &scenario))
                main {
                    (answer::section(summary))
                    @if !arms.is_empty() {
                        (tables::side_by_side(&arms))
                    }
                    (answer::cautions(summary))
                    @if !arms.is_empty() {
                        (tables::books(&arms))
                        (tables::safety(&arms))
                        (proof::controls(&arms))
                        (proof::split_brain(&arms))
                        (faults::section(&arms))
                        (tables::hunt(&arms))
                        (figures::section(&arms))
                    }
                    (facts::section(summary))
                }
            }
        }
    };
    page.into_string()
}

fn header(summary: &Summary, scenario: &str) -> Markup {
    let nodes = plural(u64::from(summary.ensemble.nodes), "node", "nodes");
    let provider = plain(&summary.ensemble.provider);
    let facts = [
        plural(u64::from(summary.workers), "worker", "workers"),
        plain(&summary.service),
        if provider.is_empty() { nodes } else { format!("{nodes}, {provider}") },
        plain(&summary.started),
        format!("took {}", format::seconds(summary.elapsed_seconds)),
    ];
    markup! {
        header {
            p.product { "bench-runner" }
            h1 { (scenario) }
            @if let Some(question) = &summary.question {
                p.question { (plain(question)) }
            }
            ul.meta {
                @for fact in facts { li { (fact) } }
            }
        }
    }
}
