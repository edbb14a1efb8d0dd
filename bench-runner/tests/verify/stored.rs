//! Runs on disk, made from acquisitions without servers.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bench_runner::ensemble::Description;
use bench_runner::measure::trial::measure;
use bench_runner::results::Folder;
use bench_runner::results::compose::{Run, compose};
use bench_runner::run::generator::GeneratorRecording;
use bench_runner::run::recording::{End, TrialRecording};
use bench_runner::run::schedule;
use bench_runner::scenario;
use bench_runner::verify::figures::Verification;
use bench_runner::verify::{self, VerifyError};
use tempfile::TempDir;
use workloads::bystander::BystanderLatencies;
use workloads::record::{Acquisition, Outcome, Passage, Recording, Tally};

/// One arm of four workers.
pub const LOCK: &str =
    "version = 1\n[trials]\ncount = 1\n[workers]\ncount = 4\n[[arm]]\nrecipe = \"lock/sequential\"\n";

/// A run on disk.
pub struct Stored {
    _place: TempDir,
    pub folder: PathBuf,
}

/// Acquisitions and passages of a trial.
#[derive(Default)]
pub struct Rows {
    pub acquisitions: Vec<Acquisition>,
    pub passages: Vec<Passage>,
}

impl From<Vec<Acquisition>> for Rows {
    fn from(acquisitions: Vec<Acquisition>) -> Self {
        Rows { acquisitions, ..Rows::default() }
    }
}

impl Stored {
    /// Writes a run of this scenario, trial by trial as it plans them; with `cut` one that did not come to its end.
    pub fn new(settings: &str, trials: Vec<Rows>, cut: bool) -> Stored {
        let place = tempfile::tempdir().unwrap();
        let scenario =
            scenario::parse("stored", settings, &[]).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let mut folder = Folder::create(place.path(), "stored", SystemTime::UNIX_EPOCH).unwrap();
        let mut measured: Vec<Vec<_>> = scenario.arms.iter().map(|_| Vec::new()).collect();
        let planned = schedule::plan(&scenario).into_iter().filter(|planned| !planned.is_warmup());
        for (planned, rows) in planned.zip(trials) {
            let recording = recording(planned, rows);
            let arm = &scenario.arms[planned.arm];
            measured[planned.arm].push(measure(&scenario, arm, &recording));
            folder.add_trial(&arm.label, &recording).unwrap();
        }
        let ensembles = [Description {
            service: "zookeeper".to_owned(),
            provider: "local".to_owned(),
            version: String::new(),
            java: None,
            installation: String::new(),
            nodes: Vec::new(),
            settings: Default::default(),
        }];
        let run = Run {
            scenario: &scenario,
            ensembles: &ensembles,
            nodes: Vec::new(),
            started: SystemTime::UNIX_EPOCH,
            elapsed: Duration::from_secs(1),
            incomplete: cut.then(|| "interrupted".to_owned()),
            peak_rss_bytes: 0,
            noticed: Vec::new(),
        };
        folder.write_summary(&compose(&run, &measured).0).unwrap();
        let folder = if cut { folder.path().to_owned() } else { folder.publish().unwrap() };
        Stored { _place: place, folder }
    }

    /// A run of one trial of one arm.
    pub fn of(acquisitions: Vec<Acquisition>) -> Stored {
        Stored::new(LOCK, vec![acquisitions.into()], false)
    }

    /// What the verification finds.
    pub fn verified(&self) -> Verification {
        verify::verify(&self.folder).unwrap()
    }

    /// Why it cannot be verified.
    pub fn refused(&self) -> VerifyError {
        verify::verify(&self.folder).unwrap_err()
    }

    /// Changes a file of the run.
    pub fn edit(&self, file: &str, edit: impl FnOnce(String) -> String) {
        let path = self.folder.join(file);
        fs::write(&path, edit(fs::read_to_string(&path).unwrap())).unwrap();
    }

    /// Changes one column of one line of `acquisitions.csv`; lines are counted from 1, the head's.
    pub fn edit_cell(&self, line: usize, column: usize, value: &str) {
        self.edit("acquisitions.csv", |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut cells: Vec<&str> = lines[line - 1].split(',').collect();
            cells[column] = value;
            lines[line - 1] = cells.join(",");
            lines.join("\n") + "\n"
        });
    }
}

fn recording(planned: schedule::Planned, rows: Rows) -> TrialRecording {
    let last = rows.acquisitions.iter().map(|one| one.over.max(one.granted)).max().unwrap_or(0);
    TrialRecording {
        planned,
        end: End::Complete,
        workers: Recording {
            length: last + 1_000,
            tally: Tally::default(),
            joined: None,
            timeline: Vec::new(),
            fan_out: Vec::new(),
            untracked: 0,
            acquisitions: rows.acquisitions,
        },
        passages: rows.passages,
        arrivals_left: None,
        counters: None,
        missing_book: None,
        samples: Vec::new(),
        bystanders: BystanderLatencies::default(),
        generator: GeneratorRecording::default(),
        held_back: 0,
        nodes_cpu_seconds: None,
        other_cpu_share: None,
        idle_rss_bytes: 0,
        silent_nodes: Default::default(),
        failures: Default::default(),
        faults: Vec::new(),
        sessions_lost: 0,
        fenced_writes: Default::default(),
        updates: Default::default(),
    }
}

/// A grant from one moment to another, called and queued just before.
pub fn grant(worker: u32, token: i64, called: u64, from: u64, to: u64) -> Acquisition {
    Acquisition {
        outcome: Outcome::Released,
        token,
        enqueued: called + 1,
        granted: from,
        release_sent: to,
        released: to + 1,
        over: to,
        ..Acquisition::called(worker, 0, called, called)
    }
}

/// A lock that works: workers queue in the order in which they call, and each holds for as long as `holds` says. Grant `n` has token
/// `10 * (n + 1)`.
pub fn served_in_order(holds: &[u64]) -> Vec<Acquisition> {
    let mut free = 10;
    let mut rows = Vec::new();
    for (turn, hold) in holds.iter().enumerate() {
        let turn_number = turn as u64;
        let called = 1 + turn_number * 2;
        let from = free.max(called + 1);
        rows.push(grant((turn % 4) as u32, 10 * (turn as i64 + 1), called, from, from + hold));
        free = from + hold + 2;
    }
    rows
}
