//! What a verification found: plain data, and its JSON.

use serde::Serialize;

use super::updates::Counted;
use crate::results::summary::Summary;

/// So many findings of a kind are kept of a trial; the rest is counted.
const MOST: usize = 1_000;

/// A grant that takes part in a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The worker.
    pub worker: u32,
    /// Which grant of the lock it is, counted from 1 in the order of time.
    pub grant: u64,
    /// Its fencing token.
    pub token: i64,
    /// When it began, nanoseconds since the start of the trial.
    pub from_ns: u64,
    /// When its holder stopped to act on it; `null` for one that did to the end of the trial.
    pub to_ns: Option<u64>,
    /// Its line in `acquisitions.csv`.
    pub line: u64,
}

/// Two grants of one lock at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Collision {
    /// The lock or election, counted from 0.
    pub lock: u32,
    /// Whether the scenario asked for it: the earlier holder was stopped or cut off.
    pub asked: bool,
    /// The one that began first.
    pub earlier: Side,
    /// The one that began before the other was over.
    pub later: Side,
    /// How long both were acted on, nanoseconds.
    pub overlap_ns: u64,
}

/// A grant whose token is not above that of the grant before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Regression {
    /// The lock or election.
    pub lock: u32,
    /// The worker.
    pub worker: u32,
    /// Which grant of the lock it is.
    pub grant: u64,
    /// Its token.
    pub token: i64,
    /// The token of the grant before.
    pub before: i64,
    /// Whether the scenario asked for it: the arm is wrong on purpose.
    pub asked: bool,
    /// Its line in `acquisitions.csv`.
    pub line: u64,
}

/// A member that passed a barrier early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Early {
    /// The barrier.
    pub barrier: u32,
    /// The member.
    pub worker: u32,
    /// On the way out, and not on the way in.
    pub out: bool,
    /// When it was through, nanoseconds since the start of the trial.
    pub at_ns: u64,
    /// When the last of all came; `null` where one never did.
    pub last_ns: Option<u64>,
    /// Its line in `passages.csv`.
    pub line: u64,
}

/// What the rows of one trial say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialVerdict {
    /// Its position among all trials of the run.
    pub trial: u32,
    /// The arm's label.
    pub arm: String,
    /// Grants.
    pub grants: u64,
    /// Grants that began before an earlier one was over, and that nobody asked for.
    pub overlaps: u64,
    /// The same where the scenario asked for it.
    pub overlaps_asked: u64,
    /// Grants whose token is not above that of the grant before.
    pub token_regressions: u64,
    /// The same in an arm that is wrong on purpose.
    pub token_regressions_asked: u64,
    /// Grants that overtook a waiter.
    pub fifo_inversions: u64,
    /// Workers that tried and got nothing.
    pub starved: u64,
    /// Acquisitions that ended in an error.
    pub failed: u64,
    /// Jain's index of fairness over the grants of each worker; `null` without grants.
    pub jain: Option<f64>,
    /// Members that passed a barrier early.
    pub early_passages: u64,
    /// The shared counter; `null` where holders kept none.
    pub counter: Option<Counted>,
    /// The collisions, up to 1,000 of them.
    pub collisions: Vec<Collision>,
    /// The regressions, up to 1,000 of them.
    pub regressions: Vec<Regression>,
    /// The early passages, up to 1,000 of them.
    pub early: Vec<Early>,
}

impl TrialVerdict {
    /// A trial of which nothing is known yet.
    pub fn new(trial: u32, arm: &str) -> Self {
        TrialVerdict {
            trial,
            arm: arm.to_owned(),
            grants: 0,
            overlaps: 0,
            overlaps_asked: 0,
            token_regressions: 0,
            token_regressions_asked: 0,
            fifo_inversions: 0,
            starved: 0,
            failed: 0,
            jain: None,
            early_passages: 0,
            counter: None,
            collisions: Vec::new(),
            regressions: Vec::new(),
            early: Vec::new(),
        }
    }

    /// Two grants collide.
    pub fn collide(&mut self, collision: Collision) {
        match collision.asked {
            true => self.overlaps_asked += 1,
            false => self.overlaps += 1,
        }
        // What nobody asked for is not to be crowded out by what was.
        let room = if collision.asked { MOST / 2 } else { MOST };
        if self.collisions.len() < room {
            self.collisions.push(collision);
        }
    }

    /// Updates that the fenced store lost.
    fn fenced_lost(&self) -> u64 {
        self.counter.map_or(0, |counter| counter.lost_fenced)
    }

    /// A token went backwards.
    pub fn regress(&mut self, regression: Regression) {
        match regression.asked {
            true => self.token_regressions_asked += 1,
            false => self.token_regressions += 1,
        }
        if self.regressions.len() < MOST {
            self.regressions.push(regression);
        }
    }

    /// These passed a barrier early.
    pub fn passed(&mut self, early: Vec<Early>) {
        self.early_passages += early.len() as u64;
        self.early.extend(early.into_iter().take(MOST));
    }

    /// Whether mutual exclusion, the order of tokens, or a barrier was violated, or a fenced store lost an update.
    pub fn is_violated(&self) -> bool {
        self.overlaps > 0 || self.token_regressions > 0 || self.early_passages > 0 || self.fenced_lost() > 0
    }
}

/// Something that the rows and `summary.json` do not agree on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The trial.
    pub trial: u32,
    /// The arm's label.
    pub arm: String,
    /// The key of the trial's `safety` or `split_brain` in `summary.json`.
    pub figure: String,
    /// What the rows say.
    pub rows: u64,
    /// What `summary.json` says.
    pub summary: u64,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The scenario.
    pub scenario: String,
    /// Whether every planned trial ran to its end.
    pub complete: bool,
    /// Why not; `null` where it did.
    pub incomplete_reason: Option<String>,
    /// Whether every promise was kept, and `summary.json` says what the rows say.
    pub holds: bool,
    /// Each trial, in the order in which they ran.
    pub trials: Vec<TrialVerdict>,
    /// Where rows and `summary.json` differ.
    pub differences: Vec<Difference>,
    /// Arms that are wrong on purpose, and in which nothing was found.
    pub uncaught: Vec<String>,
}

impl Verification {
    /// What the trials of a run came to.
    pub fn new(
        summary: &Summary,
        trials: Vec<TrialVerdict>,
        differences: Vec<Difference>,
        uncaught: Vec<String>,
    ) -> Self {
        let kept = !trials.iter().any(TrialVerdict::is_violated);
        Verification {
            scenario: summary.scenario.clone(),
            complete: summary.complete,
            incomplete_reason: summary.incomplete_reason.clone(),
            holds: kept && differences.is_empty() && uncaught.is_empty(),
            trials,
            differences,
            uncaught,
        }
    }
}
