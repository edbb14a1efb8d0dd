//! One trial, from connecting the workers to sending them home.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use workloads::bystander::{Bystanders, Phase};
use workloads::fleet::{Fleet, FleetError, Target};
use workloads::record::{Capacity, Recorder};
use workloads::settings::{Mode, Recipe};
use workloads::worker::Plan;

use super::faults::Faults;
use super::generator;
use super::machine::MachineTime;
use super::progress::{Progress, Step};
use super::recording::{End, MissingBook, Sample, TrialRecording};
use super::schedule::Planned;
use crate::ensemble::{Counters, Ensemble, EnsembleError, NodeSample, NodeState};
use crate::fault;
use crate::scenario::{ArmSettings, Scenario};

/// Why a trial could not be run at all. What goes wrong once the workers have started is an [`End`] instead.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The ensemble was lost, or does not answer.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// The workers could not be connected.
    #[error("{0}; the servers may be overloaded: use fewer workers, or a longer workers.session_timeout")]
    Fleet(#[from] FleetError),
    /// The bystanders could not be connected.
    #[error("the bystanders got no session: {0}; the servers may be overloaded: use fewer workers")]
    Bystanders(workloads::bystander::BystanderError),
    /// The user interrupted before the workers had started.
    #[error("interrupted")]
    Interrupted,
}

/// What all trials of a run share.
pub struct Context<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The servers of the arm's service.
    pub ensemble: &'a Ensemble,
    /// The path on the servers below which this run keeps everything.
    pub root: &'a str,
    /// Resident set of the generator without workers, in bytes.
    pub idle_rss_bytes: u64,
    /// Cancelled by the first Ctrl-C.
    pub interrupted: &'a CancellationToken,
    /// Told how the trial comes along.
    pub progress: &'a dyn Progress,
}

/// How often the runner looks whether the trial is over.
const LOOK: Duration = Duration::from_millis(20);
/// How often it looks whether the nodes still run while nothing else tells.
const ALIVE_PACE: Duration = Duration::from_millis(100);
/// How long after an error a node may be found to have ended.
const CAUSE_LIMIT: Duration = Duration::from_secs(1);
/// How often it asks the nodes for CPU, memory and watches.
const SAMPLE_PACE: Duration = Duration::from_secs(1);
/// How often it gives freed memory back to the system; each time takes it under 1 ms.
const TRIM_PACE: Duration = Duration::from_millis(200);
/// How long the ensemble may take to come to rest after a trial.
const REST_LIMIT: Duration = Duration::from_secs(30);
/// How long tidying up after a trial may take, and the sessions of the trial before may linger.
const TIDY_LIMIT: Duration = Duration::from_secs(30);
/// How long it is counted at the least, before each trial on external servers, what others do there.
const OTHERS_LENGTH: Duration = Duration::from_secs(1);
/// The most grants a second that room is set aside for; what goes beyond is told as untracked. Room costs nothing until it
/// is used.
const GRANTS_PER_SECOND: u64 = 20_000;

/// Runs one trial.
///
/// # Errors
///
/// [`TrialError`] when the workers could not be started. Whatever happens later, a recording is handed over.
pub async fn run(context: &Context<'_>, planned: Planned) -> Result<TrialRecording, TrialError> {
    let started = match unless_stopped(context, Started::bring_up(context, planned)).await? {
        Ok(started) => started,
        Err(error) => return Err(cause(context, error).await),
    };
    let others = unless_stopped(context, started.rest()).await?;
    Ok(started.measure(others).await)
}

/// Carries out what happens before the workers start, unless the user interrupts or a node ends: then that is the error,
/// and not what became of it in a connection somewhere.
async fn unless_stopped<T>(context: &Context<'_>, step: impl Future<Output = T>) -> Result<T, TrialError> {
    let lost = async {
        loop {
            if let Err(error) = context.ensemble.check_alive() {
                return error;
            }
            tokio::time::sleep(ALIVE_PACE).await;
        }
    };
    tokio::select! {
        biased;
        () = context.interrupted.cancelled() => Err(TrialError::Interrupted),
        error = lost => Err(error.into()),
        done = step => Ok(done),
    }
}

/// What an error comes from: a connection breaks a moment before the end of its node is known.
async fn cause(context: &Context<'_>, error: TrialError) -> TrialError {
    let unchanged = async {
        tokio::time::sleep(CAUSE_LIMIT).await;
        error
    };
    unless_stopped(context, unchanged).await.unwrap_or_else(|cause| cause)
}

