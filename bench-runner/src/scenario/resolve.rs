//! From the file's types to the settings: defaults, `[workers]` and the arms' own settings merged.

use workloads::settings::{Arrivals, Delay, Mode, WorkerSettings};

use super::file::{ArmFile, ModeName, ProcessName, ScenarioFile, WorkersFile};
use super::settings::{ArmSettings, BystanderSettings, EnsembleSettings, Scenario, TrialSettings, ZookeeperSettings};

/// The longest session timeout that a server grants, in ticks; also the default.
pub const MOST_TICKS: u32 = 20;

/// The scenario without its name and text; `None` if something is missing that `validate` asks for.
pub fn resolve(file: &ScenarioFile) -> Option<Scenario> {
    let zookeeper = &file.ensemble.zookeeper;
    Some(Scenario {
        name: String::new(),
        question: file.question.clone(),
        seed: file.seed,
        ensemble: EnsembleSettings {
            provider: file.ensemble.provider,
            nodes: file.ensemble.nodes,
            zookeeper: ZookeeperSettings {
                tick: zookeeper.tick.0,
                heap: zookeeper.heap.clone(),
                fsync: zookeeper.fsync,
                base_port: zookeeper.base_port,
                jvm_flags: zookeeper.jvm_flags.clone(),
            },
        },
        trials: TrialSettings {
            count: file.trials.count,
            warmup: file.trials.warmup.0,
            duration: file.trials.duration.0,
            limit: file.trials.limit.0,
            rest: file.trials.rest.0,
        },
        bystanders: BystanderSettings { sessions: file.bystanders.sessions, rate: file.bystanders.rate },
        arms: file.arm.iter().map(|arm| resolve_arm(arm, file)).collect::<Option<_>>()?,
        text: String::new(),
        sha256: String::new(),
    })
}

fn resolve_arm(arm: &ArmFile, file: &ScenarioFile) -> Option<ArmSettings> {
    let recipe = arm.recipe?;
    let workers = arm.workers.over(&file.workers);
    let delay = |text: Option<_>| text.map_or(Delay::NONE, Delay::from);
    Some(ArmSettings {
        label: label(arm).to_owned(),
        service: arm.service.unwrap_or(file.service),
        telemetry: workers.telemetry.unwrap_or(true),
        workers: WorkerSettings {
            recipe,
            workers: workers.count?,
            resources: workers.locks.unwrap_or(1),
            mode: resolve_mode(&workers)?,
            hold: delay(workers.hold),
            think: delay(workers.think),
            session_timeout: workers
                .session_timeout
                .map_or(file.ensemble.zookeeper.tick.0 * MOST_TICKS, |timeout| timeout.0),
            connect_concurrency: workers.connect_concurrency.unwrap_or(64),
            seed: file.seed,
        },
    })
}

/// What an arm is called: its own word, else the recipe's name.
pub fn label(arm: &ArmFile) -> &str {
    match (&arm.label, arm.recipe) {
        (Some(label), _) => label,
        (None, Some(recipe)) => recipe.name(),
        (None, None) => "",
    }
}

fn resolve_mode(workers: &WorkersFile) -> Option<Mode> {
    Some(match workers.mode.unwrap_or_default() {
        ModeName::Drain => Mode::Drain,
        ModeName::Closed => Mode::Closed,
        ModeName::Open => {
            let arrivals = workers.arrivals?;
            Mode::Open(match arrivals.process {
                ProcessName::Constant => Arrivals::Constant(arrivals.rate?),
                ProcessName::Poisson => Arrivals::Poisson(arrivals.rate?),
            })
        }
    })
}
