//! What was planned: which arm a trial is of, and by which rules it is judged. The only thing taken from `summary.json` before
//! the rows are judged.

use std::collections::BTreeMap;

use workloads::settings::{Delay, Mode, Recipe, Service};

use super::VerifyError;
use crate::results::summary::Summary;
use crate::scenario;

/// One arm.
pub struct Arm {
    /// What it is called.
    pub label: String,
    /// Workers.
    pub workers: u32,
    /// Locks or elections.
    pub locks: u32,
    /// Whether its workers are members of barriers.
    pub is_barrier: bool,
    /// Whether grants are held until they are lost: then nobody has to give way.
    pub for_ever: bool,
    /// Whether workers queue for their next grant before they give up the one that they have.
    pub queues_ahead: bool,
    /// Whether it is wrong on purpose: everything that comes of it was asked for.
    pub is_control: bool,
    /// Whether that has to show in grants that collide.
    pub must_collide: bool,
}

/// The arms, and which trial is whose.
pub struct Plan {
    arms: Vec<Arm>,
    /// The arm of each trial, by the trial's position.
    trials: BTreeMap<u32, usize>,
}

impl Plan {
    /// What the summary of a run says of its plan.
    ///
    /// # Errors
    ///
    /// [`VerifyError::NoRun`] where the scenario in it cannot be read any more.
    pub fn of(summary: &Summary) -> Result<Plan, VerifyError> {
        let scenario = scenario::parse(&summary.scenario, &summary.settings, &[]).map_err(|error| {
            let told = error.render(false);
            VerifyError::NoRun(format!("the scenario that the run keeps in summary.json cannot be read:\n{told}"))
        })?;
        let arms = scenario.arms.iter().map(|arm| Arm {
            label: arm.label.clone(),
            workers: arm.workers.workers,
            locks: arm.workers.resources.max(1),
            is_barrier: matches!(arm.workers.mode, Mode::Barriers { .. }),
            for_ever: arm.workers.hold == Delay::Forever,
            queues_ahead: arm.workers.auto_requeue && arm.service == Service::Zookeeper,
            is_control: arm.workers.is_control(),
            // What shared sessions of ZooKeeper do shows in the notifications, of which there are no rows.
            must_collide: arm.workers.recipe == Recipe::Unlocked
                || (arm.workers.sessions.is_some() && arm.service == Service::Etcd),
        });
        let arms: Vec<Arm> = arms.collect();
        let mut trials = BTreeMap::new();
        for arm in &summary.arms {
            let place = arms.iter().position(|planned| planned.label == arm.label).ok_or_else(|| {
                let label = &arm.label;
                VerifyError::NoRun(format!(
                    "summary.json has an arm `{label}` that the scenario in it has not: it was edited after the run"
                ))
            })?;
            trials.extend(arm.trial.iter().map(|trial| (trial.position, place)));
        }
        // A run that was killed may have written the rows of a trial that its summary does not know yet.
        if !summary.complete {
            let known = trials.keys().max().copied().unwrap_or(0);
            let next = crate::run::schedule::plan(&scenario).into_iter().find(|planned| planned.position > known);
            trials.extend(next.map(|planned| (planned.position, planned.arm)));
        }
        Ok(Plan { arms, trials })
    }

    /// The arm of a trial, and its label; `None` for a trial that was not planned.
    pub fn arm_of(&self, trial: u32) -> Option<(&Arm, &str)> {
        let arm = self.arms.get(*self.trials.get(&trial)?)?;
        Some((arm, &arm.label))
    }

    /// All arms.
    pub fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.arms.iter()
    }

    /// Whether any trial is of barriers.
    pub fn has_barriers(&self) -> bool {
        self.trials.values().any(|arm| self.arms[*arm].is_barrier)
    }
}