/// What other clients of external servers did while ours were at rest.
#[derive(Clone, Copy)]
struct Others {
    notifications: u64,
    seconds: u64,
}

/// A trial whose workers are connected and wait.
struct Started<'a> {
    context: &'a Context<'a>,
    planned: Planned,
    arm: &'a ArmSettings,
    /// Planned length: the limit of a drain, the duration of everything else.
    length: Duration,
    recorder: Arc<Recorder>,
    plan: Arc<Plan>,
    fleet: Fleet,
    bystanders: Bystanders,
}

impl<'a> Started<'a> {
    async fn bring_up(context: &'a Context<'a>, planned: Planned) -> Result<Started<'a>, TrialError> {
        let scenario = context.scenario;
        let arm = &scenario.arms[planned.arm];
        let settings = &arm.workers;
        let length = match (settings.mode, planned.is_warmup()) {
            (Mode::Drain | Mode::Barriers { .. }, _) => scenario.trials.limit,
            (_, true) => scenario.trials.warmup,
            (_, false) => scenario.trials.duration,
        };
        let recorder = Arc::new(Recorder::new(capacity(arm, length), arm.telemetry));
        let seed = scenario.seed.wrapping_add(u64::from(planned.position) << 32);
        let plan = Arc::new(Plan::new(settings, length, seed, Arc::clone(&recorder)));
        let target = Target {
            service: arm.service,
            endpoints: context.ensemble.connect_string(),
            root: format!("{}/trial-{}-{}", context.root, planned.position, planned.arm),
            access: context.ensemble.access().clone(),
        };
        let connected = Arc::new(AtomicU32::new(0));
        let show_connecting = async {
            loop {
                let connected = connected.load(Ordering::Relaxed);
                context.progress.step(Step::Connecting { connected, workers: settings.workers });
                tokio::time::sleep(LOOK * 5).await;
            }
        };
        let fleet = tokio::select! {
            fleet = Fleet::connect(target.clone(), settings, Arc::clone(&plan), Arc::clone(&connected)) => fleet?,
            () = show_connecting => unreachable!("it shows for ever"),
        };
        let scenario_bystanders = &scenario.bystanders;
        let bystanders = Bystanders::start(
            &target,
            scenario_bystanders.sessions,
            scenario_bystanders.rate,
            settings.session_timeout,
        )
        .await
        .map_err(TrialError::Bystanders)?;
        Ok(Started { context, planned, arm, length, recorder, plan, fleet, bystanders })
    }

    /// Leaves the bystanders alone for a while, to compare with; on servers that are not ours, counts meanwhile what others
    /// do there.
    async fn rest(&self) -> Option<Others> {
        let (scenario, ensemble) = (self.context.scenario, self.context.ensemble);
        if self.planned.is_warmup() {
            return None;
        }
        let bystanders = if scenario.bystanders.sessions > 0 { scenario.trials.rest } else { Duration::ZERO };
        let length = if ensemble.is_external() { bystanders.max(OTHERS_LENGTH) } else { bystanders };
        if length == Duration::ZERO {
            return None;
        }
        self.context.progress.step(Step::Resting);
        self.bystanders.enter(Phase::Rest);
        if !ensemble.is_external() {
            tokio::time::sleep(length).await;
            return None;
        }
        let before = ensemble.counters().await.ok();
        tokio::time::sleep(length).await;
        let counted = ensemble.counters().await.ok()?.since(&before?)?;
        Some(Others { notifications: counted.notifications?.total, seconds: length.as_secs().max(1) })
    }

    async fn measure(mut self, others: Option<Others>) -> TrialRecording {
        let Context { ensemble, progress, scenario, .. } = *self.context;
        let held_back = || ensemble.access().throttle.as_ref().map_or(0, |throttle| throttle.held_back());
        let held_back_before = held_back();
        let counters_before = ensemble.counters().await;
        let watch = generator::Watch::start();
        let nodes_cpu_before = nodes_cpu_seconds(ensemble);
        let machine_before = MachineTime::now();

        self.bystanders.enter(Phase::Contention);
        self.fleet.start();
        let seed = scenario.seed.wrapping_add(u64::from(self.planned.position));
        // A warm-up warms up, and nothing else.
        let faults = if self.planned.is_warmup() { &[][..] } else { &scenario.faults };
        let faults = Faults::new(faults, ensemble, &self.recorder, seed);
        let (mut end, samples, silent_nodes) = self.watch_until_over(&faults).await;
        let length = self.recorder.now();
        self.fleet.stop();
        self.bystanders.enter(Phase::Between);

        let held_back = held_back() - held_back_before;

        let generator = watch.finish().await;
        let nodes_cpu_seconds = nodes_cpu_seconds(ensemble).zip(nodes_cpu_before).map(|(now, before)| now - before);
        let own_seconds = generator.cpu_seconds + nodes_cpu_seconds.unwrap_or(0.0);
        let other_cpu_share =
            machine_before.zip(MachineTime::now()).and_then(|(before, now)| now.share_of_others(&before, own_seconds));
        match end {
            End::Interrupted => progress.say("interrupted; closing the books (once more to stop at once)"),
            _ => progress.step(Step::Closing),
        }
        let lost = matches!(end, End::EnsembleLost(_) | End::WorkersLost);
        let faults = faults.heal(&self.fleet).await;
        let at_rest = !lost && self.fleet.come_to_rest(REST_LIMIT).await;
        let (counters, missing_book) = match lost {
            true => (None, Some(MissingBook::EndedBefore)),
            false => self.server_book(counters_before, at_rest, others).await,
        };
        if let (End::Complete, Err(error)) = (&end, ensemble.check_alive()) {
            end = End::EnsembleLost(error.to_string());
        }
        let lost = matches!(end, End::EnsembleLost(_) | End::WorkersLost);
        let failures = self.fleet.failures();
        let arrivals_left = matches!(self.arm.workers.mode, Mode::Open(_)).then(|| self.plan.arrivals_left(length));
        let workers = self.fleet.finish(length).await;
        // Last, so that a holder that was refused a write while the books were closed is in these as it is in those.
        let (sessions_lost, fenced_writes) = (self.fleet.sessions_lost(), self.fleet.fenced_writes());
        let passages = self.plan.passages();
        let updates = self.plan.updates();
        let bystanders = timeout(TIDY_LIMIT, self.bystanders.finish()).await.unwrap_or_default();
        if !lost {
            // What is left behind goes with the ensemble; the trial's figures are complete in any case.
            let _ = timeout(TIDY_LIMIT, self.fleet.disconnect()).await;
            let _ = ensemble.settled(0, 0, TIDY_LIMIT).await;
        }
        TrialRecording {
            planned: self.planned,
            end,
            workers,
            passages,
            arrivals_left,
            counters,
            missing_book,
            samples,
            bystanders,
            generator,
            nodes_cpu_seconds,
            held_back,
            other_cpu_share,
            idle_rss_bytes: self.context.idle_rss_bytes,
            silent_nodes,
            failures,
            faults,
            sessions_lost,
            fenced_writes,
            updates,
        }
    }

    /// The servers' counters over the trial, and why there is no book of notifications in them.
    async fn server_book(
        &self,
        before: Result<Counters, EnsembleError>,
        at_rest: bool,
        others: Option<Others>,
    ) -> (Option<Counters>, Option<MissingBook>) {
        let ensemble = self.context.ensemble;
        let others = others.filter(|others| others.notifications > 0);
        let after = match others {
            // They do not come to rest.
            Some(_) => ensemble.counters().await,
            None => ensemble.counters_at_rest(REST_LIMIT).await,
        };
        match before.and_then(|before| Ok(after?.since(&before))) {
            Err(error) => (None, Some(MissingBook::NotRead(error.to_string()))),
            Ok(None) => (None, Some(MissingBook::StartedAgain)),
            Ok(Some(counters)) if counters.notifications.is_none() => {
                (Some(counters), Some(MissingBook::NoCounter(ensemble.no_notifications())))
            }
            Ok(Some(counters)) => {
                let not_ours = others
                    .map(|Others { notifications, seconds }| MissingBook::NotOursAlone { notifications, seconds });
                (Some(counters), not_ours.or((!at_rest).then_some(MissingBook::NotAtRest)))
            }
        }
    }

    /// Waits until the trial is over, whichever way; carries the faults out and samples the nodes meanwhile.
    async fn watch_until_over(&self, faults: &Faults<'_>) -> (End, Vec<Sample>, BTreeMap<String, u32>) {
        let ensemble = self.context.ensemble;
        let begun = Instant::now();
        let mut samples = Vec::new();
        let mut silent_nodes: BTreeMap<String, u32> = BTreeMap::new();
        let sampling = async {
            let mut due = begun;
            loop {
                let (sample, silent) = sample(ensemble, begun).await;
                samples.push(sample);
                silent.into_iter().for_each(|node| *silent_nodes.entry(node).or_default() += 1);
                due = (due + SAMPLE_PACE).max(Instant::now());
                tokio::time::sleep_until(due).await;
            }
        };
        let over = async {
            loop {
                if let Some(end) = self.end(begun.elapsed()) {
                    return end;
                }
                self.show(begun.elapsed());
                tokio::time::sleep(LOOK).await;
            }
        };
        // Requests come and go beside sessions that stay, which fragments the allocator's heap: without this it grows by some
        // MB a second with a herd of a thousand (measured).
        let trimming = async {
            loop {
                generator::trim_heap();
                tokio::time::sleep(TRIM_PACE).await;
            }
        };
        let end = tokio::select! {
            end = over => end,
            () = faults.carry_out(&self.fleet, begun, self.length) => unreachable!("it goes on to the end"),
            () = trimming => unreachable!("it trims for ever"),
            () = sampling => unreachable!("it samples for ever"),
        };
        (end, samples, silent_nodes)
    }

    fn end(&self, elapsed: Duration) -> Option<End> {
        if let Err(error) = self.context.ensemble.check_alive() {
            return Some(End::EnsembleLost(error.to_string()));
        }
        if self.context.interrupted.is_cancelled() {
            return Some(End::Interrupted);
        }
        if let Some(fault) = fault::seen() {
            return Some(End::Fault(fault.to_owned()));
        }
        let done = self.fleet.done() == self.arm.workers.workers;
        let lost: u64 = self.fleet.failures().values().sum();
        if lost >= u64::from(self.arm.workers.workers) {
            return Some(End::WorkersLost);
        }
        match self.arm.workers.mode {
            Mode::Drain | Mode::Barriers { .. } if done => Some(End::Complete),
            Mode::Drain | Mode::Barriers { .. } => (elapsed >= self.length).then_some(End::Overdue),
            Mode::Closed | Mode::Open(_) => (elapsed >= self.length).then_some(End::Complete),
        }
    }

    fn show(&self, elapsed: Duration) {
        self.context.progress.step(Step::Running {
            elapsed,
            length: self.length,
            grants: self.recorder.acquisition_count() as u64 + self.plan.entered(),
            counted: if self.arm.workers.recipe.is_barrier() { "enters" } else { "grants" },
            requests: self.recorder.tally().total_requests(),
            drain_of: match self.arm.workers.mode {
                Mode::Drain => Some(u64::from(self.arm.workers.workers)),
                Mode::Barriers { barriers, .. } => Some(u64::from(self.arm.workers.workers) * u64::from(barriers)),
                Mode::Closed | Mode::Open(_) => None,
            },
        });
    }
}

