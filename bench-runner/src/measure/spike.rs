//! Requests and notifications around releases: what a release sets off.

use workloads::record::timeline::SLOT_NANOS;
use workloads::record::{Acquisition, Outcome, Slot};

use super::figures::Spike;

/// Slots of 1 ms in a bucket of 10 ms.
pub const SLOTS_PER_BUCKET: usize = 10;
/// Buckets before the release.
const BUCKETS_BEFORE: usize = 5;
/// Buckets in all: 50 ms before, 450 ms after.
const BUCKETS: usize = 50;
/// The window after a release in which requests are counted for it, in slots: 100 ms.
const WINDOW: usize = 100;
/// How many releases are laid over one another at the most, taken evenly. The mean of so many is as good as of all.
const MAX_RELEASES: usize = 10_000;

/// Sums over releases, of one trial or of several.
#[derive(Clone, Debug, Default)]
pub struct SpikeSum {
    /// Releases laid over one another.
    releases: u64,
    requests: Vec<u64>,
    notifications: Vec<u64>,
    /// Releases whose whole window of 100 ms lies in the trial, and the requests in those windows.
    windows: u64,
    window_requests: u64,
    window_max: u64,
}

impl SpikeSum {
    /// The spikes of one trial. Slots beyond the timeline's end count as empty, except for the window of 100 ms, of which
    /// only whole ones are used.
    pub fn of(acquisitions: &[Acquisition], timeline: &[Slot]) -> SpikeSum {
        let mut sum = SpikeSum { requests: vec![0; BUCKETS], notifications: vec![0; BUCKETS], ..SpikeSum::default() };
        if timeline.is_empty() {
            return sum;
        }
        let requests = cumulative(timeline, |slot| slot.requests);
        let notifications = cumulative(timeline, |slot| slot.notifications);
        let slots: Vec<usize> = acquisitions
            .iter()
            .filter(|acquisition| acquisition.outcome == Outcome::Released)
            .map(|acquisition| (acquisition.release_sent / SLOT_NANOS) as usize)
            .collect();
        for slot in slots.iter().step_by(slots.len().div_ceil(MAX_RELEASES).max(1)) {
            sum.releases += 1;
            for bucket in 0..BUCKETS {
                let from = (slot + bucket * SLOTS_PER_BUCKET).saturating_sub(BUCKETS_BEFORE * SLOTS_PER_BUCKET);
                // A bucket before the start of the trial would be counted from its first slot on.
                if slot + bucket * SLOTS_PER_BUCKET >= BUCKETS_BEFORE * SLOTS_PER_BUCKET {
                    sum.requests[bucket] += between(&requests, from, from + SLOTS_PER_BUCKET);
                    sum.notifications[bucket] += between(&notifications, from, from + SLOTS_PER_BUCKET);
                }
            }
        }
        for slot in slots {
            if slot + WINDOW < timeline.len() {
                let in_window = between(&requests, slot, slot + WINDOW);
                sum.windows += 1;
                sum.window_requests += in_window;
                sum.window_max = sum.window_max.max(in_window);
            }
        }
        sum
    }

    /// Adds the sums of `other`.
    pub fn merge(&mut self, other: &SpikeSum) {
        fn add(into: &mut Vec<u64>, from: &[u64]) {
            into.resize(into.len().max(from.len()), 0);
            into.iter_mut().zip(from).for_each(|(sum, value)| *sum += value);
        }
        add(&mut self.requests, &other.requests);
        add(&mut self.notifications, &other.notifications);
        self.releases += other.releases;
        self.windows += other.windows;
        self.window_requests += other.window_requests;
        self.window_max = self.window_max.max(other.window_max);
    }

    /// The mean around a release.
    pub fn spike(&self) -> Spike {
        let mean = |sums: &[u64]| sums.iter().map(|sum| *sum as f64 / self.releases as f64).collect();
        if self.releases == 0 {
            return Spike::default();
        }
        Spike {
            bucket_ms: SLOTS_PER_BUCKET as f64,
            start_ms: -((BUCKETS_BEFORE * SLOTS_PER_BUCKET) as f64),
            releases: self.releases,
            requests: mean(&self.requests),
            notifications: mean(&self.notifications),
        }
    }

    /// Requests in the first 100 ms after a release: mean and largest; `None` without a whole window.
    pub fn window(&self) -> Option<(f64, u64)> {
        (self.windows > 0).then(|| (self.window_requests as f64 / self.windows as f64, self.window_max))
    }
}

/// Sums from the start up to each slot, so that any stretch is one subtraction.
fn cumulative(timeline: &[Slot], of: impl Fn(&Slot) -> u32) -> Vec<u64> {
    let mut sum = 0;
    let mut sums = Vec::with_capacity(timeline.len() + 1);
    sums.push(0);
    for slot in timeline {
        sum += u64::from(of(slot));
        sums.push(sum);
    }
    sums
}

fn between(cumulative: &[u64], from: usize, to: usize) -> u64 {
    let last = cumulative.len() - 1;
    cumulative[to.min(last)] - cumulative[from.min(last)]
}

/// The most requests in a bucket of 10 ms.
pub fn peak(timeline: &[Slot]) -> u64 {
    timeline
        .chunks(SLOTS_PER_BUCKET)
        .map(|bucket| bucket.iter().map(|slot| u64::from(slot.requests)).sum())
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_after_a_release_is_found_where_it_is() {
        let mut timeline = vec![Slot::default(); 1_000];
        // Release at 200 ms, 30 requests at 225 ms, 4 notifications at 203 ms, one request long before.
        timeline[225].requests = 30;
        timeline[203].notifications = 4;
        timeline[20].requests = 1;
        let release = Acquisition {
            outcome: Outcome::Released,
            granted: 1,
            release_sent: 200 * SLOT_NANOS,
            ..Acquisition::called(0, 0, 1, 1)
        };
        let sum = SpikeSum::of(&[release], &timeline);
        let spike = sum.spike();
        assert_eq!((spike.start_ms, spike.bucket_ms, spike.releases), (-50.0, 10.0, 1));
        assert_eq!(spike.requests.iter().position(|requests| *requests == 30.0), Some(7));
        assert_eq!(spike.notifications.iter().position(|notifications| *notifications == 4.0), Some(5));
        assert_eq!(sum.window(), Some((30.0, 30)));
        assert_eq!(peak(&timeline), 30);
    }

    #[test]
    fn a_release_at_either_end_of_the_trial_is_no_trouble() {
        let timeline = vec![Slot { requests: 1, ..Slot::default() }; 120];
        let release = |slot: u64| Acquisition {
            outcome: Outcome::Released,
            granted: 1,
            release_sent: slot * SLOT_NANOS,
            ..Acquisition::called(0, 0, 1, 1)
        };
        let sum = SpikeSum::of(&[release(3), release(119)], &timeline);
        assert_eq!(sum.spike().releases, 2);
        // Only the first has 100 ms left.
        assert_eq!(sum.window(), Some((100.0, 100)));
    }
}
