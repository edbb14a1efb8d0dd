//! Requests, response bytes and notifications over time, in slots of one millisecond.
//!
//! The results show buckets of 10 ms. The slots are finer so that a window of 100 ms after a release can start at the
//! release instead of at the nearest bucket: off by at most 1 ms instead of 10. A slot is 16 bytes, so a minute of trial
//! costs under 1 MB, and slots that are never reached cost no memory at all.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Nanoseconds in a slot.
pub const SLOT_NANOS: u64 = 1_000_000;

/// One millisecond of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Requests sent.
    pub requests: u32,
    /// Notifications received.
    pub notifications: u32,
    /// Bytes of the responses received.
    pub response_bytes: u64,
}

#[derive(bytemuck::Zeroable)]
struct AtomicSlot {
    requests: AtomicU32,
    notifications: AtomicU32,
    response_bytes: AtomicU64,
}

/// The counters behind the slots. What happens after the last slot is not in the timeline, only in the totals.
pub(super) struct Timeline {
    slots: Box<[AtomicSlot]>,
}

impl Timeline {
    pub(super) fn new(length: Duration) -> Self {
        let slots = length.as_nanos().div_ceil(u128::from(SLOT_NANOS)) + 1;
        // Zeroed by the operating system: pages come into being when they are first written.
        Timeline { slots: bytemuck::zeroed_slice_box(usize::try_from(slots).unwrap_or(1)) }
    }

    fn slot(&self, now: u64) -> Option<&AtomicSlot> {
        self.slots.get((now / SLOT_NANOS) as usize)
    }

    pub(super) fn request(&self, now: u64) {
        if let Some(slot) = self.slot(now) {
            slot.requests.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn response(&self, now: u64, bytes: u64) {
        if let Some(slot) = self.slot(now) {
            slot.response_bytes.fetch_add(bytes, Relaxed);
        }
    }

    pub(super) fn notification(&self, now: u64) {
        if let Some(slot) = self.slot(now) {
            slot.notifications.fetch_add(1, Relaxed);
        }
    }

    /// The slots from the start to `end`, in nanoseconds since the start of the trial.
    pub(super) fn copy(&self, end: u64) -> Vec<Slot> {
        let length = ((end / SLOT_NANOS) as usize + 1).min(self.slots.len());
        self.slots[..length]
            .iter()
            .map(|slot| Slot {
                requests: slot.requests.load(Relaxed),
                notifications: slot.notifications.load(Relaxed),
                response_bytes: slot.response_bytes.load(Relaxed),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_counts_to_its_millisecond_and_after_the_end_to_none() {
        let timeline = Timeline::new(Duration::from_micros(2500));
        timeline.request(0);
        timeline.request(999_999);
        timeline.response(1_000_000, 50);
        timeline.notification(3_999_999);
        for beyond in [4_000_000, u64::MAX] {
            timeline.request(beyond);
            timeline.response(beyond, 1);
            timeline.notification(beyond);
        }
        let slot = |requests, notifications, response_bytes| Slot { requests, notifications, response_bytes };
        assert_eq!(timeline.copy(u64::MAX), [slot(2, 0, 0), slot(0, 0, 50), slot(0, 0, 0), slot(0, 1, 0)]);
        assert_eq!(timeline.copy(1_999_999), [slot(2, 0, 0), slot(0, 0, 50)]);
        assert_eq!(timeline.copy(0), [slot(2, 0, 0)]);
    }

    #[test]
    fn a_timeline_without_length_has_a_slot() {
        assert_eq!(Timeline::new(Duration::ZERO).copy(0).len(), 1);
    }
}
