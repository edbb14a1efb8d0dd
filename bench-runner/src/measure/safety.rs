//! Whether the recipe kept its promises, from the acquisitions of one trial.
//!
//! All workers of one process share one monotonic clock, so overlap is decided, not guessed: a grant is stamped when the
//! worker has learnt of it and a release before it is sent, so that two grants of a correct lock can never overlap.

use workloads::record::{Acquisition, Outcome};

use super::barrier::MeasuredBarriers;
use super::figures::Safety;

/// What has to be known of a trial to judge it.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How many workers there were.
    pub workers: u32,
    /// Whether grants are held until they are lost: then nobody has to give way.
    pub for_ever: bool,
    /// Whether workers queue for their next grant before they give up the one that they have: then the call does not tell
    /// when a worker joined the queue, and its order is that of the tokens.
    pub queues_ahead: bool,
    /// The trial's length in nanoseconds.
    pub length: u64,
    /// Whether the arm is wrong on purpose: everything that comes of it was asked for.
    pub control: bool,
}

/// Checks one trial.
pub fn check(acquisitions: &[Acquisition], rules: &Rules) -> Safety {
    let mut safety = Safety {
        starved: if rules.for_ever { 0 } else { starved(acquisitions, rules.workers) },
        failed: acquisitions.iter().filter(|acquisition| acquisition.outcome == Outcome::Failed).count() as u64,
        ..Safety::default()
    };
    for lock in by_lock(acquisitions) {
        overlaps(&lock.granted, rules, &mut safety);
        let regressions = token_regressions(&lock.granted);
        *if rules.control { &mut safety.token_regressions_asked } else { &mut safety.token_regressions } += regressions;
        safety.fifo_inversions += if rules.queues_ahead { regressions } else { fifo_inversions(&lock) };
    }
    safety
}

/// The acquisitions of one lock.
pub(super) struct OfLock<'a> {
    /// Those that were granted, in the order of their grants.
    pub granted: Vec<&'a Acquisition>,
    /// Those that joined the queue and were never granted.
    pub left_waiting: Vec<&'a Acquisition>,
}

/// Sorts acquisitions by lock, and the grants of each by time.
pub(super) fn by_lock(acquisitions: &[Acquisition]) -> Vec<OfLock<'_>> {
    let locks = acquisitions.iter().map(|acquisition| acquisition.resource as usize + 1).max().unwrap_or(0);
    let mut sorted: Vec<OfLock<'_>> =
        (0..locks).map(|_| OfLock { granted: Vec::new(), left_waiting: Vec::new() }).collect();
    for acquisition in acquisitions {
        let lock = &mut sorted[acquisition.resource as usize];
        if acquisition.is_granted() {
            lock.granted.push(acquisition);
        } else if acquisition.enqueued != 0 && acquisition.outcome == Outcome::Waiting {
            lock.left_waiting.push(acquisition);
        }
    }
    for lock in &mut sorted {
        // Two grants in one nanosecond would be an overlap whichever came first; the token makes the order stable.
        lock.granted.sort_unstable_by_key(|acquisition| (acquisition.granted, acquisition.token));
    }
    sorted
}

/// Grants that began before an earlier one of the same lock was over. A grant that was never over (held to the end) overlaps
/// with everything that came after it; one whose end is not known was over with its session at an unknown moment, and is not
/// held against its successors. An overlap with nothing but grants that are asked for is counted apart.
fn overlaps(granted: &[&Acquisition], rules: &Rules, safety: &mut Safety) {
    let (mut held_until, mut asked_until) = (0, 0);
    for acquisition in granted {
        if acquisition.granted < held_until {
            safety.overlaps += 1;
        } else if acquisition.granted < asked_until {
            safety.overlaps_asked += 1;
            // One that has not learnt of it when the trial ends: that is how long it was seen to last.
            let overlap = asked_until.min(rules.length).saturating_sub(acquisition.granted);
            safety.longest_overlap_us = safety.longest_overlap_us.max(overlap / 1_000);
        }
        let until = match acquisition.outcome {
            Outcome::Held => u64::MAX,
            _ if acquisition.over == 0 => acquisition.granted,
            _ => acquisition.over,
        };
        let latest = if acquisition.struck || rules.control { &mut asked_until } else { &mut held_until };
        *latest = until.max(*latest);
    }
}

/// How long each grant that began before an earlier one of its lock was over overlapped with that, in nanoseconds; in a trial of this
/// length, which goes on while its books are being closed.
pub(super) fn overlap_lengths(acquisitions: &[Acquisition], length: u64) -> Vec<u64> {
    let latest = acquisitions.iter().map(|one| one.granted.max(one.over)).max().unwrap_or(0);
    let end = length.max(latest);
    let mut lengths = Vec::new();
    for lock in by_lock(acquisitions) {
        let mut held_until = 0;
        for grant in lock.granted {
            let until = match grant.outcome {
                Outcome::Held => u64::MAX,
                _ => grant.over,
            };
            if grant.granted < held_until {
                lengths.push(held_until.min(until).min(end).saturating_sub(grant.granted));
            }
            held_until = held_until.max(until);
        }
    }
    lengths
}

