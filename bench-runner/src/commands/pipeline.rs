//! A run under way, trial by trial: from the servers' start to the folder's final name. Several run in turn.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Instant, SystemTime};

use tokio_util::sync::CancellationToken;
use workloads::claim::PARENT;

use super::ensembles::Ensembles;
use super::report::{REPORT, draw};
use super::{Failure, styled_stderr, verdict};
use crate::ensemble::EnsembleError;
use crate::measure::arm::MeasuredArm;
use crate::measure::trial::{self as measure_trial, MeasuredTrial};
use crate::report::{self, format};
use crate::results::compose::{Run, TrialsByArm, compose};
use crate::results::summary::Summary;
use crate::results::warnings::Warning;
use crate::results::{Folder, FolderError};
use crate::run::generator;
use crate::run::progress::Progress;
use crate::run::recording::{End, TrialRecording};
use crate::run::schedule::{self, Planned};
use crate::run::trial::{self, Context, TrialError};
use crate::scenario::Scenario;
use crate::stderr;

/// What a run leaves.
pub(super) struct Done {
    pub summary: Summary,
    pub folder: PathBuf,
    /// The report; `None` where it could not be written.
    pub page: Option<PathBuf>,
    /// Why it did not come to its planned end, if it did not.
    failure: Option<Failure>,
}

impl Done {
    /// Tells on stderr what went wrong; the exit code of that.
    pub fn tell(&self) -> u8 {
        let violations = report::violations(&self.summary);
        let (code, lines) = verdict::of(&violations, self.failure.as_ref(), &self.folder, styled_stderr());
        lines.iter().for_each(|line| stderr::line(line));
        code
    }
}

/// A run under way: its servers, its folder, and what has been measured so far.
pub(super) struct Pipeline<'a> {
    scenario: &'a Scenario,
    plan: Vec<Planned>,
    progress: &'a dyn Progress,
    interrupted: CancellationToken,
    folder: Folder,
    ensembles: Ensembles,
    root: String,
    idle_rss_bytes: u64,
    idle_heap_bytes: u64,
    idle_tasks: usize,
    peak_rss_bytes: u64,
    started: SystemTime,
    begun: Instant,
    trials: TrialsByArm,
    noticed: Vec<Warning>,
}

impl<'a> Pipeline<'a> {
    /// Starts the servers of every scenario and runs all trials, in turn where there are several; keeps what there is, however
    /// they end.
    pub async fn run<const N: usize>(
        scenarios: [&'a Scenario; N],
        out: &Path,
        interrupted: &CancellationToken,
        progress: &'a dyn Progress,
    ) -> Result<[Done; N], Failure> {
        let mut pipelines = Vec::with_capacity(N);
        for scenario in scenarios {
            match Pipeline::prepare(scenario, out, interrupted.clone(), progress).await {
                Ok(pipeline) => pipelines.push(pipeline),
                Err(failure) => {
                    for prepared in pipelines {
                        prepared.abandon().await;
                    }
                    return Err(failure);
                }
            }
        }
        // The servers of the later ones have tasks too.
        pipelines.iter_mut().for_each(|pipeline| pipeline.idle_tasks = generator::alive_tasks());
        let mut failures: Vec<Option<Failure>> = pipelines.iter().map(|_| None).collect();
        let trials = pipelines.iter().map(|pipeline| pipeline.plan.len()).max().unwrap_or(0);
        'trials: for number in 0..trials {
            for step in 0..N {
                // Forwards and backwards in turn, so that a drift favours none.
                let which = if number % 2 == 0 { step } else { N - 1 - step };
                let (ended, go_on) = pipelines[which].step(number).await;
                failures[which] = ended.or(failures[which].take());
                if !go_on {
                    break 'trials;
                }
            }
        }
        let cut = failures.iter().any(Option::is_some);
        let mut done = Vec::with_capacity(N);
        let mut first = None;
        for (pipeline, failure) in pipelines.into_iter().zip(failures) {
            let failure = failure.or_else(|| {
                cut.then(|| Failure::Unfinished("the other variant did not come to its planned end".to_owned()))
            });
            match pipeline.end(failure).await {
                Ok(one) => done.push(one),
                Err(failure) => first = first.or(Some(failure)),
            }
        }
        match (<[Done; N]>::try_from(done), first) {
            (Ok(done), None) => Ok(done),
            (_, Some(failure)) => Err(failure),
            // Each pipeline either is done or has a failure.
            (Err(_), None) => Err(Failure::Unfinished("a run came to no end".to_owned())),
        }
    }

