//! `bench-runner capacity`: sweeps a scenario over real servers, point by point, and works out how much they carry.

mod servers;
mod under_way;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use under_way::{Outcome, UnderWay};

use super::{Failure, check, external, print, run, styled_stderr, styled_stdout};
use crate::capacity::compose::{self, header};
use crate::capacity::document::{Capacity, Header, Method};
use crate::capacity::plan::Plan;
use crate::capacity::point::Point;
use crate::capacity::{Store, store};
use crate::cli::{CapacityArgs, Format};
use crate::ensemble::limits;
use crate::report;
use crate::results::folder::replace;
use crate::results::{FolderError, environment};
use crate::run::generator;
use crate::scenario::{self, Scenario, SweepSettings};
use crate::{exit, stderr};

/// The page's name in a sweep's folder.
const REPORT: &str = "report.html";

/// A sweep with where it is kept.
struct Job {
    scenario: Scenario,
    sweep: SweepSettings,
    plan: Plan,
    store: Store,
    header: Header,
    points: Vec<Point>,
}

pub(super) fn capacity(args: &CapacityArgs) -> Result<u8, Failure> {
    let mut scenario = scenario::load(&args.scenario.scenario, &args.scenario.set)?;
    external::allow(&mut scenario, args.allowed);
    let name = args.scenario.scenario.display();
    let sweep = scenario.sweep.clone().ok_or_else(|| {
        Failure::Usage(format!(
            "{name} has no [sweep], so there is nothing to vary; write for example `sweep = {{ workers = [10, 20, 50, 100] }}`"
        ))
    })?;
    if args.search && !sweep.first.variable.is_load() {
        return Err(Failure::Usage(format!(
            "--search needs a load to raise: give [sweep] `workers`, `arrival_rate` or `hold`; {name} varies `{}`",
            sweep.first.variable.key()
        )));
    }
    if args.search && scenario.slo.is_empty() {
        return Err(Failure::Usage(format!(
            "--search needs a limit to break; write for example `slo = {{ limits = [\"acquire_ms.p99 < 1000\"] }}` into {name}"
        )));
    }
    let plan = Plan::of(&scenario, args.search).ok_or_else(|| Failure::Usage(format!("{name} has no [sweep]")))?;
    if args.dry_run {
        print(&check::describe(&scenario))?;
        return Ok(exit::DONE);
    }
    external::permit(&scenario)?;
    // Before the servers start, which inherit the limit.
    limits::ensure_open_files(scenario.extremes().iter().map(run::needed_files).max().unwrap_or(0))?;
    generator::set_up_memory();
    let mut job = open(args, scenario, sweep, plan)?;
    let outcome = UnderWay::run(&mut job, args.quiet)?;
    finish(job, outcome, args)
}

/// The sweep from its beginning, or from where it was interrupted.
fn open(args: &CapacityArgs, scenario: Scenario, sweep: SweepSettings, plan: Plan) -> Result<Job, Failure> {
    let usage = |error: FolderError| Failure::Usage(error.to_string());
    let interrupted = store::newest_interrupted(&args.out, &scenario.name, &scenario.sha256);
    let environment = environment::collect(&scenario, &[]);
    let folder: Option<PathBuf> = match &args.resume {
        None => {
            if let Some(folder) = interrupted.filter(|_| !args.quiet) {
                let told = format!(
                    "note: {} is the same sweep, interrupted; --resume goes on with it",
                    folder.display()
                );
                stderr::line(&told);
            }
            None
        }
        Some(Some(folder)) => Some(folder.clone()),
        Some(None) => Some(interrupted.ok_or_else(|| {
            let below = args.out.join(&scenario.name);
            Failure::Usage(format!(
                "there is no interrupted sweep of this scenario, with these overrides, below {}; run it without --resume",
                below.display()
            ))
        })?),
    };
    let Some(folder) = folder else {
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let header = header(&scenario, args.search, started, environment);
        let store = Store::create(&args.out, &scenario.text, &header).map_err(usage)?;
        return Ok(Job { scenario, sweep, plan, store, header, points: Vec::new() });
    };
    let (store, header, points) = Store::open(&folder).map_err(usage)?;
    goes_on(&header, &scenario, args.search, &environment, &folder)?;
    if !args.quiet {
        let points = report::format::plural(points.len() as u64, "point", "points");
        stderr::line(&format!("resuming {}: {points} there already", folder.display()));
    }
    Ok(Job { scenario, sweep, plan, store, header, points })
}

