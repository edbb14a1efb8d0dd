//! Judges a candidate against a baseline: every metric of every arm, and the absolute limits.

use std::collections::BTreeSet;

use super::comparable::{Aspect, Difference, differences};
use super::statistics::median;
use super::verdict::{Finding, Judgement, Side, SloFinding, Verdict};
use super::{accepted::Accepted, counts, figures, times};
use crate::measure::figures::Arm;
use crate::results::summary::Summary;
use crate::scenario::GateFile;
use crate::scenario::gate::{Kind, Metric};

/// How the two sides were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// One after the other, perhaps days apart.
    Apart,
    /// Trial by trial in turn, so that each pair has seen the same machine: two variants of one scenario.
    InTurn,
}

/// A metric of an arm, by the arm's label.
pub type Which = BTreeSet<(String, Metric)>;

/// What to judge by.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The scenario's `[gate]`.
    pub gate: &'a GateFile,
    /// How the sides were measured. In turn, nothing is not comparable, and arms are matched by their places.
    pub pairing: Pairing,
    /// Differences that are accepted.
    pub allowed: &'a [Aspect],
    /// Changes that are accepted.
    pub accepted: &'a Accepted,
    /// Where there was a round before: the metrics that it found worse, which alone are tested again.
    pub only: Option<&'a Which>,
}

/// Judges `candidate` against `baseline`.
pub fn judge(baseline: &Summary, candidate: &Summary, rules: &Rules<'_>) -> Judgement {
    let mut judgement = Judgement {
        scenario: candidate.scenario.clone(),
        verdict: Verdict::Unchanged,
        baseline: side("baseline", baseline),
        candidate: side("candidate", candidate),
        differences: match rules.pairing {
            Pairing::Apart => differences(baseline, candidate, rules.allowed),
            Pairing::InTurn => Vec::new(),
        },
        notes: notes(baseline, candidate),
        findings: Vec::new(),
        slo: limits(candidate, rules.gate),
    };
    if judgement.differences.is_empty() {
        let busier = match rules.pairing {
            Pairing::Apart => busier(baseline, candidate, rules.gate),
            Pairing::InTurn => None,
        };
        judgement.findings = findings(baseline, candidate, rules, busier.as_deref());
        judgement.notes.extend(busier);
    }
    for finding in &mut judgement.findings {
        if finding.verdict == Verdict::Regressed {
            finding.accepted = rules.accepted.reason(finding);
        }
    }
    judgement.conclude();
    judgement
}

/// What is said where it is known before anything runs that the two must not be compared.
pub fn refused(baseline: &Summary, scenario: &str, differences: Vec<Difference>) -> Judgement {
    let mut judgement = Judgement {
        scenario: scenario.to_owned(),
        verdict: Verdict::NotComparable,
        baseline: side("baseline", baseline),
        candidate: Side { name: "candidate".to_owned(), ..Side::default() },
        differences,
        notes: vec!["nothing was run".to_owned()],
        findings: Vec::new(),
        slo: Vec::new(),
    };
    judgement.conclude();
    judgement
}

/// The arms of both sides, matched.
fn matched<'a>(baseline: &'a Summary, candidate: &'a Summary, pairing: Pairing) -> Vec<(Option<&'a Arm>, &'a Arm)> {
    let of = |(index, arm): (usize, &'a Arm)| match pairing {
        Pairing::InTurn => (baseline.arms.get(index), arm),
        Pairing::Apart => (baseline.arms.iter().find(|other| other.label == arm.label), arm),
    };
    candidate.arms.iter().enumerate().map(of).collect()
}

fn findings(baseline: &Summary, candidate: &Summary, rules: &Rules<'_>, busier: Option<&str>) -> Vec<Finding> {
    let gate = rules.gate;
    let wanted = |arm: &Arm, metric: Metric| match rules.only {
        Some(only) => only.contains(&(arm.label.clone(), metric)),
        None => gate.gated(metric) && figures::applies(arm, metric),
    };
    let mut findings = Vec::new();
    for (before, after) in matched(baseline, candidate, rules.pairing) {
        for metric in Metric::ALL.iter().copied().filter(|metric| wanted(after, *metric)) {
            let values = |arm: Option<&Arm>| arm.map_or_else(Vec::new, |arm| figures::of_trials(arm, metric));
            let (baseline, candidate) = (values(before), values(Some(after)));
            if baseline.is_empty() && candidate.is_empty() {
                continue;
            }
            let is_exact = figures::is_exact(after, metric);
            let band = if is_exact && !gate.states_band(metric) { 0.0 } else { gate.band(metric) };
            let mut finding = Finding {
                arm: after.label.clone(),
                metric,
                kind: metric.kind(),
                better: gate.better(metric),
                band,
                baseline_median: median(&baseline),
                candidate_median: median(&candidate),
                baseline,
                candidate,
                ratio: None,
                p: None,
                verdict: Verdict::Unchanged,
                note: None,
                more_trials: None,
                accepted: None,
            };
            match metric.kind() {
                Kind::Safety => counts::promise(&mut finding),
                Kind::Count => counts::number(&mut finding, is_exact, gate.alpha),
                Kind::Time => {}
            }
            findings.push(finding);
        }
    }
    let mut tested: Vec<&mut Finding> = findings.iter_mut().filter(|finding| finding.kind == Kind::Time).collect();
    times::judge(&mut tested, gate.alpha, rules.pairing == Pairing::InTurn);
    if let Some(busier) = busier {
        findings.iter_mut().filter(|finding| follows_the_machine(finding)).for_each(|finding| doubt(finding, busier));
    }
    findings
}

