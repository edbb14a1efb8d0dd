//! Barriers: how long the way in and out takes, how far the members come apart, what it costs, and whether anybody passed early.
//!
//! | module | what it works out |
//! |---|---|
//! | [`figures`] | the figures themselves |
//! | [`closed_form`] | the notifications that a settled barrier must cost |
//! | [`growth`] | how the cost grows with the members: the fitted exponent |

pub mod closed_form;
pub mod figures;
pub mod growth;

use std::collections::BTreeMap;

use workloads::record::Passage;
use workloads::settings::{Mode, Recipe, WorkerSettings};

use self::figures::{BarrierTrial, Barriers, DoorLine, SkewBin};
use super::figures::{Quantity, Requests};
use super::histogram::{self, Micros};
use super::trial::per;

/// Members that the chart of the door shows at the most: one line each.
const MOST_LINES: usize = 400;
/// Bins of the skew histogram.
const SKEW_BINS: u64 = 30;

/// A measured trial of barriers, and what is needed to merge it with the others of its arm.
pub struct MeasuredBarriers {
    /// The figures.
    pub figures: BarrierTrial,
    enter: Micros,
    leave: Micros,
    enter_skew: Micros,
    leave_skew: Micros,
    door: Vec<DoorLine>,
}

/// How far the members of one barrier come apart at a door: from the first to the last who is through, in nanoseconds.
fn skew(through: impl Iterator<Item = u64> + Clone) -> Option<u64> {
    Some(through.clone().max()? - through.min()?)
}

/// What is asked of one barrier.
struct AtBarrier<'a> {
    passages: Vec<&'a Passage>,
    members: usize,
}

impl AtBarrier<'_> {
    fn reached(&self, moment: fn(&Passage) -> u64) -> impl Iterator<Item = u64> + Clone {
        self.passages.iter().map(move |passage| moment(passage)).filter(|at| *at != 0)
    }

    /// Members that went through one door before all had come to it: `through` before the last of `come`, or although one
    /// never came.
    fn early(&self, come: fn(&Passage) -> u64, through: fn(&Passage) -> u64) -> u64 {
        let all_came = self.reached(come).count() == self.members;
        let last = if all_came { self.reached(come).max().unwrap_or(0) } else { u64::MAX };
        self.reached(through).filter(|at| *at < last).count() as u64
    }

    /// The skew at a door that every member went through.
    fn skew(&self, through: fn(&Passage) -> u64) -> Option<u64> {
        (self.reached(through).count() == self.members).then(|| skew(self.reached(through))).flatten()
    }
}

/// Measures the passages of one trial that took `requests`; `None` for a trial of anything else.
pub fn measure(settings: &WorkerSettings, passages: &[Passage], requests: &Requests) -> Option<MeasuredBarriers> {
    let Mode::Barriers { barriers, .. } = settings.mode else { return None };
    let mut by_barrier: BTreeMap<u32, Vec<&Passage>> = BTreeMap::new();
    passages.iter().for_each(|passage| by_barrier.entry(passage.barrier).or_default().push(passage));
    let [mut enter, mut leave, mut enter_skew, mut leave_skew] = [(); 4].map(|()| histogram::empty());
    let (mut early_entries, mut early_leaves) = (0, 0);
    for passages in by_barrier.into_values() {
        let at = AtBarrier { passages, members: settings.workers as usize };
        early_entries += at.early(|passage| passage.arrived, |passage| passage.released);
        early_leaves += at.early(|passage| passage.leaving, |passage| passage.left);
        if let Some(skew) = at.skew(|passage| passage.released) {
            histogram::record(&mut enter_skew, skew);
        }
        if let Some(skew) = at.skew(|passage| passage.left) {
            histogram::record(&mut leave_skew, skew);
        }
    }
    // The controller of a single barrier waits for nobody.
    let waits = |passage: &&Passage| settings.recipe != Recipe::SingleBarrier || passage.worker != 0;
    let (mut entered, mut left) = (0, 0);
    for passage in passages.iter().filter(waits) {
        if passage.released != 0 {
            histogram::record(&mut enter, passage.released - passage.arrived);
            entered += 1;
        }
        if passage.left != 0 {
            histogram::record(&mut leave, passage.left - passage.leaving);
            left += 1;
        }
    }
    let operations = entered + left;
    let wakeups = |of: fn(&Passage) -> u32| passages.iter().map(|passage| u64::from(of(passage))).sum();
    let figures = BarrierTrial {
        barriers,
        enters: entered,
        leaves: left,
        client_seconds: client_seconds(passages),
        operations_per_second: None,
        requests_per_operation: per(requests.total, operations),
        response_bytes_per_operation: per(requests.response_bytes, operations),
        wakeups_in: wakeups(|passage| passage.wakeups_in),
        wakeups_out: wakeups(|passage| passage.wakeups_out),
        early_entries,
        early_leaves,
    };
    let seconds = spell(passages);
    let figures = BarrierTrial { operations_per_second: seconds.map(|seconds| operations as f64 / seconds), ..figures };
    Some(MeasuredBarriers { figures, enter, leave, enter_skew, leave_skew, door: door(passages) })
}

