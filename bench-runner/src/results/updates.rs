//! `updates.csv`: one row for each update of the shared counter, in runs that keep one.

use std::path::Path;

use super::appended;
use crate::run::recording::TrialRecording;

/// Columns of `updates.csv`. Times are nanoseconds since the start of the trial, on one clock for all workers. A holder read `read` from
/// the plain store (`read_fenced` from the fenced one) and wrote one more; `fenced` is 1 where the fenced store acknowledged that, and
/// 0 where it refused. `written_ns` is empty, and `fenced` 0, where no write followed the read.
pub const UPDATES: [&str; 10] =
    ["trial", "arm", "worker", "lock", "token", "read_ns", "written_ns", "read", "read_fenced", "fenced"];

/// Appends a trial's updates in the order of their writes, those that were never written first, to the file at `path`, which the first of them begins.
///
/// # Errors
///
/// What writing answers.
pub fn append(path: &Path, label: &str, recording: &TrialRecording) -> csv::Result<()> {
    let rows = recording.updates.log.iter().map(|update| {
        (
            recording.planned.position,
            label,
            update.worker,
            update.resource,
            update.token,
            update.read_at,
            (update.written_at != 0).then_some(update.written_at),
            update.read,
            update.read_fenced,
            u8::from(update.fenced),
        )
    });
    appended::append(path, &UPDATES, rows)
}