/// Whether an interrupted sweep may go on with this scenario on this machine.
fn goes_on(
    header: &Header,
    scenario: &Scenario,
    search: bool,
    environment: &crate::results::summary::Environment,
    folder: &Path,
) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::Usage(format!("{} cannot go on: {why}", folder.display())));
    if header.environment.scenario_sha256 != scenario.sha256 {
        return refuse("it is of another scenario, or of other overrides; name that scenario, or run without --resume");
    }
    if (header.method == Method::Search) != search {
        return refuse("one of the two is a search (--search) and the other is not; ask for the same");
    }
    let machine = |of: &crate::results::summary::Environment| (of.cpu_model.clone(), of.cpus);
    if machine(&header.environment) != machine(environment) {
        return refuse(
            "it was begun on another machine, whose times would be mixed with this one's; run without --resume",
        );
    }
    Ok(())
}

/// Writes what there is, tells it, and says how it ended.
fn finish(job: Job, outcome: Outcome, args: &CapacityArgs) -> Result<u8, Failure> {
    let Job { scenario, sweep, store, header, points, .. } = job;
    let failure = outcome.failure;
    if points.is_empty() {
        store.discard();
        return Err(failure.unwrap_or_else(|| Failure::Unfinished("nothing was measured".to_owned())));
    }
    let incomplete = failure.as_ref().map(Failure::reason);
    let capacity = compose::compose(&header, &scenario, &sweep, points, incomplete);
    draw(store.path(), &capacity)?;
    store.write_capacity(&capacity)?;
    let folder = if capacity.complete { store.publish()? } else { store.path().to_owned() };
    show(&capacity, args.format)?;
    let page = format!("report: {}", folder.join(REPORT).display());
    match args.format {
        Format::Human => print(&format!("\n{page}\n"))?,
        Format::Json if !args.quiet => stderr::line(&page),
        Format::Json => {}
    }
    let violated: Vec<&Point> = capacity.points.iter().filter(|point| point.violation.is_some()).collect();
    for point in &violated {
        let what = point.violation.as_deref().unwrap_or_default();
        stderr::line(&format!("error: safety violated: {} at point {}: {what}", point.label, point.order));
    }
    if let Some(failure) = &failure {
        stderr::line(&match failure {
            Failure::Interrupted => failure.reason(),
            _ => failure.render(styled_stderr()),
        });
        stderr::line(&format!(
            "{} measured points are kept in {}; the same command with --resume goes on with them",
            capacity.points.len(),
            folder.display()
        ));
    }
    Ok(match failure {
        // That a lock does not exclude is worse than that a sweep is not complete.
        _ if !violated.is_empty() => exit::UNSAFE,
        Some(failure) => failure.exit_code(),
        None => exit::DONE,
    })
}

/// Writes `report.html` and `charts/` into `folder`.
pub(super) fn draw(folder: &Path, capacity: &Capacity) -> Result<(), FolderError> {
    let write =
        |file: &Path, content: &str| replace(file, |writer| std::io::Write::write_all(writer, content.as_bytes()));
    for (name, svg) in report::capacity::charts(capacity) {
        write(&folder.join("charts").join(&name), &svg)?;
    }
    write(&folder.join(REPORT), &report::capacity::page(capacity))
}

/// Prints the result.
pub(super) fn show(capacity: &Capacity, format: Format) -> Result<(), Failure> {
    match format {
        Format::Human => print(&report::capacity::terminal(capacity, styled_stdout())),
        Format::Json => {
            let json =
                serde_json::to_string_pretty(capacity).map_err(|error| Failure::Unfinished(error.to_string()))?;
            print(&format!("{json}\n"))
        }
    }
}
