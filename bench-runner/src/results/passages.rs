//! `passages.csv`: one row for each way of a member through a barrier, in runs that have any.

use std::path::Path;

use workloads::record::Passage;

use super::appended;
use crate::run::recording::TrialRecording;

/// Columns of `passages.csv`. Times are nanoseconds since the start of the trial, on one clock for all workers; empty where
/// the moment was not reached.
pub const PASSAGES: [&str; 10] = [
    "trial",
    "arm",
    "worker",
    "barrier",
    "arrived_ns",
    "released_ns",
    "leaving_ns",
    "left_ns",
    "wakeups_in",
    "wakeups_out",
];

/// Appends a trial's passages, by barrier and arrival, to the file at `path`, which the first of them begins.
///
/// # Errors
///
/// What writing answers.
pub fn append(path: &Path, label: &str, recording: &TrialRecording) -> csv::Result<()> {
    let mut passages: Vec<&Passage> = recording.passages.iter().collect();
    passages.sort_unstable_by_key(|passage| (passage.barrier, passage.arrived, passage.worker));
    let reached = |nanos: u64| (nanos != 0).then_some(nanos);
    let rows = passages.into_iter().map(|passage| {
        (
            recording.planned.position,
            label,
            passage.worker,
            passage.barrier,
            passage.arrived,
            reached(passage.released),
            reached(passage.leaving),
            reached(passage.left),
            passage.wakeups_in,
            passage.wakeups_out,
        )
    });
    appended::append(path, &PASSAGES, rows)
}
