//! The page of a gate: the answer, the table, and for each metric the two distributions over one another.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{distributions, rows};
use crate::gate::verdict::{Finding, Judgement, Verdict};
use crate::measure::figures::Arm;
use crate::report::format::plain;
use crate::report::html::inline;
use crate::report::palette;
use crate::report::plot::{Width, draw};
use crate::results::summary::Summary;

/// What a gate said as one self-contained HTML document. The arms of the two summaries are matched as they were judged: by
/// label, else by place.
pub fn page(judgement: &Judgement, baseline: &Summary, candidate: &Summary) -> String {
    let body = html! {
        header {
            p.product { "bench-runner gate" }
            h1 { (plain(&judgement.scenario)) }
            ul.meta {
                @for side in [&judgement.baseline, &judgement.candidate] {
                    li { (plain(&side.name)) ": " (plain(&side.started)) ", " (plain(&side.versions)) ", " (side.trials) " trials" }
                }
            }
        }
        main {
            section.answer { p.headline { (rows::answer(judgement)) } }
            @for difference in &judgement.differences {
                div.alarm.banner {
                    strong { (plain(&difference.what)) " differs: " }
                    (plain(&difference.baseline)) " in the baseline, " (plain(&difference.candidate)) " now"
                }
            }
            @for note in &judgement.notes { div.caution.banner { (plain(note)) } }
            @for arm in arms(judgement) { (section(judgement, arm, baseline, candidate)) }
            @if !judgement.slo.is_empty() { (limits(judgement)) }
        }
    };
    document(&format!("{} – bench-runner gate", plain(&judgement.scenario)), &body)
}

/// A page with this title and body, as self-contained as a report.
pub(in crate::report) fn document(title: &str, body: &Markup) -> String {
    let style = include_str!("../html/style.css");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(palette::style_sheet())) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// The labels of the arms, in order.
fn arms(judgement: &Judgement) -> Vec<&str> {
    let mut labels: Vec<&str> = judgement.findings.iter().map(|finding| finding.arm.as_str()).collect();
    labels.dedup();
    labels
}

fn section(judgement: &Judgement, label: &str, baseline: &Summary, candidate: &Summary) -> Markup {
    let findings: Vec<&Finding> = judgement.findings.iter().filter(|finding| finding.arm == label).collect();
    let place = candidate.arms.iter().position(|arm| arm.label == label);
    let before = baseline.arms.iter().find(|arm| arm.label == label).or(place.and_then(|at| baseline.arms.get(at)));
    let pair = before.zip(place.and_then(|at| candidate.arms.get(at)));
    html! {
        section {
            h2 { (plain(label)) }
            div.scroll tabindex="0" role="region" aria-label=(plain(label)) {
                table.books {
                    thead {
                        tr {
                            th scope="col" { "metric" }
                            th.number scope="col" { (plain(&judgement.baseline.name)) }
                            th.number scope="col" { (plain(&judgement.candidate.name)) }
                            th.number scope="col" { "ratio" }
                            th.number scope="col" { "p" }
                            th scope="col" { "verdict" }
                        }
                    }
                    tbody { @for finding in &findings { (line(finding)) } }
                }
            }
            p.note {
                "Medians of the trials; of promises the worst trial. The ratio is candidate over baseline with its 90 % interval; \
                 p is corrected for the number of metrics."
            }
            @if let Some((before, after)) = pair {
                @for finding in &findings { (figure(judgement, finding, before, after)) }
            }
        }
    }
}

fn line(finding: &Finding) -> Markup {
    let [before, now] = rows::both(finding);
    let tone = match finding.verdict {
        Verdict::Improved | Verdict::Unchanged => "verdict good",
        Verdict::Inconclusive => "verdict caution",
        Verdict::Regressed | Verdict::NotComparable => "verdict alarm",
    };
    html! {
        tr {
            th scope="row" { (finding.metric.name()) }
            td.number { (before) }
            td.number { (now) }
            td.number { (rows::ratio(finding)) }
            td.number { (rows::chance(finding)) }
            td class=(tone) {
                (rows::verdict(finding))
                @if let Some(remark) = rows::remark(finding) { span.spread { " – " (remark) } }
            }
        }
    }
}

/// Both sides of a metric; nothing where they have no figures, or all of them are the same.
fn figure(judgement: &Judgement, finding: &Finding, before: &Arm, after: &Arm) -> Markup {
    let sides = distributions::sides(judgement, before, after);
    let all: Vec<f64> = finding.baseline.iter().chain(&finding.candidate).copied().collect();
    let is_flat = all.windows(2).all(|pair| pair[0] == pair[1]);
    let drawn = distributions::picture(finding, &sides).filter(|_| !is_flat).and_then(|picture| {
        let [wide, narrow] = [Width::Wide, Width::Narrow].map(|width| draw(&picture, &sides, width).ok());
        wide.zip(narrow)
    });
    let Some((wide, narrow)) = drawn else { return html! {} };
    let label = format!("{} of {}: {}", finding.metric, plain(&finding.arm), rows::verdict(finding));
    html! {
        figure {
            h3 { (finding.metric.name()) ": " (rows::verdict(finding)) }
            figcaption { "Which share of the trials had a figure at most as large; where the curves lie on one another, nothing changed." }
            (PreEscaped(inline(&wide, "chart wide", &label)))
            (PreEscaped(inline(&narrow, "chart narrow", &label)))
        }
    }
}

fn limits(judgement: &Judgement) -> Markup {
    html! {
        section {
            h2 { "Limits" }
            div.scroll {
                table.books {
                    tbody {
                        @for slo in &judgement.slo {
                            tr {
                                th scope="row" { (rows::limit(slo)) }
                                td.number { (rows::limited(slo)) }
                                td class=(if slo.kept { "verdict good" } else { "verdict alarm" }) { (if slo.kept { "kept" } else { "broken" }) }
                            }
                        }
                    }
                }
            }
        }
    }
}
