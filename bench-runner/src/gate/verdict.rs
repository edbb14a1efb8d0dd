//! What a gate says: of one figure, of a limit, and of the whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::comparable::Difference;
use crate::scenario::gate::{Better, Kind, Metric, Slo};

/// Did it get worse?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It got better by more than the band.
    Improved,
    /// It did not get worse by as much as the band.
    Unchanged,
    /// The trials do not tell.
    Inconclusive,
    /// It got worse by more than the band.
    Regressed,
    /// The two must not be compared.
    NotComparable,
}

impl Verdict {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Improved => "improved",
            Verdict::Unchanged => "unchanged",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Regressed => "regressed",
            Verdict::NotComparable => "not comparable",
        }
    }
}

/// The interval of a ratio, candidate over baseline. An end that the trials do not bound is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The lower end; 95 % of the time the true ratio is not below it.
    pub low: Option<f64>,
    /// The upper end; 95 % of the time the true ratio is not above it.
    pub high: Option<f64>,
}

/// What is said of one metric of one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Label of the arm, the candidate's.
    pub arm: String,
    /// The metric.
    pub metric: Metric,
    /// How it is judged.
    pub kind: Kind,
    /// Which way it is better.
    pub better: Better,
    /// The change that is still none, as a share; 0 is exact.
    pub band: f64,
    /// The figure of each of the baseline's trials.
    pub baseline: Vec<f64>,
    /// The figure of each of the candidate's trials.
    pub candidate: Vec<f64>,
    /// The median of the baseline's.
    pub baseline_median: Option<f64>,
    /// The median of the candidate's.
    pub candidate_median: Option<f64>,
    /// Candidate over baseline; `null` of promises, of figures of 0, and where one side has none.
    pub ratio: Option<Ratio>,
    /// How likely a change as large, the way it went, would be if nothing had changed; corrected for the number of metrics.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, where the figures do not say it.
    pub note: Option<String>,
    /// How many more trials of each side would tell, where it is inconclusive for want of trials.
    pub more_trials: Option<u32>,
    /// The reason for which a regression is accepted.
    pub accepted: Option<String>,
}

impl Finding {
    /// Whether it is a regression that nobody has accepted.
    pub fn fails(&self) -> bool {
        self.verdict == Verdict::Regressed && self.accepted.is_none()
    }
}

/// What is said of an absolute limit, in one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloFinding {
    /// Label of the arm.
    pub arm: String,
    /// The limit.
    pub slo: Slo,
    /// The arm's figure; `null` where it was not measured, which breaks the limit.
    pub value: Option<f64>,
    /// Whether it is kept.
    pub kept: bool,
}

/// Which run one side is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What tables call it.
    pub name: String,
    /// When it began, UTC, RFC 3339.
    pub started: String,
    /// Git revision of the tree that bench-runner was built from.
    pub git_revision: Option<String>,
    /// Versions of the servers, as in `zookeeper 3.8.0`.
    pub versions: String,
    /// Trials of each arm.
    pub trials: u32,
}

/// The whole of what a gate says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The scenario.
    pub scenario: String,
    /// The verdict on the whole.
    pub verdict: Verdict,
    /// What is compared with.
    pub baseline: Side,
    /// What is judged.
    pub candidate: Side,
    /// What forbids to compare them.
    pub differences: Vec<Difference>,
    /// What the reader has to know.
    pub notes: Vec<String>,
    /// Each metric of each arm.
    pub findings: Vec<Finding>,
    /// The absolute limits.
    pub slo: Vec<SloFinding>,
}

impl Judgement {
    /// Works the verdict on the whole out of the parts.
    pub fn conclude(&mut self) {
        let says = |verdict| self.findings.iter().any(|finding| finding.verdict == verdict);
        self.verdict = if !self.differences.is_empty() {
            Verdict::NotComparable
        } else if self.findings.iter().any(Finding::fails) || self.slo.iter().any(|slo| !slo.kept) {
            Verdict::Regressed
        } else if says(Verdict::Inconclusive) {
            Verdict::Inconclusive
        } else if says(Verdict::Improved) {
            Verdict::Improved
        } else {
            Verdict::Unchanged
        };
    }

    /// The most trials that any inconclusive metric needs.
    pub fn more_trials(&self) -> Option<u32> {
        self.findings.iter().filter_map(|finding| finding.more_trials).max()
    }
}
