//! JUnit's XML: each metric of each arm is a test case, so that CI systems list what failed.

use maud::{Markup, html};

use super::rows;
use crate::gate::verdict::{Finding, Judgement, Verdict};
use crate::report::format::plain;

/// What a gate said as JUnit's XML. A regression is a failure, what cannot be told is skipped, a difference that forbids to
/// compare is an error.
pub fn junit(judgement: &Judgement) -> String {
    let failures = judgement.findings.iter().filter(|finding| finding.fails()).count()
        + judgement.slo.iter().filter(|slo| !slo.kept).count();
    let skipped = judgement.findings.iter().filter(|finding| finding.verdict == Verdict::Inconclusive).count();
    let tests = judgement.findings.len() + judgement.slo.len() + judgement.differences.len();
    let suite = html! {
        testsuites {
            testsuite name=(plain(&judgement.scenario)) tests=(tests) failures=(failures) skipped=(skipped)
                errors=(judgement.differences.len()) timestamp=(plain(&judgement.candidate.started)) {
                @for difference in &judgement.differences {
                    testcase classname="comparable" name=(plain(&difference.what)) {
                        error message={ (plain(&difference.baseline)) " in the baseline, " (plain(&difference.candidate)) " now" } {}
                    }
                }
                @for finding in &judgement.findings { (case(finding)) }
                @for slo in &judgement.slo {
                    testcase classname=(plain(&slo.arm)) name={ "limit " (rows::limit(slo)) } {
                        @if !slo.kept { failure message={ "broken: " (rows::limited(slo)) } {} }
                    }
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suite.into_string())
}

fn case(finding: &Finding) -> Markup {
    let [before, now] = rows::both(finding);
    let told = format!("{before} → {now}, ratio {}, p {}", rows::ratio(finding), rows::chance(finding));
    let remark = rows::remark(finding).unwrap_or_default();
    html! {
        testcase classname=(plain(&finding.arm)) name=(finding.metric.name()) {
            @if finding.fails() {
                failure message={ "regressed: " (told) } { (remark) }
            } @else if finding.verdict == Verdict::Inconclusive {
                skipped message={ "inconclusive: " (told) "; " (remark) } {}
            } @else {
                system-out { (rows::verdict(finding)) ": " (told) }
            }
        }
    }
}
