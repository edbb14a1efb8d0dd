//! A sweep under way: point after point on servers that stay up, each stored as soon as it is measured.

use std::time::{Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use super::super::Failure;
use super::super::pipeline::new_root;
use super::Job;
use super::servers::Servers;
use crate::capacity::compose::rules;
use crate::capacity::plan::branch::end_of;
use crate::capacity::point::{About, Cell, Point};
use crate::measure::{sizing, trial as measure_trial};
use crate::report::format;
use crate::results::warnings::Warning;
use crate::run::progress::{Progress, Silent, Terminal};
use crate::run::recording::{End, TrialRecording};
use crate::run::schedule::Planned;
use crate::run::trial::{self, Context, TrialError};
use crate::run::{file_size, generator, interrupt};
use crate::scenario::{Scenario, SweepSettings, Variable};

/// How a sweep ended.
pub(super) struct Outcome {
    /// Why it did not come to its planned end, if it did not.
    pub failure: Option<Failure>,
}

/// The scenario at these values.
pub(super) fn at(scenario: &Scenario, values: &[(Variable, f64)]) -> Result<Scenario, Failure> {
    // Each point was checked when the scenario was read.
    scenario.at(values).ok_or_else(|| Failure::Unfinished("a point of the sweep is no scenario".to_owned()))
}

/// The values of a cell.
fn values(sweep: &SweepSettings, cell: Cell) -> Vec<(Variable, f64)> {
    let second = sweep.second.as_ref().zip(cell.y).map(|(axis, y)| (axis.variable, y));
    std::iter::once((sweep.first.variable, cell.x)).chain(second).collect()
}

pub(super) struct UnderWay<'a> {
    job: &'a mut Job,
    progress: &'a dyn Progress,
    interrupted: &'a CancellationToken,
    servers: Option<Servers>,
    root: String,
}

