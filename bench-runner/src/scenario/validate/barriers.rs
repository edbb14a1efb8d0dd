//! Barriers: which settings belong to them, and to nothing else.

use workloads::settings::Recipe;

use super::super::delay::DelayText;
use super::super::file::{ArmFile, ModeName, ScenarioFile};
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::{whole_number, workers};

/// Barriers of one trial that fit into memory with room to spare, and into the paths of a server.
pub const MOST_BARRIERS: u32 = 100_000;

/// Judges what the arms and the grid say of barriers.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    if let Some(grid) = &file.grid {
        let path = KeyPath::from("grid");
        for (index, count) in grid.count.iter().enumerate() {
            whole_number(
                &path.key("count").index(index),
                *count,
                1,
                workers::MOST_WORKERS,
                "each is a session",
                problems,
            );
        }
        for (index, barriers) in grid.barriers.iter().enumerate() {
            let at = path.key("barriers").index(index);
            whole_number(&at, *barriers, 1, MOST_BARRIERS, "each is a znode or key", problems);
        }
    }
    for (index, arm) in file.arm.iter().enumerate() {
        One { file, arm, path: KeyPath::from("arm").index(index) }.validate(problems);
    }
}

struct One<'a> {
    file: &'a ScenarioFile,
    arm: &'a ArmFile,
    path: KeyPath,
}

impl One<'_> {
    fn place(&self, key: &str, own: bool) -> KeyPath {
        if own { self.path.key("workers").key(key) } else { KeyPath::from("workers").key(key) }
    }

    fn validate(&self, problems: &mut Problems) {
        let Some(recipe) = self.arm.recipe else { return };
        let workers = self.arm.workers.over(&self.file.workers);
        let mode = workers.mode.unwrap_or_default();
        let mode_at = self.place("mode", self.arm.workers.mode.is_some());
        let recipe_at = self.path.key("recipe");
        let of_barriers = matches!(mode, ModeName::Barriers | ModeName::Rounds);
        if recipe.is_barrier() != of_barriers {
            let (message, remedy) = if recipe.is_barrier() {
                (
                    "members of a barrier wait for each other, which is another mode than contending",
                    "set `mode = \"rounds\"`, or \"barriers\"",
                )
            } else {
                ("only barriers have this mode", "use the closed, open or drain mode, or a recipe of `barrier/…`")
            };
            let problem = Problem::value(&recipe_at, message).remedy(remedy).related(&mode_at, "the mode");
            problems.add(&[&recipe_at, &mode_at], problem);
            return;
        }
        if !of_barriers {
            return;
        }
        if recipe == Recipe::SingleBarrier && mode == ModeName::Barriers {
            let problem =
                Problem::value(&mode_at, "a single barrier cannot be left, so there is nothing to leave in the end")
                    .remedy("set `mode = \"rounds\"`")
                    .related(&recipe_at, "the recipe");
            problems.add(&[&mode_at, &recipe_at], problem);
        }
        if workers.telemetry == Some(false) && mode == ModeName::Rounds {
            let at = self.place("telemetry", self.arm.workers.telemetry.is_some());
            let problem = Problem::value(&at, "rounds are measured by what they cost, which the telemetry counts");
            problems
                .add(&[&at, &mode_at], problem.remedy("take `telemetry = false` out, or set `mode = \"barriers\"`"));
        }
        if workers.hold == Some(DelayText::Forever) {
            let at = self.place("hold", self.arm.workers.hold.is_some());
            let problem = Problem::value(&at, "members that work for ever never leave");
            problems.add(&[&at, &recipe_at], problem.remedy("write how long each works inside, for example \"5ms\""));
        }
        if workers.count == Some(1) {
            let at = self.place("count", self.arm.workers.count.is_some());
            problems.add(
                &[&at, &recipe_at],
                Problem::value(&at, "one member alone meets nobody").remedy("write at least 2"),
            );
        }
        if workers.locks.is_some_and(|locks| locks > 1) {
            let at = self.place("locks", self.arm.workers.locks.is_some());
            let problem = Problem::value(&at, "all workers are members of all barriers, so there is nothing to spread");
            problems.add(&[&at, &recipe_at], problem.remedy("leave `locks` out; `barriers` says how many there are"));
        }
        if !self.file.fault.is_empty() {
            let at = KeyPath::from("fault").index(0);
            let problem =
                Problem::value(&at, "no fault can be shown on barriers: without one of its members none opens")
                    .remedy("leave the faults out, or the arms of barriers")
                    .related(&recipe_at, "a barrier");
            problems.add(&[&at, &recipe_at], problem);
        }
    }
}
