//! `bench-runner run`: leads a scenario through all stages.

use std::path::PathBuf;
use std::process;
use std::time::{Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use super::ensembles::Ensembles;
use super::report::{draw, show};
use super::{Failure, print};
use crate::cli::{Format, RunArgs};
use crate::ensemble::limits;
use crate::exit;
use crate::measure::arm::MeasuredArm;
use crate::measure::trial::{self as measure_trial, MeasuredTrial};
use crate::report::format;
use crate::results::Folder;
use crate::results::compose::{Run, TrialsByArm, compose};
use crate::results::summary::Summary;
use crate::results::warnings::Warning;
use crate::run::generator;
use crate::run::interrupt;
use crate::run::progress::{Progress, Silent, Terminal};
use crate::run::recording::{End, TrialRecording};
use crate::run::schedule::{self, Planned};
use crate::run::trial::{self, Context, TrialError};
use crate::scenario::{self, Scenario};

/// Descriptors that the process needs besides one for each session: its files, the runtime's, the keepers' pipes.
const OTHER_FILES: u64 = 256;

pub(super) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let scenario = scenario::load(&args.scenario.scenario, &args.scenario.set)?;
    let sessions = scenario.arms.iter().map(|arm| u64::from(arm.workers.workers)).max().unwrap_or(0);
    // Before the servers start, which inherit the limit: in the worst case all sessions are with one node.
    limits::ensure_open_files(sessions + u64::from(scenario.bystanders.sessions) + OTHER_FILES)?;
    let folder = Folder::create(&args.out, &scenario.name, SystemTime::now())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    // One thread for the workers: the generator shares the machine with the servers, and a second thread would steal more
    // from them than it gives (measured: no more grants, and a larger share of the CPU).
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("cannot start the runtime: {error}")))?;
    let progress: Box<dyn Progress> = if args.quiet { Box::new(Silent) } else { Box::new(Terminal::new()) };
    let outcome = runtime.block_on(Pipeline::start(&scenario, folder, progress.as_ref()));
    progress.finish();
    // Tasks that still run hold sessions of servers that are gone; nothing is to be waited for.
    runtime.shutdown_background();
    let done = outcome?;
    show(&done.summary, args.format)?;
    if args.format == Format::Human {
        print(&format!("\nreport: {}\n", done.page.display()));
    } else if !args.quiet {
        eprintln!("report: {}", done.page.display());
    }
    Ok(done.code)
}

/// What a run leaves.
struct Done {
    summary: Summary,
    page: PathBuf,
    code: u8,
}

/// A run under way: its servers, its folder, and what has been measured so far.
struct Pipeline<'a> {
    scenario: &'a Scenario,
    progress: &'a dyn Progress,
    interrupted: CancellationToken,
    folder: Folder,
    ensembles: Ensembles,
    root: String,
    idle_rss_bytes: u64,
    idle_heap_bytes: u64,
    peak_rss_bytes: u64,
    started: SystemTime,
    begun: Instant,
    trials: TrialsByArm,
    noticed: Vec<Warning>,
}

impl<'a> Pipeline<'a> {
    /// Starts the servers and runs everything.
    async fn start(scenario: &'a Scenario, folder: Folder, progress: &'a dyn Progress) -> Result<Done, Failure> {
        let started = SystemTime::now();
        let begun = Instant::now();
        let interrupted =
            interrupt::listen().map_err(|error| Failure::Internal(format!("cannot listen for Ctrl-C: {error}")))?;
        let say = |what: &str| progress.say(what);
        let ensembles = tokio::select! {
            biased;
            () = interrupted.cancelled() => Err(Failure::Interrupted),
            ensembles = Ensembles::start(scenario, &say) => ensembles.map_err(Failure::from),
        };
        let ensembles = match ensembles {
            Ok(ensembles) => ensembles,
            Err(failure) => {
                folder.discard();
                return Err(failure);
            }
        };
        let pipeline = Pipeline {
            scenario,
            progress,
            interrupted,
            folder,
            ensembles,
            // Unique among runs against the same servers, now and later.
            root: format!("/bench-runner/{}-{}", humantime::format_rfc3339_seconds(started), process::id()),
            idle_rss_bytes: generator::memory().now,
            idle_heap_bytes: generator::live_heap_bytes(),
            peak_rss_bytes: 0,
            started,
            begun,
            trials: scenario.arms.iter().map(|_| Vec::new()).collect(),
            noticed: Vec::new(),
        };
        pipeline.run().await
    }

    /// Runs all trials, and keeps what there is, however they end.
    async fn run(mut self) -> Result<Done, Failure> {
        let mut failure = None;
        let mut incomplete = None;
        let plan = schedule::plan(self.scenario);
        for (number, planned) in plan.iter().enumerate() {
            let arm = &self.scenario.arms[planned.arm];
            self.progress.trial(&arm.label, number + 1, plan.len(), planned.is_warmup());
            match self.trial(*planned).await {
                Ok(End::Complete) => {}
                Ok(end) => {
                    incomplete = end.reason();
                    failure = match end {
                        End::Interrupted => Some(exit::INTERRUPTED),
                        End::EnsembleLost(_) | End::WorkersLost => Some(exit::ENSEMBLE),
                        // One drain too long says nothing of the others.
                        End::Complete | End::Overdue => continue,
                    };
                    break;
                }
                Err(error) => {
                    incomplete = Some(error.render(false));
                    failure = Some(error.exit_code());
                    if self.trials.iter().all(Vec::is_empty) {
                        let _ = self.ensembles.stop().await;
                        self.folder.discard();
                        return Err(error);
                    }
                    break;
                }
            }
        }
        self.finish(incomplete, failure).await
    }

