//! `bench-runner check`: says what a scenario would do, without doing it.

use std::fmt::Write;
use std::time::Duration;

use workloads::settings::{Arrivals, Delay, Mode, Service};

use super::{Failure, external, print};
use crate::cli::CheckArgs;
use crate::exit;
use crate::report;
use crate::run::schedule;
use crate::scenario::{self, ArmSettings, FaultKind, FaultSettings, Scenario, SweepSettings, WorkerFault};

/// About how long starting three servers and writing the report takes; settling and tidying up around a trial; and each
/// worker's session, opened and closed.
const START: Duration = Duration::from_secs(5);
const AROUND_A_TRIAL: Duration = Duration::from_secs(1);
const FOR_A_WORKER: Duration = Duration::from_millis(2);

pub(super) fn check(args: &CheckArgs) -> Result<u8, Failure> {
    let scenario = scenario::load(&args.scenario.scenario, &args.scenario.set)?;
    print(&describe(&scenario))?;
    Ok(exit::DONE)
}

/// What a scenario would do, line by line.
pub(super) fn describe(scenario: &Scenario) -> String {
    let mut text = format!("{}: valid\n", scenario.name);
    if let Some(question) = &scenario.question {
        line(&mut text, "question", question);
    }
    let nodes = scenario.ensemble.nodes;
    let each = scenario.services().into_iter().map(|service| {
        let title = match service {
            Service::Zookeeper => "ZooKeeper",
            Service::Etcd => "etcd",
        };
        let (count, whose) = match &scenario.ensemble.external {
            Some(external) => (external.of(service).endpoints.len() as u32, "external"),
            None if scenario.ensemble.docker.is_some() => (nodes, "docker"),
            None => (nodes, "local"),
        };
        format!("{count} {whose} {title} {}", if count == 1 { "node" } else { "nodes" })
    });
    line(&mut text, "ensemble", &each.collect::<Vec<_>>().join(" and "));
    for (number, arm) in scenario.arms.iter().enumerate() {
        line(&mut text, &format!("arm {number}"), &describe_arm(arm));
    }
    for (number, fault) in scenario.faults.iter().enumerate() {
        line(&mut text, &format!("fault {number}"), &describe_fault(fault, scenario));
        if let Some(note) = harmless_pause(fault, scenario) {
            line(&mut text, "", &note);
        }
    }
    if let Some(sweep) = &scenario.sweep {
        describe_sweep(&mut text, scenario, sweep);
        return text + &external::plan(scenario);
    }
    let order: Vec<String> = schedule::plan(scenario)
        .iter()
        .map(|planned| if planned.is_warmup() { format!("({})", planned.arm) } else { planned.arm.to_string() })
        .collect();
    line(&mut text, "trials", &format!("{} (arms in this order; in brackets: warm-up)", order.join(" ")));
    if scenario.ensemble.external.is_none() {
        line(&mut text, "time", &estimate(scenario));
    }
    text += &external::plan(scenario);
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name:<10}{value}");
}

/// What varies, and within which limits.
fn describe_sweep(text: &mut String, scenario: &Scenario, sweep: &SweepSettings) {
    let mut points = scenario.arms.len() as u64 * u64::from(sweep.repeats);
    for axis in std::iter::once(&sweep.first).chain(&sweep.second) {
        points *= axis.values.len() as u64;
        let values: Vec<String> = match axis.variable.is_whole() {
            true => axis.values.iter().map(f64::to_string).collect(),
            false => axis.values.iter().map(|value| report::capacity::place(axis.variable, *value)).collect(),
        };
        let values = values.join(if axis.variable.is_whole() { " " } else { ", " });
        line(text, "sweep", &format!("{} {values}", axis.variable.key()));
    }
    for limit in &scenario.slo {
        line(text, "limit", &limit.to_string());
    }
    let beyond = sweep.stop_beyond;
    line(
        text,
        "points",
        &format!(
            "at most {points}: each {} times; a branch ends once a limit is exceeded {beyond} times",
            sweep.repeats
        ),
    );
    line(text, "", "the arms above are those of the first point; use `bench-runner capacity`");
}

