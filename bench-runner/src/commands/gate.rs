//! `bench-runner gate`: runs a scenario's trials and judges them, against a stored baseline or variant against variant.

use std::io::Write;
use std::path::Path;

use super::pipeline::Done;
use super::run::{carry_out, takes_no_sweep};
use super::{Failure, external, judged, print};
use crate::cli::GateArgs;
use crate::gate::comparable::before_running;
use crate::gate::judge::refused;
use crate::gate::verdict::Judgement;
use crate::gate::{Pairing, Rules, baseline, confirm, judge, to_confirm};
use crate::report::format;
use crate::results::environment;
use crate::results::folder::replace;
use crate::results::summary::Summary;
use crate::scenario::{self, Scenario};
use crate::{exit, stderr};

/// A round of trials.
enum Round {
    /// It was measured to its end.
    Over(Box<Sides>),
    /// It was not, and is not judged: this is the exit code.
    Cut(u8),
}

/// Both sides of a round.
struct Sides {
    baseline: Summary,
    candidate: Done,
    /// Whether every lock was one in the trials of this round.
    is_safe: bool,
}

pub(super) fn gate(args: &GateArgs) -> Result<u8, Failure> {
    let mut scenario = scenario::load(&args.scenario.scenario, &args.scenario.set)?;
    external::allow(&mut scenario, args.allowed);
    takes_no_sweep(&scenario)?;
    let accepted = judged::accepted(&args.judge)?;
    let rules = Rules {
        gate: &scenario.gate,
        pairing: if args.against.is_empty() { Pairing::Apart } else { Pairing::InTurn },
        allowed: &args.judge.allow,
        accepted: &accepted,
        only: None,
    };
    if !args.against.is_empty() {
        let overrides: Vec<String> = args.scenario.set.iter().chain(&args.against).cloned().collect();
        let mut variant = scenario::load(&args.scenario.scenario, &overrides)?;
        external::allow(&mut variant, args.allowed);
        can_run_side_by_side(&scenario, &variant)?;
        let round = || -> Result<Round, Failure> {
            let [plain, changed] = carry_out([&scenario, &variant], &args.out, args.quiet)?;
            Ok(match (plain.tell(), changed.tell()) {
                (exit::DONE, code) => over(plain.summary, changed, code),
                (exit::UNSAFE, _) => over(plain.summary, changed, exit::UNSAFE),
                (code, _) => Round::Cut(code),
            })
        };
        let name = |judgement: &mut Judgement| {
            judgement.baseline.name = "as it is".to_owned();
            judgement.candidate.name = args.against.join(" ");
        };
        return rounds(args, &round, &rules, &name);
    }
    let Some(path) = &args.baseline else {
        return Err(Failure::Usage("a gate needs --baseline FILE, or --against KEY=VALUE".to_owned()));
    };
    if args.update_baseline {
        return update(args, &scenario, path);
    }
    let stored = read(path)?;
    let differences = before_running(&stored, &scenario, &environment::collect(&scenario, &[]), &args.judge.allow);
    if !differences.is_empty() {
        let judgement = refused(&stored, &scenario.name, differences);
        return judged::publish(&judgement, (&stored, &stored), args.judge.format, None);
    }
    let round = || -> Result<Round, Failure> {
        let [done] = carry_out([&scenario], &args.out, args.quiet)?;
        let code = done.tell();
        Ok(over(stored.clone(), done, code))
    };
    rounds(args, &round, &rules, &|_| {})
}

/// One round of trials, and where it calls anything worse a second.
fn rounds(
    args: &GateArgs,
    round: &dyn Fn() -> Result<Round, Failure>,
    rules: &Rules<'_>,
    name: &dyn Fn(&mut Judgement),
) -> Result<u8, Failure> {
    let sides = match round()? {
        Round::Over(sides) => sides,
        Round::Cut(code) => return Ok(code),
    };
    let mut judgement = judge(&sides.baseline, &sides.candidate.summary, rules);
    name(&mut judgement);
    let again = to_confirm(&judgement);
    let mut is_safe = sides.is_safe;
    if is_safe && rules.gate.confirm && !again.is_empty() {
        if !args.quiet {
            let worse = format::plural(again.len() as u64, "metric is", "metrics are");
            stderr::line(&format!("{worse} worse; a second round has to confirm that"));
        }
        let second = match round()? {
            Round::Over(second) => second,
            Round::Cut(code) => return Ok(code),
        };
        let rules = Rules { only: Some(&again), ..*rules };
        confirm(&mut judgement, &judge(&second.baseline, &second.candidate.summary, &rules));
        is_safe = second.is_safe;
    }
    let (baseline, candidate) = (&sides.baseline, &sides.candidate.summary);
    let code = judged::publish(&judgement, (baseline, candidate), args.judge.format, Some(&sides.candidate.folder))?;
    judged::remember(&args.out, &judgement, candidate)?;
    // That a lock does not exclude is worse than that it got slower.
    Ok(if is_safe { code } else { exit::UNSAFE })
}

/// Runs the scenario and writes the baseline.
fn update(args: &GateArgs, scenario: &Scenario, path: &Path) -> Result<u8, Failure> {
    let [done] = carry_out([scenario], &args.out, args.quiet)?;
    let code = done.tell();
    if code != exit::DONE {
        stderr::line("the baseline was left as it was");
        return Ok(code);
    }
    let text = baseline::to_text(&done.summary).map_err(|error| Failure::Unfinished(error.to_string()))?;
    replace(path, |writer| writer.write_all(text.as_bytes()))?;
    print(&format!("baseline: {}\n", path.display()))?;
    Ok(exit::DONE)
}

/// Reads a baseline.
fn read(path: &Path) -> Result<Summary, Failure> {
    let refuse = |why: String| Failure::Usage(format!("cannot use the baseline {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refuse("there is none; write one with --update-baseline".to_owned()),
        _ => refuse(error.to_string()),
    })?;
    baseline::from_text(&text).map_err(|error| refuse(error.to_string()))
}

/// The round of a run that ended with this exit code.
fn over(baseline: Summary, candidate: Done, code: u8) -> Round {
    match code {
        exit::DONE | exit::UNSAFE if candidate.summary.complete => {
            Round::Over(Box::new(Sides { baseline, candidate, is_safe: code == exit::DONE }))
        }
        code => Round::Cut(code),
    }
}

/// Whether two variants can run in turn in one job.
fn can_run_side_by_side(one: &Scenario, other: &Scenario) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::Usage(format!("--against: {why}")));
    if one.arms.len() != other.arms.len() {
        return refuse("both variants need as many arms");
    }
    if one.trials != other.trials {
        return refuse("both variants need the same trials");
    }
    let fixed = |scenario: &Scenario| {
        scenario.ensemble.zookeeper.base_port.is_some() || scenario.ensemble.etcd.base_port.is_some()
    };
    if fixed(one) && fixed(other) {
        return refuse("the servers of both variants run at once; leave base_port away, so that each takes free ports");
    }
    Ok(())
}
