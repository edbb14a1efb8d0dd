//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::gate::Aspect;

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
   10  a gate: something got worse, or a limit is broken
   11  a gate: the trials do not tell
   12  a gate: the runs must not be compared
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
    /// Run a scenario and judge it against a stored baseline, or two variants of it against each other.
    Gate(GateArgs),
    /// Sweep a scenario over real runs and say how much load the ensemble carries before a limit breaks.
    Capacity(CapacityArgs),
    /// Judge one stored run against another: did coordination get worse, yes, no, or cannot tell.
    Compare(CompareArgs),
    /// Show how each metric went over the gate runs, and where it changed.
    History(HistoryArgs),
    /// Draw the report of a stored run again.
    Report(ReportArgs),
    /// Check a stored run again, from its raw rows: mutual exclusion, the order of tokens, fairness.
    Verify(VerifyArgs),
    /// Print the JSON Schema of a format.
    Schema(SchemaArgs),
    /// Remove from external servers what killed runs have left there.
    Clean(CleanArgs),
}

/// What is allowed to be done to servers that are not bench-runner's own.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ExternalArgs {
    /// Work on external servers (`provider = "external"`): below /bench-runner alone, and no harder than `max_workers` and
    /// `max_rate` of the scenario allow. Without this, such a scenario is refused.
    #[arg(long)]
    pub allow_external: bool,
    /// Run the commands of the scenario ([ensemble.commands]) by which its faults break external servers, and mend them.
    #[arg(long)]
    pub allow_commands: bool,
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
    /// What may be done to external servers.
    #[command(flatten)]
    pub allowed: ExternalArgs,
    /// Show what would be done, and how hard the servers would be pushed, and touch nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `bench-runner clean`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A run on external servers removes what it has created, also when it is interrupted. One that is killed (kill -9, a machine that
goes down) cannot; the next run of the same user on the same machine does it, or this command. Only roots are removed whose owner
is the same and whose run is over; what others have left is listed.

Examples:
  bench-runner clean staging.toml --allow-external --dry-run
  bench-runner clean staging.toml --allow-external
  bench-runner clean staging.toml --allow-external --owner ci@runner-7

Exit codes:
   0  done, or nothing to do
   2  the command line or the scenario is wrong, or --allow-external is missing
   3  the servers cannot be reached, or refuse")]