/// Grants whose token is not larger than that of the grant before.
fn token_regressions(granted: &[&Acquisition]) -> u64 {
    granted.windows(2).filter(|pair| pair[1].token <= pair[0].token).count() as u64
}

/// Grants that overtook somebody: another acquisition of the same lock had joined the queue before this one was even called,
/// and was granted later or never. Real time decides, not sequence numbers, so the naive lock is judged by the same rule.
fn fifo_inversions(lock: &OfLock<'_>) -> u64 {
    let mut earliest_left = lock.left_waiting.iter().map(|acquisition| acquisition.enqueued).min().unwrap_or(u64::MAX);
    let mut inversions = 0;
    for acquisition in lock.granted.iter().rev() {
        if earliest_left < acquisition.called {
            inversions += 1;
        }
        if acquisition.enqueued != 0 {
            earliest_left = earliest_left.min(acquisition.enqueued);
        }
    }
    inversions
}

/// Workers that waited and never got a grant, without those that a fault ended.
fn starved(acquisitions: &[Acquisition], workers: u32) -> u64 {
    let mut tried = vec![false; workers as usize];
    let mut served = vec![false; workers as usize];
    for acquisition in acquisitions {
        let worker = acquisition.worker as usize;
        if worker < tried.len() {
            tried[worker] = true;
            let ended = matches!(acquisition.outcome, Outcome::Closed | Outcome::Crashed);
            served[worker] |= acquisition.is_granted() || ended;
        }
    }
    tried.iter().zip(&served).filter(|(tried, served)| **tried && !**served).count() as u64
}

