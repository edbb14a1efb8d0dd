//! Whether two runs may be compared at all: everything in which they must not differ, each difference by name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

use crate::results::summary::{Environment, Summary};
use crate::scenario::Scenario;

/// In what two runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// What is measured: the scenario's settings, without those that only say how much of it or how it is judged.
    Scenario,
    /// The service under test.
    Service,
    /// The version of the servers.
    Version,
    /// How many nodes.
    Nodes,
    /// Who runs the nodes.
    Provider,
    /// Processor, number of processors, memory.
    Machine,
    /// A run that did not come to its end, or that measured nothing.
    Incomplete,
}

/// One difference that forbids to compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// In what.
    pub aspect: Aspect,
    /// Which part of it, as in `workers.count`.
    pub what: String,
    /// What the baseline has.
    pub baseline: String,
    /// What the candidate has.
    pub candidate: String,
}

/// Keys of a scenario that do not change what is measured, only how often, how it is called or how it is judged.
const IRRELEVANT: [&str; 3] = ["gate", "question", "trials.count"];

/// Memory sizes within this share are one machine's: kernels reserve a little more or less.
const MEMORY: f64 = 0.03;

/// Everything that forbids to compare the two runs; `accepted` aspects are left out.
pub fn differences(baseline: &Summary, candidate: &Summary, accepted: &[Aspect]) -> Vec<Difference> {
    let mut found = Vec::new();
    of_scenarios((&baseline.scenario, &baseline.settings), (&candidate.scenario, &candidate.settings), &mut found);
    if baseline.environment.scenario_sha256 != candidate.environment.scenario_sha256 && unreadable(baseline, candidate)
    {
        let hash = |summary: &Summary| summary.environment.scenario_sha256.clone();
        add(&mut found, Aspect::Scenario, "hash", hash(baseline), hash(candidate));
    }
    add(&mut found, Aspect::Service, "service", baseline.service.clone(), candidate.service.clone());
    let (before, after) = (&baseline.ensemble, &candidate.ensemble);
    let services: std::collections::BTreeSet<&String> = before.versions.keys().chain(after.versions.keys()).collect();
    for service in services {
        let version = |versions: &BTreeMap<String, String>| versions.get(service).cloned().unwrap_or_else(none);
        add(&mut found, Aspect::Version, service, version(&before.versions), version(&after.versions));
    }
    add(&mut found, Aspect::Nodes, "nodes", before.nodes.to_string(), after.nodes.to_string());
    add(&mut found, Aspect::Provider, "provider", before.provider.clone(), after.provider.clone());
    of_machines(&baseline.environment, &candidate.environment, &mut found);
    for (summary, is_baseline) in [(baseline, true), (candidate, false)] {
        let told = match &summary.incomplete_reason {
            _ if summary.complete && summary.arms.is_empty() => "measured nothing".to_owned(),
            _ if summary.complete => continue,
            Some(reason) => format!("not complete: {reason}"),
            None => "not complete".to_owned(),
        };
        let (baseline, candidate) =
            if is_baseline { (told, "complete".to_owned()) } else { ("complete".to_owned(), told) };
        add(&mut found, Aspect::Incomplete, "run", baseline, candidate);
    }
    found.retain(|difference| !accepted.contains(&difference.aspect));
    found
}

/// What forbids to compare, as far as it is known before anything runs: the scenario and the machine.
pub fn before_running(
    baseline: &Summary,
    scenario: &Scenario,
    here: &Environment,
    accepted: &[Aspect],
) -> Vec<Difference> {
    let mut found = Vec::new();
    of_scenarios((&baseline.scenario, &baseline.settings), (&scenario.name, &scenario.text), &mut found);
    of_machines(&baseline.environment, here, &mut found);
    found.retain(|difference| !accepted.contains(&difference.aspect));
    found
}

/// Adds the differences between two scenarios, name and text, key by key.
pub fn of_scenarios(baseline: (&str, &str), candidate: (&str, &str), found: &mut Vec<Difference>) {
    add(found, Aspect::Scenario, "name", baseline.0.to_owned(), candidate.0.to_owned());
    let (Some(before), Some(after)) = (leaves(baseline.1), leaves(candidate.1)) else { return };
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let value = |leaves: &BTreeMap<String, String>| leaves.get(key).cloned().unwrap_or_else(none);
        add(found, Aspect::Scenario, key, value(&before), value(&after));
    }
}

/// Adds the differences between two machines. The kernel is none: it is renewed every week where jobs run.
pub fn of_machines(baseline: &Environment, candidate: &Environment, found: &mut Vec<Difference>) {
    let model = |environment: &Environment| environment.cpu_model.clone();
    add(found, Aspect::Machine, "processor", model(baseline), model(candidate));
    add(found, Aspect::Machine, "processors", baseline.cpus.to_string(), candidate.cpus.to_string());
    let (before, after) = (baseline.memory_bytes as f64, candidate.memory_bytes as f64);
    if (before - after).abs() > MEMORY * before.max(after) {
        let told = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
        add(found, Aspect::Machine, "memory", told(before), told(after));
    }
}

fn none() -> String {
    "none".to_owned()
}

fn add(found: &mut Vec<Difference>, aspect: Aspect, what: &str, baseline: String, candidate: String) {
    if baseline != candidate {
        found.push(Difference { aspect, what: what.to_owned(), baseline, candidate });
    }
}

fn unreadable(baseline: &Summary, candidate: &Summary) -> bool {
    [baseline, candidate].iter().any(|summary| leaves(&summary.settings).is_none())
}

/// Every value of a scenario by its way, without the irrelevant ones; `None` of a text that is no TOML.
fn leaves(text: &str) -> Option<BTreeMap<String, String>> {
    let mut leaves = BTreeMap::new();
    collect("", &Value::Table(text.parse().ok()?), &mut leaves);
    Some(leaves)
}

fn collect(path: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    if IRRELEVANT.contains(&path) {
        return;
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| collect(&below(key), value, leaves)),
        Value::Array(values) => {
            (0..).zip(values).for_each(|(index, value): (u32, _)| collect(&below(&index.to_string()), value, leaves));
        }
        other => {
            leaves.insert(path.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &str, after: &str) -> Vec<String> {
        let mut found = Vec::new();
        of_scenarios(("a", before), ("a", after), &mut found);
        found.iter().map(|one| format!("{} {} {}", one.what, one.baseline, one.candidate)).collect()
    }

    #[test]
    fn what_is_measured_counts_and_how_it_is_judged_does_not() {
        let before = "# one\nquestion = \"a\"\n[trials]\ncount = 3\nduration = \"3s\"\n[workers]\ncount = 5\n";
        let after = "[workers]\ncount = 6\n[trials]\ncount = 9\nduration = \"3s\"\n[gate]\nalpha = 0.05\n";
        assert_eq!(between(before, after), ["workers.count 5 6"]);
        let arm = "[[arm]]\nrecipe = \"lock/naive\"\n";
        assert_eq!(between(arm, &format!("{arm}label = \"x\"\n")), ["arm.0.label none \"x\""]);
    }

    #[test]
    fn a_little_memory_is_no_other_machine() {
        let of = |memory_bytes, cpus| Environment { memory_bytes, cpus, ..Environment::default() };
        let mut found = Vec::new();
        of_machines(&of(8_000_000_000, 2), &of(8_100_000_000, 2), &mut found);
        assert_eq!(found, []);
        of_machines(&of(8_000_000_000, 2), &of(16_000_000_000, 4), &mut found);
        assert_eq!(found.iter().map(|one| one.what.as_str()).collect::<Vec<_>>(), ["processors", "memory"]);
    }
}