pub struct CleanArgs {
    /// The scenario, which says where the servers are and how one gets at them.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// What may be done to external servers.
    #[command(flatten)]
    pub allowed: ExternalArgs,
    /// Remove what this owner's runs have left, as `user@machine`. Default: the caller.
    #[arg(long, value_name = "OWNER")]
    pub owner: Option<String>,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `bench-runner check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
}

/// How what a gate said goes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// A table.
    Human,
    /// Everything, as JSON.
    Json,
    /// Markdown, as a comment or a job's summary takes it.
    Markdown,
    /// JUnit's XML.
    Junit,
    /// The JSON of github-action-benchmark (`customSmallerIsBetter`).
    Benchmark,
}

/// How a judgement is made and where it goes.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// How the judgement goes to stdout.
    #[arg(long, value_enum, default_value = "human")]
    pub format: GateFormat,
    /// A difference that does not forbid to compare; may be given several times.
    #[arg(long, value_enum, value_name = "ASPECT")]
    pub allow: Vec<Aspect>,
    /// A TOML file of accepted changes: `[[accepted]]` with `metric`, `reason`, and if wanted `arm` and `up_to`.
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<PathBuf>,
}

/// `bench-runner gate`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A gate answers: did coordination get worse? Yes (10), no (0), or cannot tell (11, with how many more trials would). What one
round of trials calls worse is measured in a second before it is called a regression. gate.html, gate.json, gate.md, junit.xml
and benchmark.json are written into the run's folder; where GITHUB_STEP_SUMMARY is set, the Markdown is appended to it.

With --against, the scenario runs in two variants, trial by trial in turn, each on servers of its own: whatever else happens on
the machine happens to both. That is the way to gate on a shared runner, and needs no baseline.

`[gate]` in the scenario sets bands, directions and limits:
  [gate]
  slo = [\"acquire_ms.p99 < 500\", \"lock/sequential: fan_out.mean <= 1\"]
  [gate.metric.\"handoff_ms.p50\"]
  band = 0.15

Examples:
  bench-runner gate scenarios/gate.toml --baseline baseline.json --update-baseline
  bench-runner gate scenarios/gate.toml --baseline baseline.json
  bench-runner gate scenarios/gate.toml --against ensemble.nodes=5
  bench-runner gate scenarios/gate.toml --against arm.0.recipe=lock/naive --format markdown

Exit codes:
   0  unchanged or improved, or the baseline was written
   4  a safety check failed in the run itself
  10  regressed, or a limit is broken
  11  inconclusive
  12  not comparable: scenario, service, version, nodes, provider or machine differ")]
pub struct GateArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// The baseline to judge against.
    #[arg(long, value_name = "FILE", required_unless_present = "against", conflicts_with = "against")]
    pub baseline: Option<PathBuf>,
    /// Run the trials and write the baseline instead of judging against it.
    #[arg(long, requires = "baseline")]
    pub update_baseline: bool,
    /// Judge the scenario with this key changed against the scenario as it is, both run in turn; may be given several times,
    /// and with several keys at once.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub against: Vec<String>,
    /// How it is judged, and how that is told.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Folder below which the runs' own folders are made.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub out: PathBuf,
    /// What may be done to external servers.
    #[command(flatten)]
    pub allowed: ExternalArgs,
    /// Show no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `bench-runner capacity`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
How many contenders, sessions and watches does this ensemble carry? `[sweep]` in the scenario says what varies, `[slo]` within
which limits:
  [sweep]
  workers = [10, 20, 50, 100, 200, 500, 1000]
  repeats = 3
  [slo]
  limits = [\"acquire_ms.p99 < 1000\", \"bystander_ms.p99 < 50\", \"nodes_cpu_percent < 150\"]

Each point is a run of one arm on servers that stay up. The first round climbs, so that a branch ends where a limit is exceeded
`stop_beyond` times by two points; later rounds are in random order. Laws are fitted to the points (the Universal Scalability
Law, power laws, queues at the lock), the one that best predicts every third place is taken, and the answer is where its curve
crosses the first limit. With --search, bisection closes in on that place by runs instead.

Points are stored as they are measured. Ctrl-C, and `kill -9` too, keep them: the same command with --resume goes on.

External servers (`provider = \"external\"`) are loaded until a limit breaks, too: sweep those that nobody else needs. `max_workers`
and `max_rate` of the scenario hold, and a point at which the ceiling held requests back is marked.

Examples:
  bench-runner capacity scenarios/capacity-locks.toml
  bench-runner capacity scenarios/capacity-locks.toml --search --set 'sweep.repeats=5'
  bench-runner capacity scenarios/capacity-locks.toml --resume
  bench-runner capacity staging.toml --allow-external

Exit codes:
    0  done
    2  the command line or the scenario is wrong; nothing was started
    3  the ensemble could not be started, or was lost
    4  a safety check failed at some point
  130  interrupted; measured points are kept")]
pub struct CapacityArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Close in on the breaking point by bisection instead of measuring all values of the sweep.
    #[arg(long)]
    pub search: bool,
    /// Go on with an interrupted sweep: with the one in this folder, or with the newest one of this scenario.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    #[allow(clippy::option_option)] // Absent, without a folder, and with one are three things.
    pub resume: Option<Option<PathBuf>>,
    /// Folder below which the sweep's own folder is made: `OUT/<scenario>/<UTC time>/`.
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub out: PathBuf,
    /// How the result goes to stdout.
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
    /// Show no progress on stderr.
    #[arg(long, short)]
    pub quiet: bool,
    /// What may be done to external servers.
    #[command(flatten)]
    pub allowed: ExternalArgs,
    /// Show what would be done, and how hard the servers would be pushed, and touch nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// `bench-runner compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Counts (fan-out, requests and response bytes for each grant, broken promises) are judged exactly or within a band. Times and
rates are judged on the figures of the trials, by size and by significance: the change has to be larger than its band, and a rank
test, corrected for the number of metrics, has to say that it is no chance. `[gate]` of B's scenario sets bands, directions,
limits. Unlike `gate`, this cannot run a second round: what it calls regressed is not confirmed.

Examples:
  bench-runner compare results/quick/2026-11-29T10-00-00Z results/quick/2026-11-30T10-00-00Z
  bench-runner compare old/summary.json new/summary.json --format markdown
  bench-runner compare zk-3.8 zk-3.9 --allow version --write verdict

Exit codes:
   0  unchanged or improved
  10  regressed
  11  inconclusive: more trials are needed, it says how many
  12  not comparable: scenario, service, version, nodes, provider or machine differ")]
pub struct CompareArgs {
    /// The run to compare with: its folder, or its summary.json.
    #[arg(value_name = "RUN_A")]
    pub baseline: PathBuf,
    /// The run to judge.
    #[arg(value_name = "RUN_B")]
    pub candidate: PathBuf,
    /// How it is judged, and how that is told.
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Write gate.html, gate.json, gate.md, junit.xml and benchmark.json into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,
}

/// `bench-runner history`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each `bench-runner gate` appends a line to history.jsonl below its --out. A drift that is too slow for any single gate shows here:
change points are found by E-divisive means (Matteson and James 2014), as Apache Otava finds them.

Examples:
  bench-runner history
  bench-runner history results/history.jsonl --scenario gate --page history.html")]
pub struct HistoryArgs {
    /// The history.
    #[arg(value_name = "FILE", default_value = "results/history.jsonl")]
    pub history: PathBuf,
    /// Only this scenario's runs.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Draw it, as a page that opens offline.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// `bench-runner report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run's folder, or its summary.json; a sweep's folder, or its capacity.json.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// How the result goes to stdout.
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
}

/// `bench-runner verify`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Everything is checked on acquisitions.csv (and passages.csv, where there were barriers) by rules of their own, and then compared
with what summary.json says. Where two grants of a lock collide, it says which two: worker, number of the grant, token, from when
to when, for how long both were held, and the lines. Fairness is told by the grants that overtook a waiter, Jain's index over the
grants of each worker (1: all got the same; 1/n: one got everything), and the workers that got nothing.

Examples:
  bench-runner verify results/quick/2026-11-29T10-00-00Z
  bench-runner verify results/leader-pause/2026-11-30T10-00-00Z --format json

Exit codes:
   0  every promise was kept, or broken only where the scenario asked for it
   2  there is no run, or its rows were cut or edited: the line is told
   4  a promise was broken, or summary.json does not say what the rows say")]
pub struct VerifyArgs {
    /// The run's folder, or its summary.json.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// How the result goes to stdout: tables, or everything that was found as JSON.
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
    /// `capacity.json`: committed as results/capacity.schema.json.
    Capacity,
}