/// The same with what the members of barriers did.
pub fn with_barriers(barriers: Option<&MeasuredBarriers>, safety: Safety) -> Safety {
    let early = barriers.map(|barriers| barriers.figures.early_entries + barriers.figures.early_leaves);
    Safety { early_passages: early.unwrap_or(0), ..safety }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(workers: u32) -> Rules {
        Rules { workers, for_ever: false, queues_ahead: false, length: 1_000_000, control: false }
    }

    fn judged(acquisitions: &[Acquisition], workers: u32) -> Safety {
        check(acquisitions, &rules(workers))
    }

    #[test]
    fn an_overlap_with_a_holder_that_was_stopped_on_purpose_is_told_apart() {
        // It is told at 40 that it lost at some time before 30; the next one was granted at 30.
        let paused = Acquisition { outcome: Outcome::Lost, over: 40_000, struck: true, ..grant(0, 10, 1, 5, 0) };
        let next = grant(1, 11, 2, 30_000, 60_000);
        let safety = judged(&[paused, next], 2);
        assert_eq!((safety.overlaps, safety.overlaps_asked, safety.longest_overlap_us), (0, 1, 10));
        assert_eq!(judged(&[Acquisition { struck: false, ..paused }, next], 2).overlaps, 1);
        // One that overlaps with another besides is a violation all the same.
        let third = grant(2, 12, 3, 35_000, 70_000);
        let safety = judged(&[paused, next, third], 3);
        assert_eq!((safety.overlaps, safety.overlaps_asked), (1, 1));
    }

    #[test]
    fn a_holder_that_died_is_over_with_its_death() {
        let died =
            Acquisition { outcome: Outcome::Crashed, release_sent: 0, released: 0, over: 20, ..grant(0, 10, 1, 5, 0) };
        assert_eq!(judged(&[died, grant(1, 11, 2, 25, 30)], 2).overlaps, 0);
        assert_eq!(judged(&[died, grant(1, 11, 2, 15, 30)], 2).overlaps, 1);
    }

    /// A complete acquisition: called and queued, granted, released.
    fn grant(worker: u32, token: i64, called: u64, granted: u64, released: u64) -> Acquisition {
        Acquisition {
            outcome: Outcome::Released,
            token,
            enqueued: called + 1,
            granted,
            release_sent: released,
            released: released + 1,
            over: released,
            ..Acquisition::called(worker, 0, called, called)
        }
    }

    #[test]
    fn a_lock_that_works_has_nothing_to_report() {
        let acquisitions = [grant(0, 10, 1, 5, 20), grant(1, 11, 2, 25, 30), grant(2, 12, 3, 35, 40)];
        assert_eq!(judged(&acquisitions, 3), Safety::default());
    }

    #[test]
    fn two_holders_at_once_are_found() {
        let acquisitions = [grant(0, 10, 1, 5, 20), grant(1, 11, 2, 19, 30)];
        assert_eq!(judged(&acquisitions, 2).overlaps, 1);
    }

    #[test]
    fn what_a_control_does_wrong_was_asked_for() {
        let acquisitions = [grant(0, 11, 1, 5, 20), grant(1, 10, 2, 19, 30)];
        let safety = check(&acquisitions, &Rules { control: true, ..rules(2) });
        assert_eq!((safety.overlaps, safety.token_regressions), (0, 0));
        assert_eq!((safety.overlaps_asked, safety.token_regressions_asked), (1, 1));
        assert!(!safety.is_violated() && judged(&acquisitions, 2).is_violated());
    }

    #[test]
    fn an_overlap_lasts_until_the_shorter_one_is_over() {
        let held = Acquisition { outcome: Outcome::Held, over: 0, ..grant(2, 12, 3, 40, 0) };
        let acquisitions = [grant(0, 10, 1, 5, 30), grant(1, 11, 2, 20, 25), held, grant(3, 13, 4, 50, 60)];
        assert_eq!(overlap_lengths(&acquisitions, 1_000), [5, 10]);
        let to_the_end = Acquisition { outcome: Outcome::Held, over: 0, ..grant(3, 13, 4, 50, 0) };
        assert_eq!(overlap_lengths(&[held, to_the_end], 70), [20]);
        assert_eq!(overlap_lengths(&[held, to_the_end], 45), [0], "granted while the books were being closed");
    }

    #[test]
    fn a_grant_after_one_that_is_still_held_is_an_overlap() {
        let held =
            Acquisition { outcome: Outcome::Held, release_sent: 0, released: 0, over: 0, ..grant(0, 10, 1, 5, 0) };
        assert_eq!(judged(&[held, grant(1, 11, 2, 50, 60)], 2).overlaps, 1);
    }

    #[test]
    fn a_long_holder_overlaps_with_more_than_the_next() {
        let acquisitions = [grant(0, 10, 1, 5, 100), grant(1, 11, 2, 20, 30), grant(2, 12, 3, 40, 50)];
        assert_eq!(judged(&acquisitions, 3).overlaps, 2);
    }

    #[test]
    fn tokens_must_rise() {
        let acquisitions = [grant(0, 11, 1, 5, 20), grant(1, 11, 2, 25, 30), grant(2, 9, 3, 35, 40)];
        assert_eq!(judged(&acquisitions, 3).token_regressions, 2);
    }

    #[test]
    fn locks_are_judged_apart() {
        let other = Acquisition { resource: 1, ..grant(1, 3, 2, 6, 19) };
        assert_eq!(judged(&[grant(0, 10, 1, 5, 20), other], 2), Safety::default());
    }

    #[test]
    fn overtaking_is_an_inversion_only_when_the_other_was_queued_first() {
        // Worker 1 called at 50, after worker 0 had been queued at 2, and was granted before it.
        let overtaken = [grant(0, 12, 1, 90, 95), grant(1, 11, 50, 60, 70)];
        assert_eq!(judged(&overtaken, 2).fifo_inversions, 1);
        // Called at the same time: nobody was first.
        let together = [grant(0, 12, 1, 90, 95), grant(1, 11, 1, 60, 70)];
        assert_eq!(judged(&together, 2).fifo_inversions, 0);
    }

    #[test]
    fn overtaking_somebody_who_is_never_granted_counts() {
        let waiting = Acquisition { enqueued: 2, ..Acquisition::called(0, 0, 1, 1) };
        let safety = judged(&[waiting, grant(1, 11, 50, 60, 70)], 2);
        assert_eq!((safety.fifo_inversions, safety.starved), (1, 1));
    }

    #[test]
    fn where_workers_queue_ahead_the_order_is_that_of_the_tokens() {
        // Worker 0 had queued again before worker 1 did, and called later.
        let acquisitions = [grant(1, 12, 2, 70, 80), grant(0, 11, 50, 55, 60)];
        assert_eq!(judged(&acquisitions, 2).fifo_inversions, 1);
        let ahead = Rules { queues_ahead: true, ..rules(2) };
        assert_eq!(check(&acquisitions, &ahead).fifo_inversions, 0);
        assert_eq!(check(&[grant(0, 12, 1, 5, 20), grant(1, 11, 1, 25, 30)], &ahead).fifo_inversions, 1);
    }

    proptest! {
        /// The linear pass finds just what comparing every pair finds.
        #[test]
        fn inversions_and_overlaps_match_the_definition(raw in prop::collection::vec((0u64..100, 0u64..50, 0u64..50), 0..40)) {
            let acquisitions: Vec<Acquisition> = raw
                .iter()
                .zip(0u32..)
                .map(|((called, wait, hold), worker)| grant(worker, i64::from(worker) + 1, called + 1, called + 3 + wait, called + 3 + wait + hold))
                .collect();
            let key = |a: &Acquisition| (a.granted, a.token);
            let inversions = acquisitions
                .iter()
                .filter(|b| acquisitions.iter().any(|a| key(a) > key(b) && a.enqueued < b.called))
                .count() as u64;
            let overlaps = acquisitions
                .iter()
                .filter(|b| acquisitions.iter().any(|a| key(a) < key(b) && b.granted < a.release_sent))
                .count() as u64;
            let found = judged(&acquisitions, 40);
            prop_assert_eq!((found.fifo_inversions, found.overlaps), (inversions, overlaps));
        }
    }
}
