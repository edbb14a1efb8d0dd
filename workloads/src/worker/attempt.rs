//! An acquisition that is under way, as it is written down.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::recipe::{Grant, Observer};
use crate::record::{Acquisition, Outcome, Recorder};

/// What faults did to a worker: set by whoever carries them out, and read when what it was doing is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    /// How it was made to end, if it was.
    ended: AtomicU8,
    /// How often it was stopped or cut off.
    strikes: AtomicU32,
}

const CLOSED: u8 = 1;
const CRASHED: u8 = 2;

impl Fate {
    /// Its session is being closed.
    pub fn close(&self) {
        self.0.ended.store(CLOSED, Ordering::Release);
    }

    /// It dies.
    pub fn crash(&self) {
        self.0.ended.store(CRASHED, Ordering::Release);
    }

    /// It is being stopped or cut off, and does not know.
    pub fn strike(&self) {
        self.0.strikes.fetch_add(1, Ordering::AcqRel);
    }

    fn strikes(&self) -> u32 {
        self.0.strikes.load(Ordering::Acquire)
    }

    /// Whether nobody has ended it.
    pub fn lives(&self) -> bool {
        self.outcome().is_none()
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.0.ended.load(Ordering::Acquire) {
            CLOSED => Some(Outcome::Closed),
            CRASHED => Some(Outcome::Crashed),
            _ => None,
        }
    }
}

/// An acquisition that is under way. It is kept when it is dropped, so that one which the end of the trial, or of the
/// worker, cuts off is written down as well.
pub(super) struct Attempt<'a> {
    recorder: &'a Recorder,
    fate: &'a Fate,
    acquisition: Acquisition,
    /// How often the worker had been struck when it was granted.
    strikes: u32,
}

impl<'a> Attempt<'a> {
    pub fn new(recorder: &'a Recorder, fate: &'a Fate, worker: u32, resource: u32, due: u64) -> Self {
        Attempt { recorder, fate, acquisition: Acquisition::called(worker, resource, due, recorder.now()), strikes: 0 }
    }

    pub fn granted(&mut self, grant: &Grant) {
        self.acquisition.granted = self.recorder.now();
        self.acquisition.token = grant.token;
        self.acquisition.outcome = Outcome::Held;
        self.strikes = self.fate.strikes();
    }

    /// The worker does not act on the grant any more.
    fn over(&mut self) {
        self.acquisition.over = self.recorder.now();
        self.look_for_strikes();
    }

    fn look_for_strikes(&mut self) {
        self.acquisition.struck = self.acquisition.is_granted() && self.fate.strikes() != self.strikes;
    }

    pub fn releasing(&mut self) {
        self.over();
        self.acquisition.release_sent = self.acquisition.over;
    }

    pub fn released(&mut self) {
        self.acquisition.released = self.recorder.now();
        self.acquisition.outcome = Outcome::Released;
    }

    /// The holder has learnt that its grant is over, or may be.
    pub fn lost(&mut self) {
        self.over();
        self.acquisition.outcome = Outcome::Lost;
    }

    /// A write under the grant was refused.
    pub fn stale_write(&mut self) {
        self.acquisition.stale_writes += 1;
    }

    pub fn failed(&mut self) {
        self.acquisition.outcome = Outcome::Failed;
    }
}

impl Observer for Attempt<'_> {
    fn enqueued(&mut self) {
        self.acquisition.enqueued = self.recorder.now();
    }

    fn woken(&mut self) {
        self.acquisition.woken = self.recorder.now();
        self.acquisition.wakeups += 1;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let under_way = matches!(self.acquisition.outcome, Outcome::Held | Outcome::Waiting);
        if let (true, Some(outcome)) = (under_way, self.fate.outcome()) {
            self.acquisition.outcome = outcome;
            self.over();
        } else if under_way {
            self.look_for_strikes();
        }
        self.recorder.acquisition(self.acquisition);
    }
}
