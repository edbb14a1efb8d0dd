//! A run of one seed, and what came of it.
use std::sync::{Arc, Mutex, PoisonError};

use workloads::chaos::Trace;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The first promise that was broken.
    pub violation: Option<String>,
    /// Grants, or passages of a barrier: that an exploration explored something.
    pub passed: u64,
    /// Sessions that were lost, workers that died: that something went wrong at all.
    pub losses: u64,
    /// Line by line, where that was asked for.
    pub trace: Vec<String>,
}

/// Where those who take part in a run tell what happens to them. Clones tell the same.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    story: Arc<Mutex<Story>>,
    trace: Trace,
}

impl Telling {
    pub fn new(trace: Trace) -> Self {
        Telling { story: Arc::default(), trace }
    }

    pub fn note(&self, line: impl FnOnce() -> String) {
        self.trace.note(line);
    }

    /// A promise is broken. What comes after it is a consequence, as often as not, so that the first counts.
    pub fn violation(&self, what: impl FnOnce() -> String) {
        let mut story = self.story.lock().unwrap_or_else(PoisonError::into_inner);
        if story.violation.is_none() {
            let what = what();
            self.trace.note(|| format!("BROKEN: {what}"));
            story.violation = Some(what);
        }
    }

    pub fn passed(&self) {
        self.story.lock().unwrap_or_else(PoisonError::into_inner).passed += 1;
    }

    pub fn loss(&self) {
        self.story.lock().unwrap_or_else(PoisonError::into_inner).losses += 1;
    }

    pub fn story(&self) -> Story {
        let story = self.story.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Story { trace: self.trace.lines(), ..story }
    }
}