/// Room for the most grants that the trial can bring.
fn capacity(arm: &ArmSettings, length: Duration) -> Capacity {
    let grants = match (arm.workers.recipe, arm.workers.mode) {
        (Recipe::IdleSession, _) => 0,
        (_, Mode::Drain) => u64::from(arm.workers.workers),
        // Each member is watched as an instance in each barrier.
        (_, Mode::Barriers { barriers, .. }) => u64::from(arm.workers.workers) * u64::from(barriers),
        (_, Mode::Closed | Mode::Open(_)) => length.as_secs().max(1).saturating_mul(GRANTS_PER_SECOND),
    };
    // A queue entry that is given up is an instance too.
    let instances = grants + u64::from(arm.workers.workers);
    Capacity { length: length + REST_LIMIT, grants: usize::try_from(instances).unwrap_or(usize::MAX).min(1 << 22) }
}

fn nodes_cpu_seconds(ensemble: &Ensemble) -> Option<f64> {
    ensemble.usage().iter().map(|node| node.cpu_seconds).sum()
}

/// A sample, and the nodes that did not answer in time although they are up.
async fn sample(ensemble: &Ensemble, begun: Instant) -> (Sample, Vec<String>) {
    let nodes = ensemble.sample().await;
    // Of servers that tell nothing, none is silent.
    let tells = ensemble.no_book().is_none();
    let is_silent = |node: &&NodeSample| tells && node.watches.is_none() && node.state == NodeState::Up;
    let silent = nodes.nodes.iter().filter(is_silent).map(|node| node.name.clone()).collect();
    let sample = Sample {
        at: begun.elapsed(),
        nodes_cpu_seconds: nodes.cpu_seconds(),
        nodes_rss_bytes: nodes.rss_bytes(),
        watches: nodes.watches(),
        sessions: nodes.sessions,
        generator_cpu_seconds: generator::cpu_seconds(),
        data_bytes: nodes.data_bytes(),
    };
    (sample, silent)
}
