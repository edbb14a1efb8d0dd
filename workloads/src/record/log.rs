//! The log of acquisitions: append-only, of fixed room, written by all workers at once.
//!
//! A writer takes the next place by one addition and fills it with plain stores, so it neither locks nor allocates. The room
//! is zeroed memory of the operating system's: a place costs nothing until it is written. What no longer fits is counted.
//! (A growing concurrent vector would allocate a bucket now and then, on the path that must not.)

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::acquisition::{Acquisition, Outcome};

/// An [`Acquisition`] in the making. `outcome` is 0 until everything else is written.
#[derive(bytemuck::Zeroable)]
struct Place {
    due: AtomicU64,
    called: AtomicU64,
    enqueued: AtomicU64,
    woken: AtomicU64,
    granted: AtomicU64,
    release_sent: AtomicU64,
    released: AtomicU64,
    over: AtomicU64,
    token: AtomicI64,
    worker: AtomicU32,
    resource: AtomicU32,
    wakeups: AtomicU32,
    stale_writes: AtomicU32,
    struck: AtomicBool,
    outcome: AtomicU8,
}

/// Outcomes by their code in a [`Place`], less one.
const OUTCOMES: [Outcome; 7] = [
    Outcome::Released,
    Outcome::Held,
    Outcome::Waiting,
    Outcome::Failed,
    Outcome::Lost,
    Outcome::Closed,
    Outcome::Crashed,
];

impl Place {
    fn write(&self, acquisition: &Acquisition) {
        let relaxed = Ordering::Relaxed;
        self.due.store(acquisition.due, relaxed);
        self.called.store(acquisition.called, relaxed);
        self.enqueued.store(acquisition.enqueued, relaxed);
        self.woken.store(acquisition.woken, relaxed);
        self.granted.store(acquisition.granted, relaxed);
        self.release_sent.store(acquisition.release_sent, relaxed);
        self.released.store(acquisition.released, relaxed);
        self.over.store(acquisition.over, relaxed);
        self.token.store(acquisition.token, relaxed);
        self.worker.store(acquisition.worker, relaxed);
        self.resource.store(acquisition.resource, relaxed);
        self.wakeups.store(acquisition.wakeups, relaxed);
        self.stale_writes.store(acquisition.stale_writes, relaxed);
        self.struck.store(acquisition.struck, relaxed);
        let code = match acquisition.outcome {
            Outcome::Released => 1,
            Outcome::Held => 2,
            Outcome::Waiting => 3,
            Outcome::Failed => 4,
            Outcome::Lost => 5,
            Outcome::Closed => 6,
            Outcome::Crashed => 7,
        };
        self.outcome.store(code, Ordering::Release);
    }

    /// The acquisition, if it has been written to the end.
    fn read(&self) -> Option<Acquisition> {
        let relaxed = Ordering::Relaxed;
        let code = usize::from(self.outcome.load(Ordering::Acquire));
        let outcome = *OUTCOMES.get(code.checked_sub(1)?)?;
        Some(Acquisition {
            worker: self.worker.load(relaxed),
            resource: self.resource.load(relaxed),
            outcome,
            wakeups: self.wakeups.load(relaxed),
            token: self.token.load(relaxed),
            due: self.due.load(relaxed),
            called: self.called.load(relaxed),
            enqueued: self.enqueued.load(relaxed),
            woken: self.woken.load(relaxed),
            granted: self.granted.load(relaxed),
            release_sent: self.release_sent.load(relaxed),
            released: self.released.load(relaxed),
            over: self.over.load(relaxed),
            stale_writes: self.stale_writes.load(relaxed),
            struck: self.struck.load(relaxed),
        })
    }
}

pub(super) struct Log {
    places: Box<[Place]>,
    next: AtomicUsize,
}

impl Log {
    /// A log with room for `capacity` acquisitions.
    pub(super) fn new(capacity: usize) -> Self {
        Log { places: bytemuck::zeroed_slice_box(capacity), next: AtomicUsize::new(0) }
    }

    /// Writes an acquisition down, unless there is no room left.
    pub(super) fn push(&self, acquisition: &Acquisition) {
        if let Some(place) = self.places.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            place.write(acquisition);
        }
    }

    /// Acquisitions pushed so far, whether or not there was room.
    pub(super) fn pushed(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Acquisitions for which there was no room.
    pub(super) fn dropped(&self) -> u64 {
        self.pushed().saturating_sub(self.places.len()) as u64
    }

    /// Everything written.
    pub(super) fn copy(&self) -> Vec<Acquisition> {
        self.places[..self.pushed().min(self.places.len())].iter().filter_map(Place::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_comes_back() {
        let log = Log::new(OUTCOMES.len());
        let written: Vec<Acquisition> = OUTCOMES
            .into_iter()
            .zip(1u32..)
            .map(|(outcome, n)| Acquisition {
                worker: n,
                resource: 10 + n,
                outcome,
                wakeups: 20 + n,
                token: 30 + i64::from(n),
                due: 40 + u64::from(n),
                called: 50 + u64::from(n),
                enqueued: 60 + u64::from(n),
                woken: 70 + u64::from(n),
                granted: 80 + u64::from(n),
                release_sent: 90 + u64::from(n),
                released: 100 + u64::from(n),
                over: 110 + u64::from(n),
                stale_writes: 120 + n,
                struck: n % 2 == 0,
            })
            .collect();
        written.iter().for_each(|acquisition| log.push(acquisition));
        assert_eq!(log.copy(), written);
        assert_eq!(log.dropped(), 0);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let log = Log::new(2);
        (0..5).for_each(|worker| log.push(&Acquisition::called(worker, 0, 1, 1)));
        assert_eq!((log.copy().len(), log.dropped()), (2, 3));
    }
}