/// Whether a busy machine moves the figure: times, and what is counted for each grant while grants take longer.
fn follows_the_machine(finding: &Finding) -> bool {
    let per_grant = matches!(finding.metric, Metric::Requests | Metric::ResponseBytes | Metric::PeakRequests);
    finding.kind == Kind::Time || per_grant && finding.band > 0.0
}

/// A change that the machine may have made.
fn doubt(finding: &mut Finding, why: &str) {
    if matches!(finding.verdict, Verdict::Regressed | Verdict::Improved) {
        finding.verdict = Verdict::Inconclusive;
        finding.note = Some(why.to_owned());
        finding.more_trials = None;
    }
}

/// That other programs took another share of the machine, or so much that no time of either run can be trusted; `None` where
/// they did not, or nobody knows. All trials of a run share the machine's state, which the rank test cannot see: measured on
/// a machine of which others took half, it called one of 20 runs of a build against itself regressed without this, and on one that
/// a hypervisor shared out three of 50, when others had taken 4 to 7 points more (docs/ci/README.md).
fn busier(baseline: &Summary, candidate: &Summary, gate: &GateFile) -> Option<String> {
    let share = |summary: &Summary| {
        let trials = summary.arms.iter().flat_map(|arm| &arm.trial);
        median(&trials.filter_map(|trial| trial.other_cpu_share).collect::<Vec<_>>())
    };
    let (before, after) = (share(baseline)?, share(candidate)?);
    let told = |share: f64| format!("{:.0} %", share * 100.0);
    let is_another = (after - before).abs() > gate.busy || after.max(before) > gate.crowded;
    is_another.then(|| {
        format!(
            "other programs took {} of the machine's CPU, and {} in the baseline: repeat it on a machine that is as quiet, or use --against",
            told(after),
            told(before)
        )
    })
}

fn limits(candidate: &Summary, gate: &GateFile) -> Vec<SloFinding> {
    let mut found = Vec::new();
    for slo in &gate.slo {
        let of_arm = |arm: &&Arm| slo.arm.as_ref().is_none_or(|label| *label == arm.label);
        for arm in candidate.arms.iter().filter(of_arm) {
            let value = figures::of_arm(arm, slo.metric);
            let kept = value.is_some_and(|value| slo.holds(value));
            found.push(SloFinding { arm: arm.label.clone(), slo: slo.clone(), value, kept });
        }
    }
    found
}

fn side(name: &str, summary: &Summary) -> Side {
    let versions = summary.ensemble.versions.iter().map(|(service, version)| format!("{service} {version}"));
    Side {
        name: name.to_owned(),
        started: summary.started.clone(),
        git_revision: summary.environment.git_revision.clone(),
        versions: versions.collect::<Vec<_>>().join(", "),
        trials: summary.arms.iter().map(|arm| arm.trials).max().unwrap_or(0),
    }
}

/// What does not forbid to compare, and has to be known.
fn notes(baseline: &Summary, candidate: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let (before, after) = (&baseline.environment, &candidate.environment);
    let mut differs = |what: &str, before: &str, after: &str| {
        if before != after {
            notes.push(format!("{what} differs: {before} in the baseline, {after} now"));
        }
    };
    differs("the kernel", &before.kernel, &after.kernel);
    differs("Java", before.java.as_deref().unwrap_or("none"), after.java.as_deref().unwrap_or("none"));
    differs("bench-runner", &before.bench_runner, &after.bench_runner);
    for (name, summary) in [("the baseline", baseline), ("the candidate", candidate)] {
        if summary.generator.saturated {
            notes.push(format!("{name}'s generator was saturated: its times are the generator's, not the ensemble's"));
        }
    }
    notes
}
