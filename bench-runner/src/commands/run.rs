//! `bench-runner run`: leads a scenario through all stages.

use std::path::Path;

use tokio::runtime::Runtime;
use workloads::settings::WorkerSettings;

use super::pipeline::{Done, Pipeline};
use super::report::show;
use super::{Failure, check, external, print};
use crate::cli::{Format, RunArgs};
use crate::ensemble::limits;
use crate::run::progress::{Progress, Silent, Terminal};
use crate::run::{file_size, generator, interrupt};
use crate::scenario::{self, Scenario};
use crate::{exit, stderr};

/// Descriptors that the process needs besides one for each session: its files, the runtime's, the keepers' pipes.
const OTHER_FILES: u64 = 256;

/// Descriptors that the workers of an arm need.
fn open_files(workers: &WorkerSettings) -> u64 {
    // A runtime of its own keeps four besides the session (measured: 95 for 20 such workers); a relay has a listener and the
    // two ends of a connection.
    let thread = if workers.precautions.pause { 4 } else { 0 };
    let relay = if workers.precautions.cut { 3 } else { 0 };
    u64::from(workers.workers) * (1 + thread + relay)
}

/// Descriptors that a run of the scenario needs.
pub(super) fn needed_files(scenario: &Scenario) -> u64 {
    let workers = scenario.arms.iter().map(|arm| open_files(&arm.workers)).max().unwrap_or(0);
    workers + u64::from(scenario.bystanders.sessions) + OTHER_FILES
}

/// A scenario that sweeps has a question of its own, which one point of it would not answer.
pub(super) fn takes_no_sweep(scenario: &Scenario) -> Result<(), Failure> {
    match scenario.sweep {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "{} sweeps: use `bench-runner capacity`, or take the sweep out with `--set sweep=` and set what it varies",
            scenario.name
        ))),
    }
}

pub(super) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let mut scenario = scenario::load(&args.scenario.scenario, &args.scenario.set)?;
    external::allow(&mut scenario, args.allowed);
    takes_no_sweep(&scenario)?;
    if args.dry_run {
        print(&check::describe(&scenario))?;
        return Ok(exit::DONE);
    }
    let [done] = carry_out([&scenario], &args.out, args.quiet)?;
    // What went wrong is told even when nobody takes the result.
    let shown = show_all(&done, args);
    let code = done.tell();
    shown.map(|()| code)
}

/// Runs a scenario through all stages; several of as many arms are run in turn, trial by trial, each on servers of its own, so
/// that every pair of trials sees the same machine.
pub(super) fn carry_out<const N: usize>(
    scenarios: [&Scenario; N],
    out: &Path,
    quiet: bool,
) -> Result<[Done; N], Failure> {
    scenarios.iter().try_for_each(|scenario| external::permit(scenario))?;
    // Before the servers start, which inherit the limit: in the worst case all sessions are with one node.
    let most = scenarios.iter().map(|scenario| needed_files(scenario)).max().unwrap_or(0);
    limits::ensure_open_files(most)?;
    generator::set_up_memory();
    // One thread for the workers: the generator shares the machine with the servers, and a second thread would steal more
    // from them than it gives (measured: no more grants, and a larger share of the CPU).
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::Unfinished(format!("cannot start the runtime: {error}")))?;
    let outcome = carry_out_on(&runtime, scenarios, out, quiet);
    // Tasks that still run hold sessions of servers that are gone; nothing is to be waited for. Until now the runtime has
    // listened for a second Ctrl-C: whoever reads the result may not be reading it.
    runtime.shutdown_background();
    outcome
}

fn carry_out_on<const N: usize>(
    runtime: &Runtime,
    scenarios: [&Scenario; N],
    out: &Path,
    quiet: bool,
) -> Result<[Done; N], Failure> {
    file_size::make_it_an_error();
    // First of all, so that no moment is left in which Ctrl-C leaves an empty folder behind.
    let listening = {
        let _entered = runtime.enter();
        interrupt::listen()
    };
    let interrupted = listening.map_err(|error| Failure::Unfinished(format!("cannot listen for Ctrl-C: {error}")))?;
    let progress: Box<dyn Progress> = if quiet { Box::new(Silent) } else { Box::new(Terminal::new()) };
    let outcome = runtime.block_on(Pipeline::run(scenarios, out, &interrupted, progress.as_ref()));
    progress.finish();
    outcome
}

fn show_all(done: &Done, args: &RunArgs) -> Result<(), Failure> {
    show(&done.summary, args.format)?;
    let Some(page) = &done.page else { return Ok(()) };
    let line = format!("report: {}", page.display());
    if args.format == Format::Human {
        print(&format!("\n{line}\n"))?;
    } else if !args.quiet {
        stderr::line(&line);
    }
    Ok(())
}
