//! A stored run judged again, from its raw rows alone: `acquisitions.csv`, `passages.csv` where there were barriers, and `updates.csv`
//! where holders kept a shared counter.
//!
//! Nothing that the run itself worked out is believed: promises are checked on the rows by rules written for this purpose, and then
//! compared with what `summary.json` says. Only what was planned is taken from there: arms, workers, settings, which trial was
//! whose.
//!
//! | module | what it does |
//! |---|---|
//! | [`rows`] | reads the acquisitions trial by trial, and refuses what no run can have written, by line |
//! | [`passages`] | the same for the ways through barriers, and who passed one early |
//! | [`updates`] | the same for the updates of a shared counter, and which of them were lost |
//! | [`overlaps`] | which two grants of a lock collide |
//! | [`order`] | tokens that went backwards, waiters that were overtaken |
//! | [`fairness`] | who got how much: Jain's index, workers that got nothing |
//! | [`figures`] | what came of it: plain data, also as JSON |
//! | [`plan`] | which arm a trial is of |
//! | [`compare`] | where the rows and `summary.json` differ |

pub mod compare;
pub mod fairness;
pub mod figures;
pub mod order;
pub mod overlaps;
pub mod passages;
pub mod plan;
pub mod rows;
pub mod updates;

use std::fs::File;
use std::path::{Path, PathBuf};

use self::figures::{TrialVerdict, Verification};
use self::passages::Passages;
use self::plan::{Arm, Plan};
use self::rows::{Row, Rows};
use self::updates::Updates;
use crate::results::folder::read_summary;

/// A run that cannot be verified: it is none, or its rows are not what a run writes.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// There is no run, or its summary cannot be read.
    #[error("{0}")]
    NoRun(String),
    /// A file of the run cannot be read.
    #[error("cannot read {}: {why}; name the folder of a run, with everything in it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A line is not what a run writes there.
    #[error("{}, line {line}: {why}; the file was cut or edited after the run: verify the run as it was written", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Verifies the run in this folder, or the one whose `summary.json` this is.
///
/// # Errors
///
/// [`VerifyError`], where there is nothing that could be judged. Broken promises are no error but the result.
pub fn verify(run: &Path) -> Result<Verification, VerifyError> {
    let summary = read_summary(run).map_err(|error| VerifyError::NoRun(error.to_string()))?;
    let folder = if run.is_dir() { run } else { run.parent().unwrap_or(Path::new("")) };
    let plan = Plan::of(&summary)?;
    let mut trials = Vec::new();
    let path = folder.join("acquisitions.csv");
    let mut rows = Rows::new(open(&path)?, path)?;
    while let Some((number, acquisitions)) = rows.next_trial(&plan)? {
        trials.push(judge(&plan, number, &acquisitions));
    }
    let written = rows.line();
    if plan.has_barriers() {
        let path = folder.join("passages.csv");
        let mut passages = Passages::new(open(&path)?, path)?;
        while let Some((number, passed)) = passages.next_trial(&plan)? {
            let Some((arm, label)) = plan.arm_of(number) else { continue };
            let early = passages::early(&passed, arm.workers as usize);
            match trials.iter_mut().find(|trial: &&mut TrialVerdict| trial.trial == number) {
                Some(trial) => trial.passed(early),
                None => {
                    let mut trial = TrialVerdict::new(number, label);
                    trial.passed(early);
                    trials.push(trial);
                }
            }
        }
    }
    let path = folder.join("updates.csv");
    // There are none where nobody was granted anything, or where no counter was kept.
    if path.exists() {
        for (number, counted) in Updates::new(open(&path)?, path)?.all(&plan)? {
            if let Some(trial) = trials.iter_mut().find(|trial: &&mut TrialVerdict| trial.trial == number) {
                trial.counter = Some(counted);
            }
        }
    }
    trials.sort_by_key(|trial| trial.trial);
    compare::are_all_there(&summary, &trials, &folder.join("acquisitions.csv"), written)?;
    let differences = compare::differences(&summary, &trials);
    let uncaught = if summary.complete { uncaught(&plan, &trials) } else { Vec::new() };
    Ok(Verification::new(&summary, trials, differences, uncaught))
}

fn open(path: &Path) -> Result<File, VerifyError> {
    File::open(path).map_err(|error| VerifyError::Unreadable { path: path.to_owned(), why: error.to_string() })
}

/// The controls of which two grants must collide, and none do.
fn uncaught(plan: &Plan, trials: &[TrialVerdict]) -> Vec<String> {
    let collide = |label: &str| trials.iter().any(|trial| trial.arm == label && trial.overlaps_asked > 0);
    let controls = plan.arms().filter(|arm| arm.must_collide && !collide(&arm.label));
    controls.map(|arm| arm.label.clone()).collect()
}

/// Judges the acquisitions of one trial.
fn judge(plan: &Plan, number: u32, acquisitions: &[Row]) -> TrialVerdict {
    let Some((arm, label)) = plan.arm_of(number) else { return TrialVerdict::new(number, "") };
    judge_trial(arm, TrialVerdict::new(number, label), acquisitions)
}

fn judge_trial(arm: &Arm, mut trial: TrialVerdict, acquisitions: &[Row]) -> TrialVerdict {
    trial.grants = acquisitions.iter().filter(|row| row.is_granted()).count() as u64;
    trial.failed = acquisitions.iter().filter(|row| row.outcome == rows::Ending::Failed).count() as u64;
    for (lock, grants) in rows::granted_by_lock(acquisitions) {
        let end = acquisitions.iter().map(Row::latest).max().unwrap_or(0);
        overlaps::find(lock, &grants, end, &mut trial);
        order::regressions(lock, &grants, arm.is_control, &mut trial);
        if !arm.queues_ahead {
            order::inversions(lock, &grants, acquisitions, &mut trial);
        }
    }
    if arm.queues_ahead {
        // The call does not tell when a worker joined the queue; its order is that of the tokens.
        trial.fifo_inversions = trial.token_regressions;
    }
    fairness::judge(arm, acquisitions, &mut trial);
    trial
}
