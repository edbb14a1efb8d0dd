//! Tokens that went backwards, and waiters that were overtaken.

use super::figures::{Regression, TrialVerdict};
use super::rows::{Ending, Row};

/// Grants of one lock, in the order of time, whose token is not above that of the grant before; `asked` for in an arm that is wrong
/// on purpose.
pub fn regressions(lock: u32, grants: &[Row], asked: bool, trial: &mut TrialVerdict) {
    for (number, pair) in (2..).zip(grants.windows(2)) {
        let [before, row] = pair else { continue };
        if row.token <= before.token {
            trial.regress(Regression {
                lock,
                worker: row.worker,
                grant: number,
                token: row.token,
                before: before.token,
                asked,
                line: row.line,
            });
        }
    }
}

/// Grants of one lock that overtook somebody: another acquisition stood in the queue before this one was called, and was granted
/// after it or never. Real time decides. Found by sorting the waiters by when they joined: each grant asks for the earliest of those
/// that are left.
pub fn inversions(lock: u32, grants: &[Row], all: &[Row], trial: &mut TrialVerdict) {
    let never = all.iter().filter(|row| row.lock == lock && row.outcome == Ending::Waiting && row.enqueued != 0);
    let never = never.map(|row| row.enqueued).min().unwrap_or(u64::MAX);
    // The earliest of those that are granted later, for each grant, from the last to the first.
    let mut earliest = vec![never; grants.len()];
    for place in (1..grants.len()).rev() {
        let joined = if grants[place].enqueued == 0 { u64::MAX } else { grants[place].enqueued };
        earliest[place - 1] = earliest[place].min(joined);
    }
    trial.fifo_inversions +=
        grants.iter().zip(earliest).filter(|(row, earliest)| *earliest < row.called).count() as u64;
}
