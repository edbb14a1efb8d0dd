//! The figures of a finding as text, and the sentence that answers the question.

use crate::gate::verdict::{Finding, Judgement, SloFinding, Verdict};
use crate::report::format::{self, ABSENT, Unit, plain, plural};
use crate::scenario::gate::{Kind, Metric};

/// What a metric is in.
pub(super) fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::ResponseBytes | Metric::BarrierBytes => Unit::Bytes,
        Metric::Notifications | Metric::PeakRequests | Metric::FanOutMax => Unit::Count,
        Metric::FanOut | Metric::FailoverFanOut | Metric::Requests | Metric::GrantsPerSecond => Unit::Number,
        Metric::BarrierRequests | Metric::BarrierOperations | Metric::NodesCpu => Unit::Number,
        metric if metric.kind() == Kind::Safety => Unit::Count,
        _ => Unit::Milliseconds,
    }
}

/// A figure of a metric.
pub(super) fn value(metric: Metric, value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| unit(metric).show(value))
}

/// Both medians; of promises the worst trial, which is what they are judged by.
pub(super) fn both(finding: &Finding) -> [String; 2] {
    let worst = |values: &[f64]| values.iter().copied().reduce(f64::max);
    let of = |median: Option<f64>, values: &[f64]| match finding.kind {
        Kind::Safety => value(finding.metric, worst(values)),
        _ => value(finding.metric, median),
    };
    [of(finding.baseline_median, &finding.baseline), of(finding.candidate_median, &finding.candidate)]
}

/// `1.21 (1.15–1.28)`: candidate over baseline with its interval.
pub(super) fn ratio(finding: &Finding) -> String {
    let Some(ratio) = finding.ratio else { return ABSENT.to_owned() };
    let show = |value: f64| format!("{value:.2}");
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{} ({}–{})", show(ratio.estimate), show(low), show(high)),
        _ => show(ratio.estimate),
    }
}

/// The corrected p.
pub(super) fn chance(finding: &Finding) -> String {
    match finding.p {
        None => ABSENT.to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

/// The verdict in words, and that a regression is accepted.
pub(super) fn verdict(finding: &Finding) -> String {
    match &finding.accepted {
        Some(_) => "accepted".to_owned(),
        None => finding.verdict.word().to_owned(),
    }
}

/// What there is to say besides.
pub(super) fn remark(finding: &Finding) -> Option<String> {
    let more = finding.more_trials.map(|more| match more {
        more if more >= crate::gate::times::MOST_TRIALS => {
            "more trials would hardly tell: the machine is too noisy".to_owned()
        }
        more => format!("about {} of each side would tell", plural(u64::from(more), "more trial", "more trials")),
    });
    let accepted = finding.accepted.as_ref().map(|reason| format!("accepted: {reason}"));
    let parts: Vec<String> = [finding.note.clone(), more, accepted].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| plain(&parts.join("; ")))
}

/// An absolute limit with the figure.
pub(super) fn limit(finding: &SloFinding) -> String {
    let slo = &finding.slo;
    let bare = crate::scenario::gate::Slo { arm: None, ..slo.clone() };
    format!("{}: {bare}", plain(&finding.arm))
}

/// What a limit's figure is.
pub(super) fn limited(finding: &SloFinding) -> String {
    value(finding.slo.metric, finding.value)
}

/// The answer in a sentence.
pub(super) fn answer(judgement: &Judgement) -> String {
    let count =
        |verdict: Verdict| judgement.findings.iter().filter(|finding| finding.verdict == verdict).count() as u64;
    let failing = judgement.findings.iter().filter(|finding| finding.fails()).count() as u64;
    let broken = judgement.slo.iter().filter(|slo| !slo.kept).count() as u64;
    let of = format!("of {}", plural(judgement.findings.len() as u64, "metric", "metrics"));
    let name = plain(&judgement.scenario);
    match judgement.verdict {
        Verdict::NotComparable => {
            let number = judgement.differences.len() as u64;
            format!("{name}: not comparable, {} forbid it", plural(number, "difference", "differences"))
        }
        Verdict::Regressed => {
            let mut parts = Vec::new();
            if failing > 0 {
                parts.push(format!("{} {of} got worse", format::count(failing)));
            }
            if broken > 0 {
                parts.push(format!("{} broken", plural(broken, "limit is", "limits are")));
            }
            format!("{name}: regressed, {}", parts.join(" and "))
        }
        Verdict::Inconclusive => {
            let more = match judgement.more_trials() {
                Some(more) if more < crate::gate::times::MOST_TRIALS => {
                    format!("; about {} would tell", plural(u64::from(more), "more trial", "more trials"))
                }
                _ => String::new(),
            };
            format!("{name}: inconclusive, {} {of} cannot be told{more}", format::count(count(Verdict::Inconclusive)))
        }
        Verdict::Improved => {
            format!("{name}: improved, {} {of} got better and none got worse", format::count(count(Verdict::Improved)))
        }
        Verdict::Unchanged => format!("{name}: unchanged, none {of} got worse"),
    }
}
