//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Shows what the herd costs: naive against herd-free coordination on a real ensemble.
///
/// A scenario says which recipes run against which servers with how many workers. `run` starts the servers, connects the
/// workers, measures every recipe in several trials, and writes a report that opens in any browser.
#[derive(Debug, Parser)]
#[command(name = "bench-runner", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  bench-runner run scenarios/quick.toml                    a first look, under half a minute
  bench-runner run scenarios/1000-workers.toml             what the herd costs, about three minutes
  bench-runner run scenarios/drain.toml --format json      the counts that must be exact, as JSON
  bench-runner run scenarios/quick.toml --set workers.count=200 --set trials.count=5

Exit codes:
    0  done
    1  not finished: results that cannot be written, a drain beyond its limit, an internal error
    2  the command line or the scenario is wrong; nothing was started
    3  the ensemble could not be started, or was lost
    4  a safety check failed
  130  interrupted
Whenever a run does not end as planned, what was measured until then is kept, in a folder whose name
ends with `.partial`.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and write its results and report.
    Run(RunArgs),
    /// Read a scenario and say what it would do, without doing it.
    Check(CheckArgs),
    /// Draw the report of a stored run again.
    Report(ReportArgs),
    /// Print the JSON Schema of a format.
    Schema(SchemaArgs),
}

/// Which scenario, and what to change in it.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file; scenarios/ has some to begin with.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Set a key of the scenario, for example `workers.count=200`, `trials.duration=10s` or `arm.0.label=mine`. May be given
    /// several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How the result goes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables.
    Human,
    /// `summary.json` alone.
    Json,
}

/// `bench-runner run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Folder below which the run's own folder is made: `OUT/<scenario>/<UTC time>/`.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub out: PathBuf,
    /// How the result goes to stdout.
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
    /// Show no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `bench-runner check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
}

/// `bench-runner report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run's folder, or its summary.json.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// How the result goes to stdout.
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
}

/// `bench-runner schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which format.
    #[arg(value_enum)]
    pub of: SchemaOf,
}

/// A format with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// Scenario files, for editors: committed as scenarios/schema.json.
    Scenario,
    /// `summary.json`: committed as results/summary.schema.json.
    Summary,
}
