//! Explores the recipes on services in memory: thousands of runs, each with a weather of its own, each from one seed.
//!
//! `cargo test -p workloads --test explore` goes through all recipes and checks that mutants of them are found;
//! `… -- --help` says what else it can do. A run that breaks a promise is told with its seed and with the command that replays
//! it, event for event.
//!
//! | module | what it holds |
//! |---|---|
//! | [`service`] | what an exploration asks of a service in memory |
//! | [`zookeeper`], [`etcd`] | the services, and the recipes on them |
//! | [`contend`], [`meet`], [`wait`] | a run with a lock or election, a double barrier, a single barrier |
//! | [`crowd`] | very many workers at one lock |
//! | [`judge`] | what must hold of grants |
//! | [`present`] | workers that stand still, and die |
//! | [`story`] | what came of a run |
//! | [`subject`] | what is explored: a recipe, or a mutant |
//! | [`sweep`] | many seeds on all cores |
//! | [`mutants`] | recipes that are broken on purpose |
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod contend;
mod crowd;
mod etcd;
mod judge;
mod meet;
mod mutants;
mod present;
mod service;
mod story;
mod subject;
mod sweep;
mod wait;
mod zookeeper;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use subject::Subject;
use sweep::{Found, sweep};

/// A mutant must be found within so many seeds.
const MUTANT_SEEDS: u64 = 1000;
/// Of how many seeds it is checked that they give the same run twice.
const REPLAYED: u64 = 20;

/// Explores the recipes on services in memory, by seeds, and judges each run: one holder at a time, rising tokens, nobody who
/// waits for ever, no orphan, no watch left.
#[derive(Parser)]
#[command(name = "explore")]
struct Args {
    /// How many seeds to go through for each recipe
    #[arg(long, default_value_t = 2000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// This seed alone, with its trace
    #[arg(long)]
    seed: Option<u64>,
    /// This recipe alone, or this mutant
    #[arg(long)]
    recipe: Option<String>,
    /// This service alone
    #[arg(long)]
    service: Option<String>,
    /// Instead of an exploration: so many workers go through one sequential lock
    #[arg(long, value_name = "WORKERS")]
    crowd: Option<usize>,
    /// How many of the crowd are in the queue at a time
    #[arg(long, default_value_t = 100, requires = "crowd")]
    queue: usize,
    /// What cargo hands to all tests: the names of recipes, or parts of them
    #[arg(value_name = "FILTER", hide = true)]
    filters: Vec<String>,
    /// For cargo
    #[arg(long, hide = true)]
    nocapture: bool,
    /// For cargo
    #[arg(long, short, hide = true)]
    quiet: bool,
    /// For cargo
    #[arg(long, hide = true)]
    test_threads: Option<usize>,
}

impl Args {
    fn concerns(&self, subject: &Subject) -> bool {
        let name = subject.name();
        self.recipe.as_ref().is_none_or(|recipe| recipe == subject.recipe)
            && self.service.as_ref().is_none_or(|service| service == subject.service)
            && (self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str())))
    }
}

/// What is explored.
fn subjects() -> Vec<Subject> {
    let mut subjects = zookeeper::recipes();
    subjects.extend(etcd::recipes());
    subjects.extend(mutants::controls());
    subjects.extend(etcd::mutants::controls());
    subjects.extend(mutants::all());
    subjects.extend(etcd::mutants::all());
    subjects
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(workers) = args.crowd {
        return crowd::run(workers, args.queue);
    }
    let all = subjects();
    let chosen: Vec<&Subject> = all.iter().filter(|subject| args.concerns(subject)).collect();
    if chosen.is_empty() && (args.recipe.is_some() || args.service.is_some()) {
        eprintln!("nothing is called so; there are:");
        all.iter().for_each(|subject| eprintln!("  --service {} --recipe {}", subject.service, subject.recipe));
        return ExitCode::from(2);
    }
    if let Some(seed) = args.seed {
        return replay(&chosen, seed);
    }
    let started = Instant::now();
    println!("\nrunning {} tests", chosen.len());
    let mut failed = 0;
    for subject in &chosen {
        let outcome = match subject.mutation {
            None => explore(subject, &args),
            Some(_) => hunt(subject),
        };
        match outcome {
            Ok(what) => println!("test {} ... ok ({what})", subject.name()),
            Err(why) => {
                failed += 1;
                println!("test {} ... FAILED\n{why}\n", subject.name());
            }
        }
    }
    let (verdict, passed) = (if failed == 0 { "ok" } else { "FAILED" }, chosen.len() - failed);
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        all.len() - chosen.len(),
        started.elapsed().as_secs_f64()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// No seed breaks a promise, and the same seed is the same run.
fn explore(subject: &Subject, args: &Args) -> Result<String, String> {
    eprint!("{}: {} seeds\r", subject.name(), args.seeds);
    let Found { broken, seeds, passed, losses, took } = sweep(subject, args.from..args.from + args.seeds);
    if let Some((seed, violation)) = broken {
        return Err(format!("seed {seed}: {violation}\nto replay it: {}", replay_command(subject, seed)));
    }
    if seeds > 0 && passed == 0 {
        return Err(format!("{seeds} seeds in which nobody got anywhere"));
    }
    for seed in args.from..args.from + REPLAYED.min(args.seeds) {
        let (once, again) = (subject.story(seed, true), subject.story(seed, true));
        if once != again {
            let at = once.trace.iter().zip(&again.trace).position(|(once, again)| once != again);
            let [once, again] = [&once, &again].map(|story| at.and_then(|at| story.trace.get(at)));
            return Err(format!("seed {seed} gives two runs, which differ in {once:?} and {again:?}"));
        }
    }
    Ok(format!("{seeds} seeds, {passed} passed, {losses} lost, {:.1} s", took.as_secs_f64()))
}

/// The mutant is found.
fn hunt(subject: &Subject) -> Result<String, String> {
    let found = sweep(subject, 0..MUTANT_SEEDS);
    let mutation = subject.mutation.unwrap_or_default();
    match found.broken {
        Some((seed, violation)) => Ok(format!("{mutation}: found at seed {seed}: {violation}")),
        None => Err(format!("{mutation}: not found within {MUTANT_SEEDS} seeds")),
    }
}

fn replay_command(subject: &Subject, seed: u64) -> String {
    format!(
        "cargo test -p workloads --test explore -- --service {} --recipe {} --seed {seed}",
        subject.service, subject.recipe
    )
}

/// Prints the trace of a seed.
fn replay(chosen: &[&Subject], seed: u64) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for subject in chosen {
        println!("{}, seed {seed}", subject.name());
        let story = subject.story(seed, true);
        story.trace.iter().for_each(|line| println!("{line}"));
        match story.violation {
            Some(violation) => {
                println!("broken: {violation}");
                code = ExitCode::FAILURE;
            }
            None => println!("nothing is broken: {} passed, {} lost", story.passed, story.losses),
        }
    }
    code
}
