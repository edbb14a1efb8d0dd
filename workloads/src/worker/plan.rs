//! What the workers of one trial share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;

use super::rest;
use super::updates::Counting;
use crate::fenced_store::FencedStore;
use crate::holders::Holders;
use crate::member::Meetings;
use crate::record::{Passage, Recorder};
use crate::settings::{Delay, Mode, WorkerSettings};
use crate::shared_counter::{SharedCounters, Updates};

/// How often a holder of a drain looks whether everybody has armed its watch.
const SETTLE_POLL: Duration = Duration::from_millis(1);

/// What the workers of one trial share. All of it is read or added to without a lock, and nobody is woken through it: the
/// workers meet in the ensemble alone. (Where faults are to come, a grant is noted under a lock that nobody contends for.)
pub struct Plan {
    pub(crate) recorder: Arc<Recorder>,
    pub(super) mode: Mode,
    pub(super) hold: Delay,
    pub(super) think: Delay,
    seed: u64,
    /// When the arrivals of an open loop are due, nanoseconds since the start; empty in the other modes.
    arrivals: Vec<u64>,
    next_arrival: AtomicUsize,
    /// Arrivals of which the acquisition has been called.
    arrivals_begun: AtomicUsize,
    /// Drain: workers that have not been granted yet.
    waiting: AtomicI64,
    /// Set when the measured time is over: nobody begins, and whoever holds keeps holding, until the books are closed.
    stopping: AtomicBool,
    /// What the members of barriers share; there only where there are any.
    pub(crate) meetings: Option<Meetings>,
    /// The counter that holders update; there only where one is kept.
    pub(super) counting: Option<Counting>,
    /// What is kept where faults are to come.
    pub(crate) under_faults: Option<UnderFaults>,
}

/// What is kept where faults are to come.
pub(crate) struct UnderFaults {
    /// Who holds what.
    pub holders: Holders,
    /// What holders write to.
    pub store: FencedStore,
    /// Sessions that were lost, and followed by another one.
    pub sessions_lost: AtomicU64,
}

impl Plan {
    /// The plan for a trial of `length`, of which every random choice follows from `seed`.
    pub fn new(settings: &WorkerSettings, length: Duration, seed: u64, recorder: Arc<Recorder>) -> Self {
        let arrivals = match &settings.mode {
            Mode::Open(arrivals) => arrivals.schedule(length, &mut SmallRng::seed_from_u64(seed)),
            Mode::Drain | Mode::Closed | Mode::Barriers { .. } => Vec::new(),
        };
        let resources = settings.resources.max(1);
        Plan {
            recorder,
            mode: settings.mode,
            hold: settings.hold,
            think: settings.think,
            seed,
            arrivals,
            next_arrival: AtomicUsize::new(0),
            arrivals_begun: AtomicUsize::new(0),
            waiting: AtomicI64::new(i64::from(settings.workers)),
            stopping: AtomicBool::new(false),
            meetings: Meetings::new(settings),
            counting: settings.updates.map(|length| Counting { counters: SharedCounters::new(resources), length }),
            under_faults: settings.precautions.faults.then(|| UnderFaults {
                holders: Holders::new(resources),
                store: FencedStore::new(resources),
                sessions_lost: AtomicU64::new(0),
            }),
        }
    }

    /// The random choices of one worker, apart from those of every other.
    pub(super) fn rng(&self, worker: u32) -> SmallRng {
        SmallRng::seed_from_u64(self.seed ^ (u64::from(worker) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// What the members of barriers have written down so far; none where there are no barriers.
    pub fn passages(&self) -> Vec<Passage> {
        self.meetings.as_ref().map(Meetings::passages).unwrap_or_default()
    }

    /// The updates of the shared counter so far; empty where none is kept.
    pub fn updates(&self) -> Updates {
        self.counting.as_ref().map(|counting| counting.counters.copy()).unwrap_or_default()
    }

    /// How many enters of barriers have ended so far, for a progress display.
    pub fn entered(&self) -> u64 {
        self.meetings.as_ref().map_or(0, Meetings::entered)
    }

    /// Lets the time pass for which a member works inside a barrier: for each of them as long as a grant would be held.
    pub(crate) async fn work(&self, worker: u32) {
        if self.hold != Delay::NONE {
            rest(self.hold.draw(&mut self.rng(worker))).await;
        }
    }

    /// Ends the measured time.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Arrivals that fell due before `end`, in nanoseconds since the start, and of which no acquisition was called: every
    /// worker was busy, or the end came before the worker that was to take it up had woken.
    pub fn arrivals_left(&self, end: u64) -> u64 {
        let due = self.arrivals.partition_point(|due| *due < end);
        due.saturating_sub(self.arrivals_begun.load(Ordering::Acquire)) as u64
    }

    /// The moment at which the next acquisition is due, once it has come; `None` when there is none any more.
    pub(super) async fn next_due(&self) -> Option<u64> {
        if self.is_stopping() {
            return None;
        }
        if !matches!(self.mode, Mode::Open(_)) {
            return Some(self.recorder.now());
        }
        let due = *self.arrivals.get(self.next_arrival.fetch_add(1, Ordering::AcqRel))?;
        tokio::time::sleep_until(self.recorder.instant(due)).await;
        if self.is_stopping() {
            return None;
        }
        self.arrivals_begun.fetch_add(1, Ordering::AcqRel);
        Some(due)
    }

    /// A worker waits no longer: it was granted, or leaves without. In a drain nobody may wait for its watch any more.
    pub(super) fn waits_no_longer(&self) {
        if self.mode == Mode::Drain {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Whether every worker that still waits has armed its watch.
    fn is_settled(&self) -> bool {
        self.recorder.standing_watches() == self.waiting.load(Ordering::Acquire)
    }

    /// Lets the time pass for which a grant is to be held; in a drain, also until everybody else has armed its watch.
    pub(super) async fn pass(&self, length: Duration) {
        rest(length).await;
        if self.mode != Mode::Drain {
            return;
        }
        while !self.is_settled() {
            tokio::time::sleep(SETTLE_POLL).await;
        }
        self.recorder.queue_stands();
    }
}
