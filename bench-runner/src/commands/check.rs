//! `bench-runner check`: says what a scenario would do, without doing it.

use std::fmt::Write;
use std::time::Duration;

use workloads::settings::{Arrivals, Delay, Mode, Service};

use super::{Failure, print};
use crate::cli::CheckArgs;
use crate::exit;
use crate::run::schedule;
use crate::scenario::{self, ArmSettings, Scenario};

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

fn describe(scenario: &Scenario) -> String {
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
        format!("{nodes} local {title} {}", if nodes == 1 { "node" } else { "nodes" })
    });
    line(&mut text, "ensemble", &each.collect::<Vec<_>>().join(" and "));
    for (number, arm) in scenario.arms.iter().enumerate() {
        line(&mut text, &format!("arm {number}"), &describe_arm(arm));
    }
    let order: Vec<String> = schedule::plan(scenario)
        .iter()
        .map(|planned| if planned.is_warmup() { format!("({})", planned.arm) } else { planned.arm.to_string() })
        .collect();
    line(&mut text, "trials", &format!("{} (arms in this order; in brackets: warm-up)", order.join(" ")));
    line(&mut text, "time", &estimate(scenario));
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {name:<10}{value}");
}

fn describe_arm(arm: &ArmSettings) -> String {
    let settings = &arm.workers;
    let mode = match settings.mode {
        Mode::Drain => "settled drain".to_owned(),
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
    format!(
        "{name} on {}: {} workers{connections}, {} {}, hold {}, {mode}",
        arm.service,
        settings.workers,
        settings.resources,
        if settings.resources == 1 { "lock" } else { "locks" },
        delay(&settings.hold),
    )
}

fn delay(delay: &Delay) -> String {
    let show = humantime::format_duration;
    match *delay {
        Delay::Fixed(length) => show(length).to_string(),
        Delay::Exponential(mean) => format!("exponential, mean {}", show(mean)),
        Delay::Uniform(low, high) => format!("uniform, {} to {}", show(low), show(high)),
    }
}

/// About how long a run takes.
fn estimate(scenario: &Scenario) -> String {
    let mut about = START;
    let mut drains = false;
    for planned in schedule::plan(scenario) {
        let workers = &scenario.arms[planned.arm].workers;
        about += AROUND_A_TRIAL + FOR_A_WORKER * workers.workers;
        if !planned.is_warmup() && scenario.bystanders.sessions > 0 {
            about += scenario.trials.rest;
        }
        match workers.mode {
            Mode::Drain => drains = true,
            _ if planned.is_warmup() => about += scenario.trials.warmup,
            _ => about += scenario.trials.duration,
        }
    }
    let about = humantime::format_duration(Duration::from_secs(about.as_secs()));
    let drains = if drains { ", and as long as the drains take" } else { "" };
    format!("about {about}{drains}")
}
