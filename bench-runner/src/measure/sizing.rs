//! What a trial says for sizing an ensemble: what its servers held, what a grant costs once the queue stands, and how long
//! workers were with the lock.

use workloads::record::timeline::SLOT_NANOS;
use workloads::record::{Acquisition, Outcome, Tally};
use workloads::settings::Mode;

use crate::run::recording::{Sample, TrialRecording};
use crate::scenario::ArmSettings;

/// Costs of a grant over a part of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerGrant {
    /// Requests.
    pub requests: f64,
    /// Notifications.
    pub notifications: f64,
    /// Response bytes.
    pub response_bytes: f64,
}

/// The figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizing {
    /// The most resident memory of all nodes together, in bytes.
    pub nodes_rss_bytes: Option<f64>,
    /// The most watches; `None` for a trial that was over before the servers could be asked several times.
    pub nodes_watches: Option<f64>,
    /// The most sessions or leases.
    pub nodes_sessions: Option<f64>,
    /// The most bytes of data.
    pub nodes_data_bytes: Option<f64>,
    /// What a grant cost once every worker that queued at all stood in the queue for the first time, since the burst in which
    /// they join is paid once and not by each grant. In a drain that is to the last request what handing the lock over costs:
    /// all that came after the queue stood, for each grant. In the closed and the open mode it is cut at milliseconds. The
    /// whole trial where the queue never stood, or hardly anything was granted after that.
    pub per_grant: Option<PerGrant>,
    /// Requests a second, over the whole trial.
    pub requests_per_second: f64,
    /// Response bytes a second, over the whole trial.
    pub response_bytes_per_second: f64,
    /// How many workers were with the lock (queued, holding or releasing), in the mean over the time.
    pub population: f64,
    /// How long a worker was with the lock, in the mean over those that were done, in seconds.
    pub residence_seconds: Option<f64>,
    /// How many were done a second.
    pub done_per_second: f64,
}

/// The first question is asked when nobody waits yet, and there is one a second.
const LEAST_SAMPLES: usize = 3;

/// A part with fewer grants than this share of the trial's is not taken for the whole.
const LEAST_SHARE: f64 = 0.2;

/// Works the figures out.
pub fn measure(arm: &ArmSettings, recording: &TrialRecording) -> Sizing {
    let workers = &recording.workers;
    let seconds = (workers.length as f64 / 1e9).max(f64::MIN_POSITIVE);
    let most = |of: fn(&Sample) -> Option<u64>| recording.samples.iter().filter_map(of).max().map(|most| most as f64);
    let acquisitions = &workers.acquisitions;
    let stays: Vec<(u64, Option<u64>)> = acquisitions.iter().map(stay).collect();
    let within =
        |from: u64, until: Option<u64>| until.unwrap_or(workers.length).min(workers.length).saturating_sub(from);
    let done: Vec<u64> = stays
        .iter()
        .filter_map(|(from, until)| {
            until.filter(|until| *until <= workers.length).map(|until| until.saturating_sub(*from))
        })
        .collect();
    let tally = &workers.tally;
    Sizing {
        nodes_rss_bytes: most(|sample| sample.nodes_rss_bytes),
        nodes_watches: most(|sample| sample.watches).filter(|_| recording.samples.len() >= LEAST_SAMPLES),
        nodes_sessions: most(|sample| sample.sessions),
        nodes_data_bytes: most(|sample| sample.data_bytes),
        per_grant: per_grant(arm, recording),
        requests_per_second: tally.total_requests() as f64 / seconds,
        response_bytes_per_second: tally.total_response_bytes() as f64 / seconds,
        population: stays.iter().map(|(from, until)| within(*from, *until)).sum::<u64>() as f64 / 1e9 / seconds,
        residence_seconds: (!done.is_empty()).then(|| done.iter().sum::<u64>() as f64 / 1e9 / done.len() as f64),
        done_per_second: done.len() as f64 / seconds,
    }
}

