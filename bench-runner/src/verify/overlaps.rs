//! Which two grants of a lock collide.
//!
//! A sweep over the grants of one lock by time: each is held against the one before it whose holder acted the longest. All workers of
//! a run share one clock, so that a collision is decided and not guessed. Where only holders that a fault had stopped, or cut off,
//! still acted, the scenario has asked for it.

use super::figures::{Collision, Side, TrialVerdict};
use super::rows::Row;

/// A grant that may still be acted on: its number, the row, and until when.
#[derive(Clone, Copy)]
struct Reach<'a> {
    number: u64,
    row: &'a Row,
    until: u64,
}

/// Finds the collisions among the grants of one lock, which are in the order of time; `end` is the end of the trial.
pub fn find(lock: u32, grants: &[Row], end: u64, trial: &mut TrialVerdict) {
    let (mut unasked, mut asked): (Option<Reach<'_>>, Option<Reach<'_>>) = (None, None);
    for (number, row) in (1..).zip(grants) {
        let goes_on = |reach: &Reach<'_>| row.granted < reach.until;
        let found = unasked.filter(goes_on).map(|reach| (reach, false));
        if let Some((earlier, is_asked)) = found.or_else(|| asked.filter(goes_on).map(|reach| (reach, true))) {
            let until = row.acted_until().unwrap_or(end).min(earlier.until.min(end));
            trial.collide(Collision {
                lock,
                asked: is_asked,
                earlier: side(earlier.number, earlier.row),
                later: side(number, row),
                // To the end of the shorter one: from then on only one of them acts.
                overlap_ns: until.saturating_sub(row.granted),
            });
        }
        let this = Reach { number, row, until: row.acted_until().unwrap_or(u64::MAX) };
        let latest = if row.asked { &mut asked } else { &mut unasked };
        if latest.is_none_or(|reach| reach.until < this.until) {
            *latest = Some(this);
        }
    }
}

fn side(number: u64, row: &Row) -> Side {
    Side {
        worker: row.worker,
        grant: number,
        token: row.token,
        from_ns: row.granted,
        to_ns: row.acted_until(),
        line: row.line,
    }
}
