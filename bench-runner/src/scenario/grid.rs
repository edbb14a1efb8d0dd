//! `[grid]`: each arm once for each pair of a number of workers and a number of barriers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file::{ArmFile, ScenarioFile, WorkersFile};
use super::resolve::label;

/// Each arm is measured once for each pair of its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Grid")]
pub struct GridFile {
    /// Numbers of workers, in the place of `workers.count`. Empty: that stands.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub count: Vec<u32>,
    /// Numbers of barriers, in the place of `workers.barriers`. Empty: that stands.
    #[schemars(inner(range(min = 1, max = 100_000)))]
    pub barriers: Vec<u32>,
}

impl GridFile {
    /// What differs from arm to arm, and how its label says so.
    fn points(&self) -> Vec<(WorkersFile, String)> {
        let all = |numbers: &[u32]| match numbers {
            [] => vec![None],
            numbers => numbers.iter().copied().map(Some).collect::<Vec<_>>(),
        };
        let mut points = Vec::new();
        for count in all(&self.count) {
            for barriers in all(&self.barriers) {
                let words = [count.map(|count| format!("{count} workers")), barriers.map(|b| format!("{b} barriers"))];
                let label: String = words.into_iter().flatten().map(|words| format!(", {words}")).collect();
                points.push((WorkersFile { count, barriers, ..WorkersFile::default() }, label));
            }
        }
        points
    }
}

/// The arms, once for each point of the grid.
pub fn arms(file: &ScenarioFile) -> Vec<ArmFile> {
    let Some(grid) = &file.grid else { return file.arm.clone() };
    let points = grid.points();
    let at = |arm: &ArmFile, (workers, suffix): &(WorkersFile, String)| ArmFile {
        label: Some(format!("{}{suffix}", label(arm))),
        workers: workers.over(&arm.workers),
        ..arm.clone()
    };
    file.arm.iter().flat_map(|arm| points.iter().map(move |point| at(arm, point))).collect()
}

/// The file with the first point of the grid under `[workers]`, for what is judged by arm: there a missing number of workers
/// would be one that the grid gives.
pub fn at_first_point(file: &ScenarioFile) -> ScenarioFile {
    let first = file.grid.as_ref().and_then(|grid| grid.points().into_iter().next());
    match first {
        Some((workers, _)) => ScenarioFile { workers: workers.over(&file.workers), ..file.clone() },
        None => file.clone(),
    }
}
