//! A place for one test: a working directory and a temporary folder that nobody else uses.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{SigHandler, Signal, signal};
use tempfile::TempDir;

use crate::process::{self, eventually};

/// Small and quick: one arm, one node, one trial without a warm-up.
pub const SMALL: &str = r#"version = 1
[ensemble]
nodes = 1
[ensemble.zookeeper]
heap = "128m"
fsync = false
[trials]
count = 1
warmup = "0s"
duration = "1s"
rest = "100ms"
[workers]
count = 10
[bystanders]
sessions = 1
[[arm]]
recipe = "lock/naive"
"#;

/// Tests that start servers do so in turn: each brings up to three JVMs, and the machine may be small.
static SERVERS: Mutex<()> = Mutex::new(());

/// Where a test happens. In the end everything that it started is gone, or is killed and makes the test fail.
pub struct Place {
    folder: TempDir,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Place {
    /// For a test in which no server is to start.
    pub fn without_servers() -> Place {
        Place::new(None)
    }

    /// For a test that starts servers: waits for its turn.
    pub fn with_servers() -> Place {
        let turn = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        Place::new(Some(turn))
    }

    fn new(turn: Option<MutexGuard<'static, ()>>) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), _turn: turn };
        fs::create_dir(place.temporary()).unwrap();
        place
    }

    /// A file or folder of the place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder for temporary files, which also tells the place's processes from all others: they inherit it.
    pub fn temporary(&self) -> PathBuf {
        self.path("tmp")
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The command, in this place.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.in_place(env!("CARGO_BIN_EXE_bench-runner"), arguments)
    }

    /// Another program, in this place.
    pub fn in_place(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).env("TMPDIR", self.temporary());
        command.env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
        // As from a terminal, also where the tests were started with `nohup`: a run that inherits that ignores SIGHUP, as it should.
        // SAFETY: between fork and exec one system call is made, and nothing else.
        unsafe { command.pre_exec(|| Ok(signal(Signal::SIGHUP, SigHandler::SigDfl).map(drop)?)) };
        command
    }

    /// The folders of all runs of the scenario, whatever their names end with.
    pub fn runs_of(&self, scenario: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("results").join(scenario));
        entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }

    /// The one folder of the one run of the scenario.
    pub fn only_run_of(&self, scenario: &str) -> PathBuf {
        let runs = self.runs_of(scenario);
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// Sees that there is no results folder.
    pub fn assert_no_results(&self) {
        assert!(
            !self.path("results").exists(),
            "{:?}",
            fs::read_dir(self.path("results")).unwrap().collect::<Vec<_>>()
        );
    }

    /// Waits until no process of this place is left and nothing of an ensemble is in the temporary folder.
    pub fn assert_nothing_left(&self) {
        eventually("no process is left", || process::started_with(&self.temporary()).is_empty());
        eventually("no temporary folder is left", || self.ensembles().is_empty());
    }

    /// Folders of ensembles.
    pub fn ensembles(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.temporary()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| is_ensemble(path)).collect()
    }
}

fn is_ensemble(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("bench-runner-"))
}

impl Drop for Place {
    /// What a failed test leaves is killed, process by process.
    fn drop(&mut self) {
        for pid in process::started_with(&self.temporary()) {
            let _ = process::signal(pid, Signal::SIGKILL);
        }
    }
}
