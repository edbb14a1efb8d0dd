//! The JSON that github-action-benchmark reads as `customSmallerIsBetter`: a list of `name`, `unit`, `value`, `range`, `extra`.

use serde_json::{Value, json};

use super::rows::unit;
use crate::gate::verdict::{Finding, Judgement};
use crate::report::format::{Unit, plain};
use crate::scenario::gate::{Better, Kind};

/// The candidate's figures for github-action-benchmark. It takes one direction a file, so a figure of which more is better is
/// given as its inverse: milliseconds for each grant.
pub fn benchmark(judgement: &Judgement) -> String {
    let entries: Vec<Value> = judgement.findings.iter().filter_map(entry).collect();
    format!("{:#}\n", Value::Array(entries))
}

fn entry(finding: &Finding) -> Option<Value> {
    let turn = |value: f64| if finding.better == Better::Higher { 1e3 / value } else { value };
    let value = match finding.kind {
        Kind::Safety => finding.candidate.iter().copied().reduce(f64::max)?,
        _ => turn(finding.candidate_median?),
    };
    if !value.is_finite() {
        return None;
    }
    let turned = finding.candidate.iter().map(|value| turn(*value));
    let (low, high) = turned.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(one), high.max(one)));
    let (name, unit) = match (finding.better, unit(finding.metric)) {
        (Better::Higher, _) => (format!("1000 / {}", finding.metric), "ms each"),
        (_, Unit::Milliseconds) => (finding.metric.to_string(), "ms"),
        (_, Unit::Bytes) => (finding.metric.to_string(), "bytes"),
        _ => (finding.metric.to_string(), "count"),
    };
    Some(json!({
        "name": format!("{}: {name}", plain(&finding.arm)),
        "unit": unit,
        "value": value,
        "range": format!("{low} – {high}"),
        "extra": format!("{} trials, {}", finding.candidate.len(), finding.verdict.word()),
    }))
}
