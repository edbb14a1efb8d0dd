//! Latencies by stage of an acquisition, and the handoff from one holder to the next.

use workloads::record::{Acquisition, Outcome};

use super::histogram::{self, Micros};
use super::safety::OfLock;

/// One histogram for each stage.
pub struct Stages {
    /// Due to granted.
    pub acquire: Micros,
    /// Called to granted.
    pub service: Micros,
    /// Called to queued.
    pub enqueue: Micros,
    /// Queued to last wake-up; only those that had to wait.
    pub wait: Micros,
    /// Last wake-up to grant; only those that had to wait.
    pub wake_to_grant: Micros,
    /// Release sent to next grant of the same lock, where somebody was waiting at the release.
    pub handoff: Micros,
}

impl Default for Stages {
    fn default() -> Self {
        let empty = histogram::empty;
        Stages {
            acquire: empty(),
            service: empty(),
            enqueue: empty(),
            wait: empty(),
            wake_to_grant: empty(),
            handoff: empty(),
        }
    }
}

impl Stages {
    /// The stages of one trial.
    pub(super) fn of(acquisitions: &[Acquisition], locks: &[OfLock<'_>]) -> Stages {
        let mut stages = Stages::default();
        for acquisition in acquisitions {
            stages.add(acquisition);
        }
        for lock in locks {
            stages.add_handoffs(&lock.granted);
        }
        stages
    }

    fn add(&mut self, acquisition: &Acquisition) {
        let Acquisition { due, called, enqueued, woken, granted, .. } = *acquisition;
        if enqueued != 0 {
            histogram::record(&mut self.enqueue, enqueued.saturating_sub(called));
        }
        if granted == 0 {
            return;
        }
        histogram::record(&mut self.acquire, granted.saturating_sub(due));
        histogram::record(&mut self.service, granted.saturating_sub(called));
        if woken != 0 {
            histogram::record(&mut self.wait, woken.saturating_sub(enqueued));
            histogram::record(&mut self.wake_to_grant, granted.saturating_sub(woken));
        }
    }

    /// The time that the lock stood idle between two holders. Where the next holder had not even called when the release was
    /// sent, the lock was idle for want of demand, and that is no handoff.
    fn add_handoffs(&mut self, granted: &[&Acquisition]) {
        for pair in granted.windows(2) {
            let (previous, next) = (pair[0], pair[1]);
            if previous.outcome == Outcome::Released && next.called <= previous.release_sent {
                histogram::record(&mut self.handoff, next.granted.saturating_sub(previous.release_sent));
            }
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Stages) {
        let add = |into: &mut Micros, from: &Micros| histogram::merge(into, from);
        add(&mut self.acquire, &other.acquire);
        add(&mut self.service, &other.service);
        add(&mut self.enqueue, &other.enqueue);
        add(&mut self.wait, &other.wait);
        add(&mut self.wake_to_grant, &other.wake_to_grant);
        add(&mut self.handoff, &other.handoff);
    }

    /// All stages by the name that results have for them.
    pub fn named(&self) -> [(&'static str, &Micros); 6] {
        [
            ("acquire", &self.acquire),
            ("service", &self.service),
            ("enqueue", &self.enqueue),
            ("wait", &self.wait),
            ("wake_to_grant", &self.wake_to_grant),
            ("handoff", &self.handoff),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::safety::by_lock;
    use super::*;

    #[test]
    fn every_stage_is_counted_where_it_was_reached() {
        const MS: u64 = 1_000_000;
        let first = Acquisition {
            outcome: Outcome::Released,
            token: 1,
            enqueued: 2 * MS,
            granted: 3 * MS,
            release_sent: 10 * MS,
            released: 11 * MS,
            ..Acquisition::called(0, 0, MS, MS)
        };
        // Due at 1 ms, taken up at 4, queued at 5, woken at 12, granted at 14.
        let second = Acquisition {
            outcome: Outcome::Held,
            token: 2,
            enqueued: 5 * MS,
            woken: 12 * MS,
            wakeups: 1,
            granted: 14 * MS,
            ..Acquisition::called(1, 0, MS, 4 * MS)
        };
        let acquisitions = [first, second];
        let stages = Stages::of(&acquisitions, &by_lock(&acquisitions));
        let longest = |histogram: &Micros| (histogram.len(), histogram.max() / 1_000);
        assert_eq!(longest(&stages.acquire), (2, 13));
        assert_eq!(longest(&stages.service), (2, 10));
        assert_eq!(longest(&stages.enqueue), (2, 1));
        assert_eq!(longest(&stages.wait), (1, 7));
        assert_eq!(longest(&stages.wake_to_grant), (1, 2));
        assert_eq!(longest(&stages.handoff), (1, 4));
    }

    #[test]
    fn a_lock_that_nobody_wanted_was_not_handed_over() {
        let grant = |token, called, granted, release_sent| Acquisition {
            outcome: Outcome::Released,
            token,
            granted,
            release_sent,
            ..Acquisition::called(0, 0, called, called)
        };
        let acquisitions = [grant(1, 1, 2, 3), grant(2, 50, 60, 70)];
        assert!(Stages::of(&acquisitions, &by_lock(&acquisitions)).handoff.is_empty());
    }
}
