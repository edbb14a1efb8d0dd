//! What becomes of a grant: how long it is held, and whether its worker queues again before it ends.

use workloads::settings::Recipe;

use super::super::super::delay::DelayText;
use super::super::super::file::{ArmFile, ModeName, ScenarioFile};
use super::super::super::path::KeyPath;
use super::super::super::problem::{Problem, Problems};
use super::super::super::resolve::requeues;
use super::Merged;

/// `auto_requeue` under `[workers]` that no arm takes; in an arm, see [`Merged::auto_requeue`].
pub(super) fn unused_auto_requeue(file: &ScenarioFile, problems: &mut Problems) {
    let takes_it = |arm: &ArmFile| {
        let mode = arm.workers.over(&file.workers).mode.unwrap_or_default();
        arm.recipe.is_some_and(|recipe| requeues(recipe, mode))
    };
    if file.workers.auto_requeue.is_some() && !file.arm.is_empty() && !file.arm.iter().any(takes_it) {
        let at = KeyPath::from("workers.auto_requeue");
        problems.add(&[&at, &KeyPath::from("workers.mode")], auto_requeue_without_selector(&at));
    }
}

fn auto_requeue_without_selector(path: &KeyPath) -> Problem {
    let selector = Recipe::LeaderSelector;
    Problem::value(path, format!("only `{selector}` in the closed mode queues again before it gives up its grant"))
        .remedy(format!("take `auto_requeue` out, or set `recipe = \"{selector}\"`"))
}

impl Merged<'_> {
    /// A hold without an end.
    pub(super) fn hold(&self, problems: &mut Problems) {
        if self.workers.hold == Some(DelayText::Forever) && self.workers.mode == Some(ModeName::Drain) {
            let hold_at = self.place("hold", self.arm.workers.hold.is_some());
            let mode_at = self.place("mode", self.arm.workers.mode.is_some());
            let message =
                "a drain is over when everybody had a grant, and one that is held for ever goes to nobody else";
            let problem = Problem::value(&hold_at, message)
                .remedy("write how long each grant is held, for example \"5ms\", or use the closed mode")
                .related(&mode_at, "the mode");
            problems.add(&[&hold_at, &mode_at], problem);
        }
    }

    pub(super) fn auto_requeue(&self, problems: &mut Problems) {
        let Some(recipe) = self.arm.recipe else { return };
        let own = self.arm.workers.auto_requeue.is_some();
        let at = self.place("auto_requeue", own);
        let mode_at = self.place("mode", self.arm.workers.mode.is_some());
        if !requeues(recipe, self.workers.mode.unwrap_or_default()) {
            // Under `[workers]` it may be for another arm.
            if own {
                problems.add(&[&at, &mode_at, &self.path.key("recipe")], auto_requeue_without_selector(&at));
            }
            return;
        }
        if self.workers.auto_requeue != Some(false) && !self.workers.think.is_none_or(DelayText::is_zero) {
            let think_at = self.place("think", self.arm.workers.think.is_some());
            let message = "a leader that queues again before it gives up has no time to `think`";
            let problem = Problem::value(&think_at, message)
                .remedy("set `auto_requeue = false` in the arm of `election/leader-selector`, or leave `think` out")
                .related(&at, "it queues again");
            problems.add(&[&think_at, &at, &mode_at], problem);
        }
    }
}
