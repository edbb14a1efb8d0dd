//! The recorder that all sessions and workers of one trial write to.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::acquisition::Acquisition;
use super::fan_out::{FanOutTable, InstanceFanOut};
use super::tally::{EventKind, RequestKind, ShardedTally, Tally};
use super::timeline::{Slot, Timeline};

/// How much a recorder sets room aside for. Room that is never written costs no memory.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// The longest that the trial can take.
    pub length: Duration,
    /// Grants, and so instances with a fan-out; what goes beyond is told as untracked.
    pub grants: usize,
}

/// Keeps what the sessions and workers of one trial do.
///
/// Every method on the recording path is a few relaxed atomic additions: no lock, no allocation. It counts from the moment
/// it is [opened](Recorder::open) until it is [closed](Recorder::close), so that connecting and tearing down stay out.
pub struct Recorder {
    created: Instant,
    /// The start of the trial, in nanoseconds since `created`.
    start: AtomicU64,
    counting: AtomicBool,
    /// Whether requests and notifications are counted at all; acquisitions always are.
    telemetry: bool,
    tally: ShardedTally,
    timeline: Timeline,
    fan_out: FanOutTable,
    /// Watches that stand on instances that have not ended; see [`Recorder::standing_watches`].
    standing: AtomicI64,
    acquisitions: boxcar::Vec<Acquisition>,
}

/// Everything that a recorder kept, as plain data.
#[derive(Clone, Debug)]
pub struct Recording {
    /// From the start of the trial to the closing of the books, in nanoseconds.
    pub length: u64,
    /// Totals by kind.
    pub tally: Tally,
    /// One slot a millisecond.
    pub timeline: Vec<Slot>,
    /// Notifications by the instance that caused them, by token.
    pub fan_out: Vec<InstanceFanOut>,
    /// Notifications and watches of which the instance could not be tracked, for want of room.
    pub untracked: u64,
    /// All acquisitions, in no particular order.
    pub acquisitions: Vec<Acquisition>,
}

impl Recorder {
    /// A recorder that is not yet open. `telemetry: false` makes it keep acquisitions alone, to show what the counting costs.
    pub fn new(capacity: Capacity, telemetry: bool) -> Self {
        Recorder {
            created: Instant::now(),
            start: AtomicU64::new(0),
            counting: AtomicBool::new(false),
            telemetry,
            tally: ShardedTally::default(),
            timeline: Timeline::new(capacity.length),
            fan_out: FanOutTable::new(capacity.grants),
            standing: AtomicI64::new(0),
            acquisitions: boxcar::Vec::with_capacity(capacity.grants.min(1 << 16)),
        }
    }

    /// Sets the start of the trial to this moment and begins to count. Sessions may already exist, as long as they rest.
    pub fn open(&self) {
        self.start.store(self.created.elapsed().as_nanos() as u64, Ordering::Release);
        self.counting.store(self.telemetry, Ordering::Release);
    }

    /// Stops counting: what sessions do from here on is tearing down.
    pub fn close(&self) {
        self.counting.store(false, Ordering::Release);
    }

    fn is_counting(&self) -> bool {
        self.counting.load(Ordering::Relaxed)
    }

    /// Nanoseconds since the start of the trial, on the monotonic clock that all workers share. Never 0, which in an
    /// [`Acquisition`] means a stage that was not reached.
    pub fn now(&self) -> u64 {
        (self.created.elapsed().as_nanos() as u64).saturating_sub(self.start.load(Ordering::Relaxed)).max(1)
    }

    /// The moment that `nanos` since the start of the trial stands for.
    pub fn instant(&self, nanos: u64) -> Instant {
        self.created + Duration::from_nanos(self.start.load(Ordering::Relaxed) + nanos)
    }

    /// A request is being sent.
    pub fn request(&self, kind: RequestKind) {
        if self.is_counting() {
            self.tally.request(kind);
            self.timeline.request(self.now());
        }
    }

    /// A response of `bytes` bytes, header included, has arrived.
    pub fn response(&self, kind: RequestKind, bytes: u64) {
        if self.is_counting() {
            self.tally.response(kind, bytes);
            self.timeline.response(self.now(), bytes);
        }
    }

    /// A notification has arrived; `instance` is the token of what it watched, where that is known.
    pub fn notification(&self, kind: EventKind, instance: Option<i64>) {
        let stood = if self.is_counting() {
            let now = self.now();
            self.tally.notification(kind);
            self.timeline.notification(now);
            instance.is_some_and(|token| self.fan_out.notified(token, now))
        } else {
            self.telemetry && instance.is_some_and(|token| self.fan_out.disarmed(token))
        };
        if stood {
            self.standing.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// A watch on `instance` stands on the server.
    pub fn armed(&self, instance: i64) {
        if self.telemetry && self.fan_out.armed(instance) {
            self.standing.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// A watch on `instance` is gone without having fired: it was taken back, or its session is over.
    pub fn disarmed(&self, instance: i64) {
        if self.telemetry && self.fan_out.disarmed(instance) {
            self.standing.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// `instance` is about to end by its owner's release: the watches on it are no longer standing.
    pub fn ending(&self, instance: i64) {
        if self.telemetry {
            self.standing.fetch_sub(i64::from(self.fan_out.ending(instance)), Ordering::AcqRel);
        }
    }

    /// Watches that stand on instances that have not been [ended](Recorder::ending). In a drain, once this reaches the
    /// number of those who still wait, everybody has armed its watch and the release's fan-out is what the closed form says.
    pub fn standing_watches(&self) -> i64 {
        self.standing.load(Ordering::Acquire)
    }

    /// Keeps an acquisition that is over.
    pub fn acquisition(&self, acquisition: Acquisition) {
        self.acquisitions.push(acquisition);
    }

    /// Grants and other ends of acquisitions kept so far.
    pub fn acquisition_count(&self) -> usize {
        self.acquisitions.count()
    }

    /// The totals so far.
    pub fn tally(&self) -> Tally {
        self.tally.total()
    }

    /// Copies everything out; `length` is the trial's length up to the closing of the books, in nanoseconds.
    pub fn finish(&self, length: u64) -> Recording {
        Recording {
            length,
            tally: self.tally.total(),
            timeline: if self.telemetry { self.timeline.copy(length) } else { Vec::new() },
            fan_out: self.fan_out.copy(),
            untracked: self.fan_out.untracked(),
            acquisitions: self.acquisitions.iter().map(|(_, acquisition)| *acquisition).collect(),
        }
    }
}
