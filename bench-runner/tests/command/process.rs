//! Processes of a test, told from all others by the temporary folder in their environment.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a condition may take to come true before a test fails. No test asserts a time.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until the condition holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// All living processes that have this temporary folder in their environment.
pub fn started_with(temporary: &Path) -> Vec<u32> {
    let wanted = format!("TMPDIR={}", temporary.display());
    let has_it = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(has_it).filter(|pid| runs(*pid)).collect()
}

/// Whether the process runs; one that ended and was not reaped does not.
pub fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Sends a signal to one process.
pub fn signal(pid: u32, signal: Signal) -> nix::Result<()> {
    kill(Pid::from_raw(pid.cast_signed()), signal)
}
