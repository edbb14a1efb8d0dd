//! Notifications by the release that caused them.

use workloads::record::{Acquisition, InstanceFanOut, Outcome};

use super::figures::{FanOut, FanOutBin, FanOutPoint};

/// The most points that a chart of single releases gets.
const MAX_POINTS: usize = 500;
/// The most bins of a chart of frequencies.
const MAX_BINS: u64 = 40;

/// One release and the notifications that it caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// When it was sent, nanoseconds since the start of the trial.
    pub sent: u64,
    /// Notifications.
    pub notifications: u32,
}

/// The fan-out of every release, in the order in which they were sent. A release that notified nobody has 0.
/// `fan_out` must be sorted by token.
pub fn releases(acquisitions: &[Acquisition], fan_out: &[InstanceFanOut]) -> Vec<Release> {
    let mut releases: Vec<Release> = acquisitions
        .iter()
        .filter(|acquisition| acquisition.outcome == Outcome::Released)
        .map(|acquisition| Release {
            sent: acquisition.release_sent,
            notifications: match fan_out.binary_search_by_key(&acquisition.token, |instance| instance.token) {
                Ok(at) => fan_out[at].notifications,
                Err(_) => 0,
            },
        })
        .collect();
    releases.sort_unstable_by_key(|release| release.sent);
    releases
}

/// The figures over all releases; `sorted` are their fan-outs in rising order.
pub fn figures(sorted: &[u32]) -> FanOut {
    if sorted.is_empty() {
        return FanOut::default();
    }
    let sum: u64 = sorted.iter().copied().map(u64::from).sum();
    FanOut {
        releases: sorted.len() as u64,
        min: sorted.first().copied().map(u64::from),
        mean: Some(sum as f64 / sorted.len() as f64),
        // The lower median, so that it is a fan-out that occurred.
        p50: sorted.get((sorted.len() - 1) / 2).copied().map(u64::from),
        max: sorted.last().copied().map(u64::from),
    }
}

/// How often each fan-out occurred, in bins of equal width; `sorted` in rising order.
pub fn bins(sorted: &[u32]) -> Vec<FanOutBin> {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let (first, last) = (u64::from(*first), u64::from(*last));
    let width = (last - first + 1).div_ceil(MAX_BINS).max(1);
    let mut bins: Vec<FanOutBin> = (first..=last)
        .step_by(width as usize)
        .map(|from| FanOutBin { from, to: (from + width - 1).min(last), releases: 0 })
        .collect();
    for value in sorted {
        bins[((u64::from(*value) - first) / width) as usize].releases += 1;
    }
    bins
}

/// Single releases over time, thinned evenly.
pub fn points(releases: &[Release]) -> Vec<FanOutPoint> {
    let step = releases.len().div_ceil(MAX_POINTS).max(1);
    releases
        .iter()
        .step_by(step)
        .map(|release| FanOutPoint {
            seconds: release.sent as f64 / 1e9,
            notifications: u64::from(release.notifications),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_release_is_matched_by_its_token() {
        let released = |token, release_sent| Acquisition {
            outcome: Outcome::Released,
            token,
            granted: 1,
            release_sent,
            ..Acquisition::called(0, 0, 1, 1)
        };
        let held = Acquisition { outcome: Outcome::Held, ..released(30, 0) };
        let fan_out = [InstanceFanOut { token: 20, notifications: 7, first: 1, last: 2 }];
        let found = releases(&[released(20, 5), released(10, 3), held], &fan_out);
        assert_eq!(found, [Release { sent: 3, notifications: 0 }, Release { sent: 5, notifications: 7 }]);
    }

    proptest! {
        #[test]
        fn bins_hold_every_release_once(mut values in prop::collection::vec(0u32..5_000, 1..300)) {
            values.sort_unstable();
            let bins = bins(&values);
            prop_assert!(bins.len() as u64 <= MAX_BINS);
            for bin in &bins {
                let inside = values.iter().filter(|value| (bin.from..=bin.to).contains(&u64::from(**value))).count();
                prop_assert_eq!(inside as u64, bin.releases);
            }
            prop_assert_eq!(bins.iter().map(|bin| bin.releases).sum::<u64>(), values.len() as u64);
        }
    }
}
