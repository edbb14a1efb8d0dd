//! The history of a gate: a line of JSON for each run, so that a slow drift is seen which no single gate sees.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::change_points::{Search, change_points};
use super::verdict::{Judgement, Verdict};
use crate::results::summary::Summary;
use crate::scenario::gate::{Kind, Metric};

/// One gate run: a line of `history.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When the run began, UTC, RFC 3339.
    pub time: String,
    /// The scenario.
    pub scenario: String,
    /// Git revision of the tree that bench-runner was built from.
    pub git_revision: Option<String>,
    /// Versions of the servers.
    pub versions: String,
    /// The processor and how many: figures of different machines are different series.
    pub machine: String,
    /// What the gate said.
    pub verdict: Verdict,
    /// The median over the trials, by arm and metric.
    pub medians: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Entry {
    /// The entry of a gate run.
    pub fn of(judgement: &Judgement, candidate: &Summary) -> Entry {
        let mut medians: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for finding in &judgement.findings {
            if let Some(median) = finding.candidate_median {
                medians.entry(finding.arm.clone()).or_default().insert(finding.metric.name().to_owned(), median);
            }
        }
        let environment = &candidate.environment;
        Entry {
            time: candidate.started.clone(),
            scenario: judgement.scenario.clone(),
            git_revision: environment.git_revision.clone(),
            versions: judgement.candidate.versions.clone(),
            machine: format!("{} × {}", environment.cpus, environment.cpu_model),
            verdict: judgement.verdict,
            medians,
        }
    }
}

/// Reads a history; an empty line is none.
///
/// # Errors
///
/// The number of the line that is no entry, and why.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line): &(u32, &str)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))).collect()
}

/// One metric of one arm over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The scenario.
    pub scenario: String,
    /// The machine.
    pub machine: String,
    /// The arm.
    pub arm: String,
    /// The metric.
    pub metric: Metric,
    /// When each run began.
    pub times: Vec<String>,
    /// The revision of each.
    pub revisions: Vec<Option<String>>,
    /// The figure of each.
    pub values: Vec<f64>,
    /// The first run of each new level.
    pub changes: Vec<usize>,
}

/// Every metric over time with its change points, promises left out. Runs on different machines are different series.
pub fn series(entries: &[Entry]) -> Vec<Series> {
    let mut found: BTreeMap<(String, String, String, Metric), Series> = BTreeMap::new();
    for entry in entries {
        for (arm, medians) in &entry.medians {
            for (name, value) in medians {
                // A metric that a later version has is none here.
                let Ok(metric) = name.parse::<Metric>() else { continue };
                if metric.kind() == Kind::Safety {
                    continue;
                }
                let key = (entry.scenario.clone(), entry.machine.clone(), arm.clone(), metric);
                let series = found.entry(key).or_insert_with(|| Series {
                    scenario: entry.scenario.clone(),
                    machine: entry.machine.clone(),
                    arm: arm.clone(),
                    metric,
                    times: Vec::new(),
                    revisions: Vec::new(),
                    values: Vec::new(),
                    changes: Vec::new(),
                });
                series.times.push(entry.time.clone());
                series.revisions.push(entry.git_revision.clone());
                series.values.push(*value);
            }
        }
    }
    let mut all: Vec<Series> = found.into_values().collect();
    all.iter_mut().for_each(|series| series.changes = change_points(&series.values, Search::default()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u32, machine: &str, handoff: f64) -> Entry {
        let medians = BTreeMap::from([
            ("handoff_ms.p50".to_owned(), handoff),
            ("safety.overlaps".to_owned(), 0.0),
            ("not.known.yet".to_owned(), 1.0),
        ]);
        Entry {
            time: format!("2026-11-{:02}T00:00:00Z", number + 1),
            scenario: "quick".to_owned(),
            git_revision: None,
            versions: String::new(),
            machine: machine.to_owned(),
            verdict: Verdict::Unchanged,
            medians: BTreeMap::from([("lock/sequential".to_owned(), medians)]),
        }
    }

    #[test]
    fn a_history_comes_back_and_its_steps_are_found() {
        let wobble = |number: u32| f64::from(number * 7 % 5) * 0.01;
        let here = (0..20).map(|number| entry(number, "here", if number < 12 { 2.0 } else { 2.5 } + wobble(number)));
        let entries: Vec<Entry> = here.chain([entry(3, "elsewhere", 9.0)]).collect();
        let text: String = entries.iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n").collect();
        let read = parse(&text).unwrap();
        assert_eq!(read, entries);
        let all = series(&read);
        assert_eq!(all.iter().map(|series| series.values.len()).collect::<Vec<_>>(), [1, 20]);
        assert_eq!((all[0].changes.clone(), all[1].changes.clone()), (vec![], vec![12]));
        assert!(parse(&(text + "{\"time\":")).unwrap_err().starts_with("line 22: "));
    }
}
