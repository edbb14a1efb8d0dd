//! The rows of `updates.csv`: what a plain and a fenced store lost of the shared counter, and which writes were stale.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use serde::Serialize;

use super::VerifyError;
use super::plan::Plan;
use super::rows::Table;
use crate::results::updates::UPDATES;

/// One update of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    lock: u32,
    token: i64,
    read_at: u64,
    written_at: u64,
    read: u64,
    read_fenced: u64,
    fenced: bool,
}

/// What the rows of one trial say of its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Updates.
    pub updates: u64,
    /// Writes after somebody with a later token had read or written.
    pub stale: u64,
    /// Writes that the fenced store refused.
    pub refused: u64,
    /// Acknowledged updates of which nothing was left in the plain store.
    pub lost_plain: u64,
    /// The same of the fenced store.
    pub lost_fenced: u64,
}

/// The updates of a run.
pub struct Updates {
    table: Table,
}

impl Updates {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`] where this is another table.
    pub fn new(file: File, path: PathBuf) -> Result<Updates, VerifyError> {
        Ok(Updates { table: Table::new(file, path, &UPDATES, 0)? })
    }

    /// Everything, by trial.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Line`].
    pub fn all(mut self, plan: &Plan) -> Result<BTreeMap<u32, Counted>, VerifyError> {
        let mut trials: BTreeMap<u32, Vec<Update>> = BTreeMap::new();
        while self.table.advance()? {
            let table = &self.table;
            let trial = table.trial(plan)?;
            let update = Update {
                lock: table.number(3, "lock")?,
                token: table.number(4, "token")?,
                read_at: table.number(5, "read_ns")?,
                written_at: table.maybe(6, "written_ns")?,
                read: table.number(7, "read")?,
                read_fenced: table.number(8, "read_fenced")?,
                fenced: table.number::<u8>(9, "fenced")? != 0,
            };
            if update.written_at != 0 && update.written_at < update.read_at {
                return Err(table.wrong("it was written before it was read"));
            }
            trials.entry(trial).or_default().push(update);
        }
        Ok(trials.into_iter().map(|(trial, updates)| (trial, count(&updates))).collect())
    }
}

/// Counts the updates of one trial.
pub fn count(updates: &[Update]) -> Counted {
    let mut locks: BTreeMap<u32, Vec<&Update>> = BTreeMap::new();
    updates.iter().for_each(|update| locks.entry(update.lock).or_default().push(update));
    let mut counted = Counted::default();
    for updates in locks.values_mut() {
        let reads: Vec<(u64, i64)> = updates.iter().map(|update| (update.read_at, update.token)).collect();
        updates.retain(|update| update.written_at != 0);
        updates.sort_by_key(|update| update.written_at);
        let taken: Vec<&&Update> = updates.iter().filter(|update| update.fenced).collect();
        counted.updates += updates.len() as u64;
        counted.refused += (updates.len() - taken.len()) as u64;
        // What was written last is what is left: one more than its writer had read.
        let left = updates.last().map_or(0, |last| last.read + 1);
        let left_fenced = taken.last().map_or(0, |last| last.read_fenced + 1);
        counted.lost_plain += (updates.len() as u64).saturating_sub(left);
        counted.lost_fenced += (taken.len() as u64).saturating_sub(left_fenced);
        counted.stale += stale(updates, reads);
    }
    counted
}

/// How many were written after somebody with a later token had read.
fn stale(updates: &[&Update], mut reads: Vec<(u64, i64)>) -> u64 {
    reads.sort_unstable();
    // The highest token that had read by then, read by read.
    let mut highest = i64::MIN;
    for (_, token) in &mut reads {
        highest = highest.max(*token);
        *token = highest;
    }
    let overtaken = |update: &&&Update| {
        let before = reads.partition_point(|(at, _)| *at < update.written_at);
        before > 0 && reads[before - 1].1 > update.token
    };
    updates.iter().filter(overtaken).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(token: i64, moments: (u64, u64), read: u64, read_fenced: u64, fenced: bool) -> Update {
        Update { lock: 0, token, read_at: moments.0, written_at: moments.1, read, read_fenced, fenced }
    }

    #[test]
    fn a_late_write_loses_what_came_between() {
        let updates = [
            update(2, (40, 45), 0, 0, true),
            update(2, (45, 50), 1, 1, true),
            update(1, (10, 60), 0, 0, false),
            update(2, (55, 70), 2, 2, true),
        ];
        let counted = count(&updates);
        assert_eq!(counted, Counted { updates: 4, stale: 1, refused: 1, lost_plain: 1, lost_fenced: 0 });
        // Without the last one, what the late writer left is what is left.
        assert_eq!(count(&updates[..3]).lost_plain, 2);
        // A read overtakes, whether or not a write follows.
        let read = update(2, (40, 0), 0, 0, false);
        let counted = count(&[update(1, (10, 60), 0, 0, false), read]);
        assert_eq!((counted.updates, counted.stale, counted.refused), (1, 1, 1));
    }

    #[test]
    fn turns_lose_nothing() {
        let updates: Vec<Update> = (0..5).map(|n| update(n as i64, (n * 10, n * 10 + 5), n, n, true)).collect();
        assert_eq!(count(&updates), Counted { updates: 5, ..Counted::default() });
    }
}