impl UnderWay<'_> {
    /// Measures every point that is still to be measured.
    pub fn run(job: &mut Job, quiet: bool) -> Result<Outcome, Failure> {
        // One thread for the workers, as in a run.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Failure::Unfinished(format!("cannot start the runtime: {error}")))?;
        file_size::make_it_an_error();
        let listening = {
            let _entered = runtime.enter();
            interrupt::listen()
        };
        let interrupted =
            listening.map_err(|error| Failure::Unfinished(format!("cannot listen for Ctrl-C: {error}")))?;
        let progress: Box<dyn Progress> = if quiet { Box::new(Silent) } else { Box::new(Terminal::new()) };
        let root = new_root(SystemTime::now());
        let mut under_way =
            UnderWay { job, progress: progress.as_ref(), interrupted: &interrupted, servers: None, root };
        let failure = runtime.block_on(under_way.go_to_the_end());
        progress.finish();
        // Tasks that still run hold sessions of servers that are gone; nothing is to be waited for.
        runtime.shutdown_background();
        Ok(Outcome { failure })
    }

    async fn go_to_the_end(&mut self) -> Option<Failure> {
        let failure = self.measure_all().await.err();
        if let Some(servers) = self.servers.take() {
            self.progress.say(servers.ensembles.last_words());
            if let Err(error) = servers.stop().await {
                self.progress.trial_over(&format!("warning: {error}"));
            }
        }
        failure
    }

    async fn measure_all(&mut self) -> Result<(), Failure> {
        loop {
            let job = &*self.job;
            let rules = rules(&job.scenario.slo, &job.sweep);
            let arms = job.scenario.arms.len();
            let Some(cell) = job.plan.next(&rules, &job.sweep, arms, &job.points) else { return Ok(()) };
            let left = job.plan.left(&rules, &job.sweep, arms, &job.points);
            let scenario = at(&job.scenario, &values(&job.sweep, cell))?;
            self.servers_for(&scenario).await?;
            self.point(cell, &scenario, &left).await?;
        }
    }

    /// Sees that as many servers run as the point wants, and that they are warm.
    async fn servers_for(&mut self, scenario: &Scenario) -> Result<(), Failure> {
        let nodes = scenario.ensemble.nodes;
        if self.servers.as_ref().is_some_and(|servers| servers.nodes == nodes) {
            return Ok(());
        }
        if let Some(servers) = self.servers.take() {
            self.progress.say(servers.ensembles.last_words());
            servers.stop().await?;
        }
        let servers = tokio::select! {
            biased;
            () = self.interrupted.cancelled() => return Err(Failure::Interrupted),
            servers = Servers::start(&self.job.scenario, nodes, self.progress) => servers?,
        };
        let versions = servers.ensembles.descriptions.iter().map(|one| (one.service.clone(), one.version.clone()));
        self.job.header.versions = versions.collect();
        let java = servers.ensembles.descriptions.iter().find_map(|one| one.java.clone());
        self.job.header.environment.java = java.or(self.job.header.environment.java.take());
        let servers = self.servers.insert(servers);
        // From here on they are stopped, and what was created on them is removed, whatever fails.
        let noticed = servers.claim(&self.job.scenario, &self.root, self.progress).await?;
        self.job.header.noticed = noticed.iter().map(Warning::told).collect();
        self.job.store.write_header(&self.job.header)?;
        if scenario.trials.warmup.is_zero() {
            return Ok(());
        }
        for arm in 0..scenario.arms.len() {
            let place = self.job.sweep.first.values.len() / 3;
            let mut values = vec![(Variable::Nodes, f64::from(nodes))];
            if self.job.sweep.first.variable != Variable::Nodes {
                values.push((self.job.sweep.first.variable, self.job.sweep.first.values[place]));
            }
            let warm = at(&self.job.scenario, &values)?;
            self.progress.trial(&warm.arms[arm].label, "warm-up", arm + 1, warm.arms.len());
            self.warm_up(&warm, arm).await?;
        }
        Ok(())
    }

    /// Loads the servers with an arm for as long as its scenario says.
    async fn warm_up(&self, scenario: &Scenario, arm: usize) -> Result<(), Failure> {
        // A drain is over when it is over: it is done again until the time is. What is measured first would be measured cold, and
        // that is the lowest end of each curve.
        let begun = Instant::now();
        while begun.elapsed() < scenario.trials.warmup {
            match self.trial(scenario, Planned { arm, position: 0 }).await {
                Ok(recording) => match recording.end {
                    End::Interrupted => return Err(Failure::Interrupted),
                    End::EnsembleLost(why) => return Err(Failure::Ensemble(why)),
                    _ => {}
                },
                Err(error @ (TrialError::Interrupted | TrialError::Ensemble(_))) => return Err(error.into()),
                // What cannot be warmed up shows in its points.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Measures and stores a point.
    async fn point(&mut self, cell: Cell, scenario: &Scenario, left: &[Cell]) -> Result<(), Failure> {
        let order = self.job.points.iter().map(|point| point.order).max().unwrap_or(0) + 1;
        let arm = &scenario.arms[cell.arm];
        let place = self.place(cell);
        let of = self.job.points.len() + left.len();
        self.progress.trial(&format!("{}, {place}", arm.label), "point", self.job.points.len() + 1, of);
        let (begun, started) = (Instant::now(), humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
        let outcome = self.trial(scenario, Planned { arm: cell.arm, position: order }).await;
        let about = || About {
            order,
            started: started.clone(),
            spent_seconds: begun.elapsed().as_secs_f64(),
            nodes: scenario.ensemble.nodes,
        };
        let point = match outcome {
            Ok(recording) => match &recording.end {
                End::Interrupted => return Err(Failure::Interrupted),
                End::EnsembleLost(why) => return Err(Failure::Ensemble(why.clone())),
                End::Fault(_) => return Err(Failure::of_end(&recording.end).unwrap_or(Failure::Interrupted)),
                End::Complete | End::Overdue | End::WorkersLost => {
                    let measured = measure_trial::measure(scenario, arm, &recording);
                    let sizing = sizing::measure(arm, &recording);
                    let point = Point::measured(cell, about(), arm, &measured.figures, &sizing, measured.saturated);
                    let why = match recording.end {
                        End::Overdue => Some("the drain was not over within trials.limit".to_owned()),
                        End::WorkersLost => Some("every worker lost its session".to_owned()),
                        _ => point.incomplete.clone(),
                    };
                    Point { incomplete: why, ..point }
                }
            },
            Err(TrialError::Interrupted) => return Err(Failure::Interrupted),
            Err(error @ TrialError::Ensemble(_)) => return Err(error.into()),
            // Servers that take no more sessions have shown how many they carry.
            Err(error) => Point::failed(cell, about(), arm, error.to_string()),
        };
        self.job.store.add(&point)?;
        self.job.points.push(point);
        self.tell(cell, &place);
        Ok(())
    }

    /// Runs one trial on the servers that run.
    async fn trial(&self, scenario: &Scenario, planned: Planned) -> Result<TrialRecording, TrialError> {
        let servers = self.servers.as_ref().expect("servers run before a trial does");
        generator::release_free_memory(servers.idle.tasks).await;
        let context = Context {
            scenario,
            ensemble: servers.ensembles.of(scenario.arms[planned.arm].service),
            root: &self.root,
            idle_rss_bytes: servers.idle.rss_bytes
                + generator::live_heap_bytes().saturating_sub(servers.idle.heap_bytes),
            interrupted: self.interrupted,
            progress: self.progress,
        };
        trial::run(&context, planned).await
    }

    fn place(&self, cell: Cell) -> String {
        let named = |(variable, value): (Variable, f64)| crate::report::capacity::place(variable, value);
        values(&self.job.sweep, cell).into_iter().map(named).collect::<Vec<_>>().join(", ")
    }

    /// A line about the point that was measured, and about the time that is left.
    fn tell(&self, cell: Cell, place: &str) {
        let Some(point) = self.job.points.last() else { return };
        let figures = match (&point.incomplete, point.figure("grants_per_second"), point.figure("acquire_ms.p99")) {
            (Some(why), ..) => format!("not measured: {why}"),
            (None, Some(rate), Some(p99)) => {
                format!(
                    "{} grants a second, acquire p99 {}",
                    format::trimmed(rate),
                    format::Unit::Milliseconds.show(p99)
                )
            }
            _ => "measured".to_owned(),
        };
        let rules = rules(&self.job.scenario.slo, &self.job.sweep);
        let arms = self.job.scenario.arms.len();
        let left = self.job.plan.left(&rules, &self.job.sweep, arms, &self.job.points);
        let about =
            if left.is_empty() { String::new() } else { format!("; {} left, about {}", left.len(), self.time(&left)) };
        self.progress.trial_over(&format!("{}, {place}, repeat {}: {figures}{about}", point.label, cell.repeat));
        let points = &self.job.points;
        let end = |points: &[Point]| end_of(&rules, cell.arm, cell.y, points).filter(|(at, _)| *at == cell.x);
        if let (None, Some((_, why))) = (end(&points[..points.len() - 1]), end(points)) {
            self.progress.trial_over(&format!("{} ends at {place}: {why}", point.label));
        }
    }

    /// About how long these points take, by those of the same arm that were measured nearest to them.
    fn time(&self, left: &[Cell]) -> String {
        let points = &self.job.points;
        let mean = points.iter().map(|point| point.spent_seconds).sum::<f64>() / points.len().max(1) as f64;
        let of = |cell: &Cell| {
            let off = |point: &&Point| (point.cell.x / cell.x).ln().abs();
            let same = points.iter().filter(|point| point.cell.arm == cell.arm);
            let nearest = same.min_by(|one, other| off(one).total_cmp(&off(other)));
            nearest.map_or(mean, |point| point.spent_seconds)
        };
        format::seconds(left.iter().map(of).sum::<f64>().round())
    }
}