/// From when until when a worker was with the lock; no end for one that still was when the books were closed.
fn stay(acquisition: &Acquisition) -> (u64, Option<u64>) {
    let end = match acquisition.outcome {
        Outcome::Released => Some(acquisition.released.max(acquisition.over)),
        Outcome::Held | Outcome::Waiting => None,
        Outcome::Lost | Outcome::Closed | Outcome::Crashed | Outcome::Failed => {
            Some(acquisition.over).filter(|over| *over > 0)
        }
    };
    (acquisition.due, end)
}

fn per_grant(arm: &ArmSettings, recording: &TrialRecording) -> Option<PerGrant> {
    let workers = &recording.workers;
    let granted: Vec<&Acquisition> = workers.acquisitions.iter().filter(|one| one.is_granted()).collect();
    if granted.is_empty() {
        return None;
    }
    let cost = |requests: u64, notifications: u64, bytes: u64, grants: usize| PerGrant {
        requests: requests as f64 / grants as f64,
        notifications: notifications as f64 / grants as f64,
        response_bytes: bytes as f64 / grants as f64,
    };
    let tally = &workers.tally;
    let sums = |tally: &Tally| [tally.total_requests(), tally.total_notifications(), tally.total_response_bytes()];
    let [requests, notifications, bytes] = sums(tally);
    let whole = cost(requests, notifications, bytes, granted.len());
    let settled = match arm.workers.mode {
        // Every grant is released after the queue stood, so each has its release in the rest.
        Mode::Drain => {
            let joined = workers.joined.as_ref().map(sums).unwrap_or_default();
            return Some(cost(requests - joined[0], notifications - joined[1], bytes - joined[2], granted.len()));
        }
        Mode::Closed | Mode::Open(_) => all_queued(&workers.acquisitions),
        Mode::Barriers { .. } => 0,
    };
    let first = settled.div_ceil(SLOT_NANOS) as usize;
    let last = (workers.length / SLOT_NANOS) as usize;
    let later = granted.iter().filter(|one| (first..last).contains(&((one.granted / SLOT_NANOS) as usize))).count();
    if settled == 0 || (later as f64) < LEAST_SHARE * granted.len() as f64 {
        return Some(whole);
    }
    let slots = workers.timeline.iter().take(last).skip(first);
    let (requests, notifications, bytes) = slots.fold((0u64, 0u64, 0u64), |(requests, notifications, bytes), slot| {
        (
            requests + u64::from(slot.requests),
            notifications + u64::from(slot.notifications),
            bytes + slot.response_bytes,
        )
    });
    Some(cost(requests, notifications, bytes, later))
}

/// When the last worker that queued at all stood in the queue for the first time.
fn all_queued(acquisitions: &[Acquisition]) -> u64 {
    let mut first = std::collections::BTreeMap::new();
    for acquisition in acquisitions.iter().filter(|one| one.enqueued > 0) {
        let known = first.entry(acquisition.worker).or_insert(acquisition.enqueued);
        *known = (*known).min(acquisition.enqueued);
    }
    first.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acquisition(worker: u32, called: u64, enqueued: u64, released: u64) -> Acquisition {
        let outcome = if released > 0 { Outcome::Released } else { Outcome::Waiting };
        Acquisition { enqueued, released, outcome, ..Acquisition::called(worker, 0, called, called) }
    }

    #[test]
    fn the_queue_stands_when_the_last_has_joined_it_for_the_first_time() {
        let all = [acquisition(0, 1, 2, 5), acquisition(1, 1, 7, 9), acquisition(0, 6, 20, 0)];
        assert_eq!(all_queued(&all), 7);
        assert_eq!(all_queued(&[]), 0);
    }

    #[test]
    fn one_that_still_waits_has_no_end() {
        assert_eq!(stay(&acquisition(0, 3, 4, 9)), (3, Some(9)));
        assert_eq!(stay(&acquisition(0, 3, 4, 0)), (3, None));
    }
}
