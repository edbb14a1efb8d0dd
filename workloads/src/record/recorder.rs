//! The recorder that all sessions and workers of one trial write to.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::acquisition::Acquisition;
use super::fan_out::{FanOutTable, InstanceFanOut};
use super::log::Log;
use super::tally::{EventKind, RequestKind, ShardedTally, Tally};
use super::timeline::{Slot, Timeline};

/// How much a recorder sets room aside for. Room that is never written costs no memory.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// The longest that the trial can take.
    pub length: Duration,
    /// Acquisitions, and instances with a fan-out; what goes beyond is told as untracked.
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
    /// Late notifications, by the revision at which their instance ended.
    late: FanOutTable,
    /// Watches that stand on instances that have not ended; see [`Recorder::standing_watches`].
    standing: AtomicI64,
    /// The totals when the queue of a drain stood.
    joined: OnceLock<Tally>,
    acquisitions: Log,
}

/// Everything that a recorder kept, as plain data.
#[derive(Clone, Debug)]
pub struct Recording {
    /// From the start of the trial to the closing of the books, in nanoseconds.
    pub length: u64,
    /// Totals by kind.
    pub tally: Tally,
    /// Of these, what came before the queue of a drain stood: the burst in which workers join it; `None` in the other modes, and
    /// where it never did.
    pub joined: Option<Tally>,
    /// One slot a millisecond.
    pub timeline: Vec<Slot>,
    /// Notifications by the instance that caused them, by token.
    pub fan_out: Vec<InstanceFanOut>,
    /// Notifications and watches of which the instance could not be tracked, and acquisitions not written down, for want of
    /// room; and late notifications of an instance whose end nobody else saw.
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
            late: FanOutTable::new(capacity.grants),
            standing: AtomicI64::new(0),
            joined: OnceLock::new(),
            acquisitions: Log::new(capacity.grants),
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
            if !kind.is_upkeep() {
                self.timeline.request(self.now());
            }
        }
    }

    /// A response of `bytes` bytes, header included, has arrived.
    pub fn response(&self, kind: RequestKind, bytes: u64) {
        if self.is_counting() {
            self.tally.response(kind, bytes);
            if !kind.is_upkeep() {
                self.timeline.response(self.now(), bytes);
            }
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

    /// A notification has arrived on a watch that had already fired. Which instance it is of is known by the revision at
    /// which that ended, once somebody has told so to [`Recorder::ended`].
    pub fn late_notification(&self, kind: EventKind, ended_at: i64) {
        if self.is_counting() {
            let now = self.now();
            self.tally.notification(kind);
            self.timeline.notification(now);
            self.late.notified(ended_at, now);
        }
    }

    /// `instance` ended at this revision of the service's history.
    pub fn ended(&self, instance: i64, at: i64) {
        if self.is_counting() {
            self.fan_out.ended(instance, at);
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

    /// The queue of a drain stands: whoever waits has armed its watch, and nothing is under way. The first time counts.
    pub fn queue_stands(&self) {
        if self.is_counting() {
            self.joined.get_or_init(|| self.tally.total());
        }
    }

    /// Keeps an acquisition that is over.
    pub fn acquisition(&self, acquisition: Acquisition) {
        self.acquisitions.push(&acquisition);
    }

    /// Grants and other ends of acquisitions kept so far.
    pub fn acquisition_count(&self) -> usize {
        self.acquisitions.pushed()
    }

    /// The totals so far.
    pub fn tally(&self) -> Tally {
        self.tally.total()
    }

    /// Copies everything out; `length` is the trial's length up to the closing of the books, in nanoseconds.
    pub fn finish(&self, length: u64) -> Recording {
        let (fan_out, of_nobody) = self.fan_out.copy_with(&self.late);
        Recording {
            length,
            tally: self.tally.total(),
            joined: self.joined.get().cloned(),
            timeline: if self.telemetry { self.timeline.copy(length) } else { Vec::new() },
            fan_out,
            untracked: self.fan_out.untracked() + self.late.untracked() + of_nobody + self.acquisitions.dropped(),
            acquisitions: self.acquisitions.copy(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::record::Outcome;

    const SECOND: Duration = Duration::from_secs(1);

    fn recorder(grants: usize, telemetry: bool) -> Recorder {
        Recorder::new(Capacity { length: 600 * SECOND, grants }, telemetry)
    }

    #[test]
    fn nothing_is_lost_when_many_threads_record_at_once() {
        const THREADS: u64 = 12;
        const ROUNDS: u64 = 20_000;
        const INSTANCES: i64 = 50;
        let recorder = recorder(5000, true);
        recorder.open();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let recorder = &recorder;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let instance = (round as i64 + thread as i64) % INSTANCES + 1;
                        recorder.request(RequestKind::ALL[(round % 8) as usize]);
                        recorder.response(RequestKind::GetChildren, round);
                        recorder.armed(instance);
                        recorder.notification(EventKind::Deleted, Some(instance));
                        if round % 100 == 0 {
                            let mut acquisition = Acquisition::called(thread as u32, 0, round, round);
                            acquisition.outcome = Outcome::Released;
                            recorder.acquisition(acquisition);
                        }
                    }
                });
            }
        });
        let total = THREADS * ROUNDS;
        let recording = recorder.finish(recorder.now());
        assert_eq!(recording.tally.requests[..8], [total / 8; 8]);
        let bytes = THREADS * (ROUNDS * (ROUNDS - 1) / 2);
        assert_eq!(recording.tally.response_bytes[RequestKind::GetChildren as usize], bytes);
        assert_eq!(recording.tally.total_response_bytes(), bytes);
        assert_eq!(recording.tally.notifications, [0, total, 0, 0]);
        let slots = recording.timeline.iter();
        assert_eq!(slots.clone().map(|slot| u64::from(slot.requests)).sum::<u64>(), total);
        assert_eq!(slots.clone().map(|slot| u64::from(slot.notifications)).sum::<u64>(), total);
        assert_eq!(slots.map(|slot| slot.response_bytes).sum::<u64>(), bytes);
        assert_eq!(recording.fan_out.len(), INSTANCES as usize);
        for instance in &recording.fan_out {
            assert_eq!(u64::from(instance.notifications), total / INSTANCES as u64);
            assert!(instance.first <= instance.last);
        }
        assert_eq!((recording.untracked, recorder.standing_watches()), (0, 0));
        assert_eq!(recording.acquisitions.len() as u64, THREADS * ROUNDS / 100);
        assert_eq!(recorder.acquisition_count() as u64, THREADS * ROUNDS / 100);
    }

    fn record_one_of_each(recorder: &Recorder) {
        recorder.request(RequestKind::Create);
        recorder.response(RequestKind::Create, 100);
        recorder.notification(EventKind::Deleted, Some(7));
    }

    fn is_empty(recording: &Recording) -> bool {
        recording.tally == Tally::default()
            && recording.timeline.iter().all(|slot| *slot == Slot::default())
            && recording.fan_out.iter().all(|instance| instance.notifications == 0)
    }

    #[test]
    fn nothing_counts_before_the_opening_and_after_the_closing() {
        let recorder = recorder(10, true);
        record_one_of_each(&recorder);
        assert!(is_empty(&recorder.finish(recorder.now())));
        recorder.open();
        record_one_of_each(&recorder);
        recorder.close();
        record_one_of_each(&recorder);
        let recording = recorder.finish(recorder.now());
        let tally = &recording.tally;
        assert_eq!((tally.total_requests(), tally.total_response_bytes(), tally.total_notifications()), (1, 100, 1));
        assert_eq!((recording.fan_out.len(), recording.fan_out[0].notifications), (1, 1));
    }

    #[test]
    fn without_telemetry_acquisitions_alone_are_kept() {
        let recorder = recorder(10, false);
        recorder.open();
        record_one_of_each(&recorder);
        recorder.armed(7);
        recorder.acquisition(Acquisition::called(0, 0, 1, 1));
        let recording = recorder.finish(recorder.now());
        assert!(is_empty(&recording) && recording.timeline.is_empty());
        assert_eq!((recording.acquisitions.len(), recorder.standing_watches()), (1, 0));
    }

    #[test]
    fn a_watch_stands_until_its_instance_is_ending_or_it_fires_or_is_taken_back() {
        let recorder = recorder(10, true);
        // Watches are noted whether or not the books are open: they may be armed before.
        for instance in [1, 1, 1, 2, 2, 3] {
            recorder.armed(instance);
        }
        recorder.open();
        assert_eq!(recorder.standing_watches(), 6);
        recorder.disarmed(1);
        assert_eq!(recorder.standing_watches(), 5);
        recorder.ending(1);
        assert_eq!(recorder.standing_watches(), 3);
        // Those that an announced end notifies have been taken off already.
        recorder.notification(EventKind::Deleted, Some(1));
        recorder.notification(EventKind::Deleted, Some(1));
        assert_eq!(recorder.standing_watches(), 3);
        // An instance that ends unannounced, as with an expired session, takes them off one by one.
        recorder.notification(EventKind::Deleted, Some(2));
        assert_eq!(recorder.standing_watches(), 2);
        recorder.close();
        recorder.notification(EventKind::Deleted, Some(2));
        assert_eq!(recorder.standing_watches(), 1);
        recorder.ending(3);
        recorder.ending(3);
        recorder.disarmed(3);
        recorder.ending(99);
        assert_eq!(recorder.standing_watches(), 0);
    }

    #[test]
    fn what_came_before_the_queue_stood_is_kept_apart() {
        let recorder = recorder(10, true);
        recorder.open();
        assert_eq!(recorder.finish(recorder.now()).joined, None);
        record_one_of_each(&recorder);
        recorder.queue_stands();
        record_one_of_each(&recorder);
        // It stands before each release.
        recorder.queue_stands();
        let recording = recorder.finish(recorder.now());
        let joined = recording.joined.unwrap();
        assert_eq!((joined.total_requests(), joined.total_response_bytes(), joined.total_notifications()), (1, 100, 1));
        assert_eq!(recording.tally.total_requests(), 2);
    }

    #[test]
    fn the_start_of_the_trial_is_the_opening() {
        let recorder = recorder(10, true);
        recorder.open();
        let now = recorder.now();
        assert!(now > 0 && recorder.instant(now) <= Instant::now());
        assert!(recorder.instant(1_000_000_000_000) > Instant::now());
    }
}
