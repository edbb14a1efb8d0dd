//! The generator watches itself. It shares the machine with the servers that it measures: what it burns, it steals, and when
//! it is late the figures are its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use procfs::process::Process;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How often the lag is measured.
const BEAT: Duration = Duration::from_millis(10);

/// What the generator used between two moments.
#[derive(Clone, Debug, Default)]
pub struct GeneratorRecording {
    /// CPU time, user and system, in seconds.
    pub cpu_seconds: f64,
    /// Highest resident set in between, in bytes.
    pub peak_rss_bytes: u64,
    /// How late each beat of a timer task was, in microseconds. Tokio's timer counts in milliseconds, so that up to 1 ms is
    /// the timer's own.
    pub lags: Vec<u32>,
}

/// Watches from [`Watch::start`] to [`Watch::finish`].
pub struct Watch {
    cpu_before: f64,
    stop: Arc<AtomicBool>,
    beats: JoinHandle<Vec<u32>>,
}

impl Watch {
    /// Begins to watch; forgets earlier peaks of memory.
    pub fn start() -> Self {
        reset_peak();
        let stop = Arc::new(AtomicBool::new(false));
        let beats = tokio::spawn(beat(Arc::clone(&stop)));
        Watch { cpu_before: cpu_seconds(), stop, beats }
    }

    /// What was used since the start.
    pub async fn finish(self) -> GeneratorRecording {
        let cpu_seconds = cpu_seconds() - self.cpu_before;
        let peak_rss_bytes = memory().peak;
        self.stop.store(true, Ordering::Release);
        GeneratorRecording { cpu_seconds, peak_rss_bytes, lags: self.beats.await.unwrap_or_default() }
    }
}

async fn beat(stop: Arc<AtomicBool>) -> Vec<u32> {
    let mut lags = Vec::new();
    let mut due = Instant::now() + BEAT;
    while !stop.load(Ordering::Acquire) {
        tokio::time::sleep_until(due).await;
        let now = Instant::now();
        lags.push(u32::try_from((now - due).as_micros()).unwrap_or(u32::MAX));
        // Beats that were slept through have all been late; the lag of the first is the longest and stands for them.
        due = (due + BEAT).max(now);
    }
    lags
}

/// CPU time that this process has used, user and system, in seconds.
pub fn cpu_seconds() -> f64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0.0, |usage| {
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    })
}

/// Resident memory of this process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Now.
    pub now: u64,
    /// The highest since the process began, or since the peak was last forgotten.
    pub peak: u64,
}

/// Resident memory of this process; zeros where the kernel does not tell.
pub fn memory() -> Memory {
    let Some(status) = Process::myself().ok().and_then(|process| process.status().ok()) else {
        return Memory::default();
    };
    Memory { now: status.vmrss.unwrap_or(0) * 1024, peak: status.vmhwm.unwrap_or(0) * 1024 }
}

/// Makes the kernel forget the peak, so that the next one is of this trial alone (proc(5), `clear_refs`).
fn reset_peak() {
    // Where the kernel refuses, the peak is that of the whole process: larger, never smaller than the truth.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Has buffers from 64 KiB on allocated apart, so that each goes back to the system when it is freed. Otherwise the read
/// buffers of sessions that once listed a thousand names stay behind in pieces, and the next trial's workers are measured
/// with the leftovers of the last (measured: 20 to 50 KB for each of 1,000 workers). To be called before threads exist.
pub fn set_up_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` takes no pointers; a refusal, which it tells by 0, leaves things as they are.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 64 * 1024);
    }
}

/// How long an ended trial's tasks may take to end.
const TASKS_LIMIT: Duration = Duration::from_secs(5);

/// How many tasks of the runtime are alive.
pub fn alive_tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Gives memory that an ended trial has freed back to the system, so that the next trial's peak is its own. Waits for the
/// client library's tasks, which end some time after their sessions, until no more than `tasks` are alive.
pub async fn release_free_memory(tasks: usize) {
    let begun = Instant::now();
    while alive_tasks() > tasks && begun.elapsed() < TASKS_LIMIT {
        tokio::time::sleep(BEAT).await;
    }
    trim_heap();
}

/// Gives what lies free on the heap back to the system; takes under 1 ms for 100 MB (measured).
pub fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes no pointers and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes that are allocated and not freed now; 0 where the allocator does not tell. Unlike the resident set it does not
/// depend on what lies around free: the difference of two moments without workers is what the results in between take.
pub fn live_heap_bytes() -> u64 {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: `mallinfo2` takes no pointers and may be called at any time from any thread.
        let info = unsafe { libc::mallinfo2() };
        (info.uordblks + info.hblkhd) as u64
    }
    #[cfg(not(target_env = "gnu"))]
    0
}
