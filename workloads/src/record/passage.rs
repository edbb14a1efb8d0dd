//! One member's way through one barrier, and the table of all of them.
//!
//! Who goes where is known beforehand, so each passage has a place of its own: writing a moment down is one plain store, which
//! neither locks nor allocates. The room is zeroed memory of the operating system's.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

/// One member's way through one barrier. Times are nanoseconds since the start of the trial, on one monotonic clock that all
/// workers of the process share; 0 means that the moment was not reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The member.
    pub worker: u32,
    /// The barrier.
    pub barrier: u32,
    /// When enter was called. Of a single barrier: when the wait was called; of its controller, when the removal was.
    pub arrived: u64,
    /// When it returned: the member is inside.
    pub released: u64,
    /// When leave was called: the member has finished its work. 0 where there is no leave.
    pub leaving: u64,
    /// When it returned: the member is out.
    pub left: u64,
    /// Wake-ups on the way in.
    pub wakeups_in: u32,
    /// Wake-ups on the way out.
    pub wakeups_out: u32,
}

/// A moment of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Arrived,
    Released,
    Leaving,
    Left,
}

/// A [`Passage`] in the making.
#[derive(bytemuck::Zeroable)]
struct Place {
    moments: [AtomicU64; 4],
    wakeups: [AtomicU32; 2],
}

/// All passages of a trial.
pub(crate) struct Passages {
    barriers: u32,
    places: Box<[Place]>,
}

impl Passages {
    /// Room for so many members, each of which passes so many barriers.
    pub fn new(members: u32, barriers: u32) -> Self {
        let places = members as usize * barriers as usize;
        Passages { barriers, places: bytemuck::zeroed_slice_box(places) }
    }

    fn place(&self, worker: u32, barrier: u32) -> Option<&Place> {
        self.places.get(worker as usize * self.barriers as usize + barrier as usize)
    }

    /// The moment has come at `now`.
    pub fn note(&self, worker: u32, barrier: u32, moment: Moment, now: u64) {
        if let Some(place) = self.place(worker, barrier) {
            place.moments[moment as usize].store(now, Relaxed);
        }
    }

    /// A wake-up, on the way out or in.
    pub fn woken(&self, worker: u32, barrier: u32, on_the_way_out: bool) {
        if let Some(place) = self.place(worker, barrier) {
            place.wakeups[usize::from(on_the_way_out)].fetch_add(1, Relaxed);
        }
    }

    /// Those that have begun, by worker and barrier.
    pub fn copy(&self) -> Vec<Passage> {
        let read = |(at, place): (usize, &Place)| {
            let [arrived, released, leaving, left] = place.moments.each_ref().map(|moment| moment.load(Relaxed));
            let [wakeups_in, wakeups_out] = place.wakeups.each_ref().map(|count| count.load(Relaxed));
            let barriers = self.barriers.max(1) as usize;
            Passage {
                worker: (at / barriers) as u32,
                barrier: (at % barriers) as u32,
                arrived,
                released,
                leaving,
                left,
                wakeups_in,
                wakeups_out,
            }
        };
        self.places.iter().enumerate().map(read).filter(|passage| passage.arrived != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_comes_back_at_its_place() {
        let passages = Passages::new(3, 2);
        for (moment, at) in [(Moment::Arrived, 5), (Moment::Released, 6), (Moment::Leaving, 7), (Moment::Left, 8)] {
            passages.note(2, 1, moment, at);
        }
        passages.woken(2, 1, false);
        passages.woken(2, 1, true);
        passages.woken(2, 1, true);
        passages.note(0, 0, Moment::Arrived, 1);
        // Beyond the room there is nothing to write to.
        passages.note(3, 0, Moment::Arrived, 1);
        let whole = Passage {
            worker: 2,
            barrier: 1,
            arrived: 5,
            released: 6,
            leaving: 7,
            left: 8,
            wakeups_in: 1,
            wakeups_out: 2,
        };
        let begun = Passage { arrived: 1, ..Passage::default() };
        assert_eq!(passages.copy(), [begun, whole]);
    }
}