fn describe_arm(arm: &ArmSettings) -> String {
    let settings = &arm.workers;
    let mode = match settings.mode {
        Mode::Drain => "settled drain".to_owned(),
        Mode::Barriers { settled: true, .. } => "settled rounds of enter, work, leave".to_owned(),
        Mode::Barriers { settled: false, .. } => "all entered, then all left".to_owned(),
        Mode::Closed => format!("closed, think {}", delay(&settings.think)),
        Mode::Open(Arrivals::Constant(rate)) => format!("open, {rate} arrivals a second, evenly spaced"),
        Mode::Open(Arrivals::Poisson(rate)) => format!("open, {rate} arrivals a second, Poisson"),
    };
    let recipe = settings.recipe.to_string();
    let name = if arm.label == recipe { recipe } else { format!("{} ({recipe})", arm.label) };
    let connections = match settings.connections {
        Some(connections) => format!(" over {connections} shared connections"),
        None => String::new(),
    };
    let sessions = match settings.sessions {
        Some(sessions) => format!(" over {sessions} shared sessions (wrong on purpose)"),
        None => String::new(),
    };
    let updates = match &settings.updates {
        Some(length) => format!(", updates of a shared counter that take {}", delay(length)),
        None => String::new(),
    };
    let (resources, count) = match settings.mode {
        Mode::Barriers { barriers, .. } => ("barrier", barriers),
        _ if settings.recipe.is_election() => ("election", settings.resources),
        _ => ("lock", settings.resources),
    };
    let plural = if count == 1 { "" } else { "s" };
    let requeue = if settings.auto_requeue { ", queues again before it gives up" } else { "" };
    format!(
        "{name} on {}: {} workers{connections}{sessions}, {count} {resources}{plural}, hold {}{updates}, {mode}{requeue}",
        arm.service,
        settings.workers,
        delay(&settings.hold),
    )
}

/// What breaks, when, how often in each trial, and for how long.
fn describe_fault(fault: &FaultSettings, scenario: &Scenario) -> String {
    let show = humantime::format_duration;
    let mut text = format!("{} at {}", fault.kind, show(fault.at));
    match (fault.every, fault.due_count(scenario.trials.duration)) {
        (None, _) => {}
        (Some(every), 1) => text += &format!(", then every {}: once in a trial", show(every)),
        (Some(every), due) => text += &format!(", then every {}: {due} times in a trial", show(every)),
    }
    match (fault.kind.length(), fault.kind.heals()) {
        (Some(length), _) => text += &format!(", for {}", show(length)),
        (None, true) => text += ", to the end of the trial",
        (None, false) => {}
    }
    text
}

/// A pause that nobody loses anything by: told, for it is rarely what was meant.
fn harmless_pause(fault: &FaultSettings, scenario: &Scenario) -> Option<String> {
    let FaultKind::Worker { fault: WorkerFault::Pause(length), .. } = fault.kind else { return None };
    let keeps_all = |(_, arm): &(usize, &ArmSettings)| arm.workers.session_timeout >= length;
    let arms = scenario.arms.iter().enumerate().filter(keeps_all).map(|(number, _)| number.to_string());
    let arms = arms.collect::<Vec<_>>().join(", ");
    let note = "note: not longer than the session timeout, so a paused worker loses nothing";
    (!arms.is_empty()).then(|| format!("{note} (arm {arms})"))
}

fn delay(delay: &Delay) -> String {
    let show = humantime::format_duration;
    match *delay {
        Delay::Fixed(length) => show(length).to_string(),
        Delay::Exponential(mean) => format!("exponential, mean {}", show(mean)),
        Delay::Uniform(low, high) => format!("uniform, {} to {}", show(low), show(high)),
        Delay::Forever => "for ever".to_owned(),
    }
}

/// About how long a run takes.
pub(super) fn estimate(scenario: &Scenario) -> String {
    let mut about = START;
    let mut open_ended = None;
    for planned in schedule::plan(scenario) {
        let workers = &scenario.arms[planned.arm].workers;
        about += AROUND_A_TRIAL + FOR_A_WORKER * workers.workers;
        if !planned.is_warmup() && scenario.bystanders.sessions > 0 {
            about += scenario.trials.rest;
        }
        match workers.mode {
            Mode::Drain => open_ended = Some("drains"),
            Mode::Barriers { .. } => open_ended = Some("barriers"),
            _ if planned.is_warmup() => about += scenario.trials.warmup,
            _ => about += scenario.trials.duration,
        }
    }
    let about = humantime::format_duration(Duration::from_secs(about.as_secs()));
    let open_ended = open_ended.map(|what| format!(", and as long as the {what} take")).unwrap_or_default();
    format!("about {about}{open_ended}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elections_and_faults_are_explained() {
        let text = r#"
version = 1
workers = { count = 200, hold = "forever", session_timeout = "4s" }
trials = { duration = "1m" }
[[arm]]
recipe = "election/naive"
[[arm]]
recipe = "election/leader-selector"
workers = { hold = "5ms", locks = 2, session_timeout = "20s" }
[[arm]]
recipe = "lock/sequential"
[[fault]]
kind = "crash"
target = "holder"
at = "5s"
every = "6s"
count = 9
[[fault]]
kind = "pause"
target = "waiter"
at = "5s"
for = "10s"
[[fault]]
kind = "cut"
how = "blackhole"
target = 0.07
at = "5s"
every = "30s"
[[fault]]
kind = "kill-node"
target = "leader"
at = "10s"
every = "15s"
for = "10s"
[[fault]]
kind = "restart-node"
target = "random"
at = "52s"
"#;
        let scenario = scenario::parse("test", text, &[]).unwrap_or_else(|error| panic!("{error}"));
        insta::assert_snapshot!(describe(&scenario));
    }
}
