//! An acquisition that is under way, as it is written down.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::recipe::{Grant, Observer};
use crate::record::{Acquisition, Outcome, Recorder};

/// How a worker was made to end, if it was: set by whoever ends it, and read when what it was doing is dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<AtomicU8>);

const CLOSED: u8 = 1;
const CRASHED: u8 = 2;

impl Fate {
    /// Its session is being closed.
    pub fn close(&self) {
        self.0.store(CLOSED, Ordering::Release);
    }

    /// It dies.
    pub fn crash(&self) {
        self.0.store(CRASHED, Ordering::Release);
    }

    /// Whether nobody has ended it.
    pub fn lives(&self) -> bool {
        self.outcome().is_none()
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.0.load(Ordering::Acquire) {
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
}

impl<'a> Attempt<'a> {
    pub fn new(recorder: &'a Recorder, fate: &'a Fate, worker: u32, resource: u32, due: u64) -> Self {
        Attempt { recorder, fate, acquisition: Acquisition::called(worker, resource, due, recorder.now()) }
    }

    pub fn granted(&mut self, grant: &Grant) {
        self.acquisition.granted = self.recorder.now();
        self.acquisition.token = grant.token;
        self.acquisition.outcome = Outcome::Held;
    }

    pub fn releasing(&mut self) {
        let now = self.recorder.now();
        self.acquisition.release_sent = now;
        self.acquisition.over = now;
    }

    pub fn released(&mut self) {
        self.acquisition.released = self.recorder.now();
        self.acquisition.outcome = Outcome::Released;
    }

    /// The holder has learnt that its grant is over, or may be.
    pub fn lost(&mut self) {
        self.acquisition.over = self.recorder.now();
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
            self.acquisition.over = self.recorder.now();
        }
        self.recorder.acquisition(self.acquisition);
    }
}