    /// Makes the folder and starts the servers.
    async fn prepare(
        scenario: &'a Scenario,
        out: &Path,
        interrupted: CancellationToken,
        progress: &'a dyn Progress,
    ) -> Result<Self, Failure> {
        let started = SystemTime::now();
        let folder = Folder::create(out, &scenario.name, started).map_err(|error| Failure::Usage(error.to_string()))?;
        let begun = Instant::now();
        let say = |what: &str| progress.say(what);
        let prepare = async {
            // At once, so that a run which is killed says what it was.
            folder
                .write(&format!("{}.toml", scenario.name), &scenario.text)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            Ensembles::start(scenario, &say).await
        };
        let prepared = tokio::select! {
            biased;
            () = interrupted.cancelled() => Err(Failure::Interrupted),
            prepared = prepare => prepared,
        };
        let mut ensembles = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => {
                folder.discard();
                return Err(failure);
            }
        };
        let root = new_root(started);
        let claimed = match ensembles.claim(scenario, &root, &say).await {
            Ok(_) if interrupted.is_cancelled() => Err(Failure::Interrupted),
            claimed => claimed.map_err(Failure::from),
        };
        let noticed = match claimed {
            Ok(noticed) => noticed,
            Err(failure) => {
                give_back(ensembles).await;
                folder.discard();
                return Err(failure);
            }
        };
        Ok(Pipeline {
            scenario,
            plan: schedule::plan(scenario),
            progress,
            interrupted,
            folder,
            ensembles,
            root,
            idle_rss_bytes: generator::memory().now,
            idle_heap_bytes: generator::live_heap_bytes(),
            idle_tasks: generator::alive_tasks(),
            peak_rss_bytes: 0,
            started,
            begun,
            trials: scenario.arms.iter().map(|_| Vec::new()).collect(),
            noticed,
        })
    }

    /// Runs the trial with this number of the plan: what it failed by, and whether the others may follow.
    async fn step(&mut self, number: usize) -> (Option<Failure>, bool) {
        let Some(planned) = self.plan.get(number).copied() else { return (None, true) };
        let warmups = self.plan.iter().filter(|planned| planned.is_warmup()).count();
        let arm = &self.scenario.arms[planned.arm];
        let (kind, number, of) = match planned.is_warmup() {
            true => ("warm-up", number + 1, warmups),
            false => ("trial", number + 1 - warmups, self.plan.len() - warmups),
        };
        self.progress.trial(&arm.label, kind, number, of);
        match self.trial(planned).await {
            // One drain too long says nothing of the others.
            Ok(end) => {
                let failure = Failure::of_end(&end);
                let go_on = failure.is_none() || end == End::Overdue;
                (failure, go_on)
            }
            Err(error) => (Some(error), false),
        }
    }

    /// All trials are over, or one of them has failed.
    async fn end(self, failure: Option<Failure>) -> Result<Done, Failure> {
        let measured = self.trials.iter().any(|trials| !trials.is_empty());
        match failure {
            Some(failure) if !measured => {
                self.progress.say(self.ensembles.last_words());
                self.abandon().await;
                Err(failure)
            }
            failure => Ok(self.finish(failure).await),
        }
    }

    /// Leaves nothing behind.
    async fn abandon(self) {
        give_back(self.ensembles).await;
        self.folder.discard();
    }

    /// Runs one trial, measures it, and writes down what came out of it.
    async fn trial(&mut self, planned: Planned) -> Result<End, Failure> {
        let arm = &self.scenario.arms[planned.arm];
        generator::release_free_memory(self.idle_tasks).await;
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
        let measured = measure_trial::measure(self.scenario, arm, &recording);
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

    /// Stops the servers, writes everything, and gives a complete run its final name. The figures are handed over even when
    /// they cannot be written.
    async fn finish(self, mut failure: Option<Failure>) -> Done {
        let (mut summary, arms) = self.compose(failure.as_ref().map(Failure::reason));
        self.progress.say(self.ensembles.last_words());
        if let Err(error) = self.ensembles.stop().await {
            self.progress.trial_over(&format!("warning: {error}"));
        }
        self.progress.say("writing the results");
        let written = write(&self.folder, &summary, &arms)
            .and_then(|()| if summary.complete { self.folder.publish() } else { Ok(self.folder.path().to_owned()) });
        match written {
            Ok(folder) => Done { summary, page: Some(folder.join(REPORT)), folder, failure },
            Err(error) => {
                let error = Failure::from(error);
                if summary.complete {
                    summary.complete = false;
                    summary.incomplete_reason = Some(error.reason());
                    // Where it was only the new name that failed, the summary there says that the run is complete.
                    let _ = self.folder.write_summary(&summary);
                }
                // What failed before is the cause.
                failure.get_or_insert(error);
                Done { summary, page: None, folder: self.folder.path().to_owned(), failure }
            }
        }
    }
}

/// A path on the servers, unique among runs against the same ones, now and later.
pub(super) fn new_root(started: SystemTime) -> String {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    format!("{PARENT}/{}-{}-{run}", humantime::format_rfc3339_seconds(started), process::id())
}

/// Stops servers after a failure, which is the message; but what stays on servers of somebody else's has to be known.
async fn give_back(ensembles: Ensembles) {
    if let Err(error @ EnsembleError::Left { .. }) = ensembles.stop().await {
        stderr::line(&format!("warning: {error}"));
    }
}

/// Writes everything that is not written trial by trial. The summary comes last: as long as anything is missing, the one
/// that is there says that the run had not finished.
fn write(folder: &Folder, summary: &Summary, arms: &[MeasuredArm]) -> Result<(), FolderError> {
    for (number, arm) in arms.iter().enumerate() {
        for (stage, histogram) in arm.stages.named() {
            if !histogram.is_empty() {
                folder.write_percentiles(number, &arm.figures.label, stage, histogram)?;
            }
        }
    }
    draw(folder.path(), summary)?;
    folder.write_summary(summary)
}

/// What a trial yielded, in a line.
fn line(label: &str, trial: &MeasuredTrial) -> String {
    let figures = &trial.figures;
    let mut parts = match &figures.barriers {
        Some(barriers) => vec![
            format!("{} enters and {} leaves", format::count(barriers.enters), format::count(barriers.leaves)),
            format!("{} notifications", format::count(figures.notifications.client)),
        ],
        None => vec![
            format!("{} grants", format::count(figures.grants)),
            format!("{} a second", format::trimmed(figures.grants_per_second)),
        ],
    };
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