    /// Runs one trial, measures it, and writes down what came out of it.
    async fn trial(&mut self, planned: Planned) -> Result<End, Failure> {
        let arm = &self.scenario.arms[planned.arm];
        generator::release_free_memory();
        let context = Context {
            scenario: self.scenario,
            ensemble: self.ensembles.of(arm.service),
            root: &self.root,
            // What earlier trials left (histograms, series) is none of this trial's workers'.
            idle_rss_bytes: self.idle_rss_bytes + generator::live_heap_bytes().saturating_sub(self.idle_heap_bytes),
            interrupted: &self.interrupted,
            progress: self.progress,
        };
        let recording = match trial::run(&context, planned).await {
            Ok(recording) => recording,
            Err(TrialError::Interrupted) => return Ok(End::Interrupted),
            Err(error) => return Err(error.into()),
        };
        let end = recording.end.clone();
        self.peak_rss_bytes = self.peak_rss_bytes.max(recording.generator.peak_rss_bytes);
        if planned.is_warmup() {
            return Ok(end);
        }
        self.notice(&arm.label, &recording);
        let measured = measure_trial::measure(arm, &recording);
        self.progress.trial_over(&line(&arm.label, &measured));
        self.trials[planned.arm].push(measured);
        self.folder.add_trial(&arm.label, &recording)?;
        drop(recording);
        // So that a run which is killed leaves what it had measured, marked as partial.
        let (summary, _) = self.compose(Some("the run had not finished when this was written".to_owned()));
        self.folder.write_summary(&summary)?;
        Ok(end)
    }

    fn notice(&mut self, label: &str, recording: &TrialRecording) {
        let label = || label.to_owned();
        if !recording.failures.is_empty() {
            let told: Vec<String> =
                recording.failures.iter().map(|(told, times)| format!("{times} × {told}")).collect();
            self.noticed.push(Warning::SessionsLost { label: label(), told: told.join("; ") });
        }
        // Once or twice is a busy machine's; a node that is stopped misses one a second.
        for (node, times) in recording.silent_nodes.iter().filter(|(_, times)| **times > 2) {
            self.noticed.push(Warning::NodeSilent { label: label(), node: node.clone(), times: *times });
        }
        if let Some(elections) = recording.counters.and_then(|counters| counters.leaders).filter(|count| *count > 0) {
            self.noticed.push(Warning::Elections { label: label(), elections });
        }
        if recording.bystanders.failed > 0 {
            self.noticed.push(Warning::BystandersFailed { label: label(), failed: recording.bystanders.failed });
        }
    }

    fn compose(&self, incomplete: Option<String>) -> (Summary, Vec<MeasuredArm>) {
        let run = Run {
            scenario: self.scenario,
            ensembles: &self.ensembles.descriptions,
            nodes: self.ensembles.usage(),
            started: self.started,
            elapsed: self.begun.elapsed(),
            incomplete,
            peak_rss_bytes: self.peak_rss_bytes,
            noticed: self.noticed.clone(),
        };
        compose(&run, &self.trials)
    }

    /// Writes everything, stops the servers, and gives a complete run its final name.
    async fn finish(self, incomplete: Option<String>, failure: Option<u8>) -> Result<Done, Failure> {
        let complete = incomplete.is_none();
        let (summary, arms) = self.compose(incomplete);
        self.progress.say("stopping the servers");
        if let Err(error) = self.ensembles.stop().await {
            eprintln!("warning: {error}");
        }
        self.progress.say("writing the results");
        for arm in &arms {
            for (stage, histogram) in arm.stages.named() {
                if !histogram.is_empty() {
                    self.folder.write_percentiles(&arm.figures.label, stage, histogram)?;
                }
            }
        }
        self.folder.write_summary(&summary)?;
        self.folder.write("scenario.toml", &summary.settings)?;
        let mut page = draw(self.folder.path(), &summary)?;
        if complete {
            page = self.folder.publish()?.join("report.html");
        }
        let unsafe_grants = summary.arms.iter().any(|arm| arm.safety.is_violated());
        let code = if unsafe_grants { exit::UNSAFE } else { failure.unwrap_or(exit::DONE) };
        Ok(Done { summary, page, code })
    }
}

/// What a trial yielded, in a line.
fn line(label: &str, trial: &MeasuredTrial) -> String {
    let figures = &trial.figures;
    let mut parts = vec![
        format!("{} grants", format::count(figures.grants)),
        format!("{} a second", format::trimmed(figures.grants_per_second)),
    ];
    if let Some(mean) = figures.fan_out.mean {
        parts.push(format!("{} notified by a release", format::trimmed(mean)));
    }
    if let Some(requests) = figures.requests.per_grant {
        parts.push(format!("{} requests a grant", format::trimmed(requests)));
    }
    if figures.safety.is_violated() {
        parts.push("UNSAFE".to_owned());
    }
    format!("trial {}, {label}: {}", figures.position, parts.join(", "))
}
