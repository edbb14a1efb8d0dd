//! What the members of a trial share: where each barrier stands, and what they have done.
//!
//! All of it is read or added to without a lock, and nobody is woken through it: the members meet in the ensemble alone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

use crate::recipe::barrier::Witness;
use crate::record::Passage;
use crate::record::passage::Passages;
use crate::settings::{Mode, Recipe, WorkerSettings};

/// One way through a barrier: in or out.
#[derive(Default)]
pub(super) struct Way {
    /// Members that have called.
    pub come: AtomicU64,
    armed: AtomicU64,
    woken: AtomicU64,
}

impl Way {
    /// Whether so many members wait after so many wake-ups in all: neither number alone would do, since a member that is about
    /// to be woken still counts as one that waits.
    pub fn is_settled(&self, waiting: u64, woken: u64) -> bool {
        self.woken.load(Acquire) == woken && self.armed.load(Acquire) == woken + waiting
    }
}

/// One barrier.
pub(super) struct Meeting {
    pub way_in: Way,
    pub way_out: Way,
    /// Members that have entered.
    pub inside: AtomicU64,
    /// The smallest rank of those.
    pub lowest: AtomicU64,
}

/// What the members of a trial share.
pub(crate) struct Meetings {
    pub(super) recipe: Recipe,
    pub(super) members: u64,
    /// See [`Mode::Barriers`].
    pub(super) settled: bool,
    pub(super) places: Box<[Meeting]>,
    pub(super) passages: Passages,
    /// Single barriers: whether the controller has set them.
    pub(super) are_set: AtomicBool,
}

impl Meetings {
    /// Those of a trial of barriers; `None` for any other.
    pub fn new(settings: &WorkerSettings) -> Option<Self> {
        let Mode::Barriers { barriers, settled } = settings.mode else { return None };
        let meeting = |_| Meeting {
            way_in: Way::default(),
            way_out: Way::default(),
            inside: AtomicU64::new(0),
            lowest: AtomicU64::new(u64::MAX),
        };
        Some(Meetings {
            recipe: settings.recipe,
            members: u64::from(settings.workers),
            settled,
            places: (0..barriers).map(meeting).collect(),
            passages: Passages::new(settings.workers, barriers),
            are_set: AtomicBool::new(false),
        })
    }

    /// How many barriers there are.
    pub fn barriers(&self) -> u32 {
        u32::try_from(self.places.len()).unwrap_or(u32::MAX)
    }

    /// How many enters have ended so far.
    pub fn entered(&self) -> u64 {
        self.places.iter().map(|meeting| meeting.inside.load(Acquire)).sum()
    }

    /// What was written down.
    pub fn passages(&self) -> Vec<Passage> {
        self.passages.copy()
    }

    pub(super) fn set(&self) {
        self.are_set.store(true, Release);
    }

    pub(super) fn is_set(&self) -> bool {
        self.are_set.load(Acquire)
    }
}

/// Counts one member's waits at one barrier.
pub(super) struct Waits<'a> {
    pub meetings: &'a Meetings,
    pub worker: u32,
    pub barrier: u32,
    pub on_the_way_out: bool,
}

impl Waits<'_> {
    fn way(&self) -> &Way {
        let meeting = &self.meetings.places[self.barrier as usize];
        if self.on_the_way_out { &meeting.way_out } else { &meeting.way_in }
    }
}

impl Witness for Waits<'_> {
    fn armed(&mut self) {
        self.way().armed.fetch_add(1, AcqRel);
    }

    fn woken(&mut self) {
        self.way().woken.fetch_add(1, AcqRel);
        self.meetings.passages.woken(self.worker, self.barrier, self.on_the_way_out);
    }
}