/// From the first arrival to the last moment that was reached, in seconds.
fn spell(passages: &[Passage]) -> Option<f64> {
    let first = passages.iter().map(|passage| passage.arrived).min()?;
    let last = passages.iter().map(|passage| passage.released.max(passage.left)).max()?;
    (last > first).then(|| (last - first) as f64 / 1e9)
}

/// Seconds that a member took to enter all barriers and leave them again, in the mean over those who did.
fn client_seconds(passages: &[Passage]) -> Option<f64> {
    let mut by_worker: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for passage in passages {
        let (first, last) = by_worker.entry(passage.worker).or_insert((u64::MAX, 0));
        *first = passage.arrived.min(*first);
        *last = passage.released.max(passage.left).max(*last);
    }
    let lengths: Vec<f64> = by_worker
        .into_values()
        .filter(|(first, last)| last > first)
        .map(|(first, last)| (last - first) as f64 / 1e9)
        .collect();
    (!lengths.is_empty()).then(|| lengths.iter().sum::<f64>() / lengths.len() as f64)
}

/// The lines of the chart: each member's way through the barrier that the middle one of the trial is, by arrival.
fn door(passages: &[Passage]) -> Vec<DoorLine> {
    let Some(last) = passages.iter().map(|passage| passage.barrier).max() else { return Vec::new() };
    let mut of_one: Vec<&Passage> = passages.iter().filter(|passage| passage.barrier == last / 2).collect();
    of_one.sort_unstable_by_key(|passage| (passage.arrived, passage.worker));
    let Some(first) = of_one.first().map(|passage| passage.arrived) else { return Vec::new() };
    // From the first arrival on; a moment that was not reached has none.
    let since = |at: u64| (at != 0).then(|| at.saturating_sub(first) as f64 / 1e6);
    let step = of_one.len().div_ceil(MOST_LINES).max(1);
    of_one
        .into_iter()
        .step_by(step)
        .map(|passage| DoorLine {
            arrived_ms: since(passage.arrived).unwrap_or(0.0),
            released_ms: since(passage.released),
            leaving_ms: since(passage.leaving),
            left_ms: since(passage.left),
        })
        .collect()
}

/// Merges the trials of an arm; `None` where they are of no barriers.
pub fn merge(settings: &WorkerSettings, trials: &[&MeasuredBarriers], requests: &Requests) -> Option<Barriers> {
    let first = trials.first()?;
    let Mode::Barriers { barriers, settled } = settings.mode else { return None };
    let merged = |of: fn(&MeasuredBarriers) -> &Micros| {
        let mut all = histogram::empty();
        trials.iter().for_each(|trial| histogram::merge(&mut all, of(trial)));
        all
    };
    let figures = || trials.iter().map(|trial| &trial.figures);
    let sum = |of: fn(&BarrierTrial) -> u64| figures().map(of).sum::<u64>();
    let seconds: Vec<f64> = figures().filter_map(|trial| trial.client_seconds).collect();
    let rates: Vec<f64> = figures().filter_map(|trial| trial.operations_per_second).collect();
    let client_seconds = Quantity::of(&seconds);
    let operations = sum(|trial| trial.enters + trial.leaves);
    let passed = u64::from(barriers) * trials.len() as u64;
    let enter_skew = merged(|trial| &trial.enter_skew);
    Some(Barriers {
        barriers,
        settled,
        enter_ms: histogram::latency(&merged(|trial| &trial.enter)),
        leave_ms: histogram::latency(&merged(|trial| &trial.leave)),
        enter_skew_ms: histogram::latency(&enter_skew),
        leave_skew_ms: histogram::latency(&merged(|trial| &trial.leave_skew)),
        seconds_per_barrier_and_client: client_seconds.mean / f64::from(barriers) / f64::from(settings.workers),
        client_seconds,
        operations,
        operations_per_second: Quantity::of(&rates),
        requests_per_operation: per(requests.total, operations),
        response_bytes_per_operation: per(requests.response_bytes, operations),
        wakeups_per_enter: per(sum(|trial| trial.wakeups_in), passed),
        wakeups_per_leave: per(sum(|trial| trial.wakeups_out), passed),
        early_entries: sum(|trial| trial.early_entries),
        early_leaves: sum(|trial| trial.early_leaves),
        skew_bins: skew_bins(&enter_skew),
        door: first.door.clone(),
    })
}

/// The skews of the way in, in bins of equal width.
fn skew_bins(skews: &Micros) -> Vec<SkewBin> {
    if skews.is_empty() {
        return Vec::new();
    }
    let width = skews.max().div_ceil(SKEW_BINS).max(1);
    skews
        .iter_linear(width)
        .map(|step| SkewBin {
            from_ms: histogram::millis((step.value_iterated_to() + 1).saturating_sub(width)),
            to_ms: histogram::millis(step.value_iterated_to() + 1),
            barriers: step.count_since_last_iteration(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
