//! The raw rows: `acquisitions.csv` and `timeline.csv`, to check the figures by other means.

use std::io::Write;

use workloads::record::timeline::SLOT_NANOS;
use workloads::record::{Acquisition, Outcome};

use crate::measure::spike::SLOTS_PER_BUCKET;
use crate::run::recording::TrialRecording;

/// Columns of `acquisitions.csv`: one row for each acquisition of the measured trials. Times are nanoseconds since the start
/// of the trial, on one clock for all workers; empty where the stage was not reached.
pub const ACQUISITIONS: [&str; 17] = [
    "trial",
    "arm",
    "worker",
    "lock",
    "outcome",
    "token",
    "wakeups",
    "due_ns",
    "called_ns",
    "enqueued_ns",
    "woken_ns",
    "granted_ns",
    "release_sent_ns",
    "released_ns",
    "over_ns",
    "stale_writes",
    "struck",
];

/// Columns of `timeline.csv`: one row for each 10 ms of the measured trials in which anything happened.
pub const TIMELINE: [&str; 7] = ["trial", "arm", "start_ms", "requests", "notifications", "response_bytes", "grants"];

/// Appends a trial's acquisitions, in the order in which they were called.
///
/// # Errors
///
/// What writing answers.
pub fn write_acquisitions(
    writer: &mut csv::Writer<impl Write>,
    label: &str,
    recording: &TrialRecording,
) -> csv::Result<()> {
    let mut acquisitions: Vec<&Acquisition> = recording.workers.acquisitions.iter().collect();
    acquisitions.sort_unstable_by_key(|acquisition| (acquisition.called, acquisition.worker));
    for acquisition in acquisitions {
        let reached = |nanos: u64| (nanos != 0).then_some(nanos);
        writer.serialize((
            recording.planned.position,
            label,
            acquisition.worker,
            acquisition.resource,
            outcome(acquisition.outcome),
            (acquisition.token != 0).then_some(acquisition.token),
            acquisition.wakeups,
            acquisition.due,
            acquisition.called,
            reached(acquisition.enqueued),
            reached(acquisition.woken),
            reached(acquisition.granted),
            reached(acquisition.release_sent),
            reached(acquisition.released),
            reached(acquisition.over),
            // Two in one: serde knows tuples of at most sixteen.
            (acquisition.stale_writes, u8::from(acquisition.struck)),
        ))?;
    }
    Ok(())
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Released => "released",
        Outcome::Held => "held",
        Outcome::Waiting => "waiting",
        Outcome::Failed => "failed",
        Outcome::Lost => "lost",
        Outcome::Closed => "closed",
        Outcome::Crashed => "crashed",
    }
}

/// Appends a trial's timeline.
///
/// # Errors
///
/// What writing answers.
pub fn write_timeline(
    writer: &mut csv::Writer<impl Write>,
    label: &str,
    recording: &TrialRecording,
) -> csv::Result<()> {
    let slots = &recording.workers.timeline;
    let bucket_nanos = SLOT_NANOS * SLOTS_PER_BUCKET as u64;
    let mut grants = vec![0u32; slots.len().div_ceil(SLOTS_PER_BUCKET)];
    for acquisition in recording.workers.acquisitions.iter().filter(|acquisition| acquisition.is_granted()) {
        if let Some(grants) = grants.get_mut((acquisition.granted / bucket_nanos) as usize) {
            *grants += 1;
        }
    }
    for (number, (bucket, grants)) in slots.chunks(SLOTS_PER_BUCKET).zip(grants).enumerate() {
        let requests: u32 = bucket.iter().map(|slot| slot.requests).sum();
        let notifications: u32 = bucket.iter().map(|slot| slot.notifications).sum();
        let response_bytes: u64 = bucket.iter().map(|slot| slot.response_bytes).sum();
        if requests > 0 || notifications > 0 || response_bytes > 0 || grants > 0 {
            let start_ms = number * SLOTS_PER_BUCKET;
            writer.serialize((
                recording.planned.position,
                label,
                start_ms,
                requests,
                notifications,
                response_bytes,
                grants,
            ))?;
        }
    }
    Ok(())
}
