//! From the file's types to the settings: defaults, `[workers]` and the arms' own settings merged.

use std::time::Duration;

use workloads::settings::{Arrivals, Delay, Mode, Precautions, Recipe, Service, WorkerSettings};

use super::ensemble::EnsembleFile;
use super::external;
use super::fault::file::FaultFile;
use super::fault::{FaultKind, WorkerFault};
use super::file::{ArmFile, ModeName, ProcessName, ScenarioFile, WorkersFile};
use super::settings::{
    ArmSettings, BystanderSettings, EnsembleSettings, EtcdSettings, Provider, Scenario, TrialSettings,
    ZookeeperSettings,
};
use super::{grid, sweep};
use crate::ensemble::etcd::settings::shortest_lease_seconds;

/// The longest session timeout that a server grants, in ticks; also the default.
pub const MOST_TICKS: u32 = 20;

/// The ttl of an etcd lease unless the scenario says otherwise, or the servers grant no shorter one.
const LEASE: Duration = Duration::from_secs(20);

/// The scenario without its name and text; `None` if something is missing that `validate` asks for.
pub fn resolve(file: &ScenarioFile) -> Option<Scenario> {
    let at_first = file.sweep.is_some().then(|| ScenarioFile { sweep: None, ..sweep::at_first_point(file) });
    if let Some(at_first) = at_first {
        let settings = file.sweep.as_ref().and_then(|sweep| sweep.resolve())?;
        return Some(Scenario { sweep: Some(settings), ..resolve(&at_first)? });
    }
    let (zookeeper, etcd) = (&file.ensemble.zookeeper, &file.ensemble.etcd);
    Some(Scenario {
        name: String::new(),
        question: file.question.clone(),
        seed: file.seed,
        ensemble: EnsembleSettings {
            provider: file.ensemble.provider,
            nodes: file.ensemble.node_count(),
            max_workers: max_workers(&file.ensemble),
            max_rate: max_rate(&file.ensemble),
            docker: (file.ensemble.provider == Provider::Docker).then(|| file.ensemble.docker.clone()),
            external: (file.ensemble.provider == Provider::External).then(|| external::file::resolve(&file.ensemble)),
            zookeeper: ZookeeperSettings {
                tick: zookeeper.tick.0,
                heap: zookeeper.heap.clone(),
                fsync: zookeeper.fsync,
                base_port: zookeeper.base_port,
                jvm_flags: zookeeper.jvm_flags.clone(),
                home: zookeeper.home.clone(),
            },
            etcd: EtcdSettings {
                heartbeat_interval: etcd.heartbeat_interval.0,
                election_timeout: etcd.election_timeout.0,
                quota_mib: etcd.quota_mib,
                snapshot_count: etcd.snapshot_count,
                fsync: etcd.fsync,
                base_port: etcd.base_port,
                program: etcd.program.clone(),
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
        arms: grid::arms(file).iter().map(|arm| resolve_arm(arm, file)).collect::<Option<_>>()?,
        faults: file.fault.iter().map(FaultFile::resolve).collect::<Option<_>>()?,
        sweep: None,
        slo: file.slo.limits.clone(),
        gate: file.gate.clone(),
        text: String::new(),
        sha256: String::new(),
    })
}

/// The ceiling on workers; external servers have one in any case.
pub fn max_workers(ensemble: &EnsembleFile) -> Option<u32> {
    ensemble.max_workers.or((ensemble.provider == Provider::External).then_some(external::MAX_WORKERS))
}

/// The ceiling on requests; external servers have one in any case.
pub fn max_rate(ensemble: &EnsembleFile) -> Option<f64> {
    ensemble.max_rate.or((ensemble.provider == Provider::External).then_some(external::MAX_RATE))
}

fn resolve_arm(arm: &ArmFile, file: &ScenarioFile) -> Option<ArmSettings> {
    let recipe = arm.recipe?;
    let workers = arm.workers.over(&file.workers);
    let delay = |text: Option<_>| text.map_or(Delay::NONE, Delay::from);
    let service = arm.service.unwrap_or(file.service);
    Some(ArmSettings {
        label: label(arm).to_owned(),
        service,
        telemetry: workers.telemetry.unwrap_or(true),
        workers: WorkerSettings {
            recipe,
            workers: workers.count?,
            resources: workers.locks.unwrap_or(1),
            mode: resolve_mode(&workers)?,
            hold: delay(workers.hold),
            think: delay(workers.think),
            auto_requeue: requeues(recipe, workers.mode.unwrap_or_default()) && workers.auto_requeue.unwrap_or(true),
            updates: workers.updates.map(Delay::from),
            session_timeout: workers
                .session_timeout
                .map_or_else(|| default_timeout(service, file), |timeout| timeout.0),
            connections: workers.connections.filter(|_| service == Service::Etcd),
            sessions: workers.sessions,
            connect_concurrency: workers.connect_concurrency.unwrap_or(64),
            seed: file.seed,
            precautions: precautions(file)?,
        },
    })
}

/// What the scenario's faults ask of the workers beforehand.
fn precautions(file: &ScenarioFile) -> Option<Precautions> {
    let faults: Vec<_> = file.fault.iter().map(FaultFile::resolve).collect::<Option<_>>()?;
    let any = |asks: fn(WorkerFault) -> bool| {
        faults.iter().any(|fault| matches!(fault.kind, FaultKind::Worker { fault, .. } if asks(fault)))
    };
    Some(Precautions {
        faults: !faults.is_empty(),
        crash: any(|fault| fault == WorkerFault::Crash),
        pause: any(|fault| matches!(fault, WorkerFault::Pause(_))),
        cut: any(|fault| matches!(fault, WorkerFault::Cut { .. })),
    })
}

/// Whether an arm of this recipe and mode can queue again before it gives its grant up.
pub fn requeues(recipe: Recipe, mode: ModeName) -> bool {
    recipe == Recipe::LeaderSelector && mode == ModeName::Closed
}

fn default_timeout(service: Service, file: &ScenarioFile) -> Duration {
    match service {
        // Their ticks and election timeouts are not known here. What they grant is seen, and told, when it is asked for.
        _ if file.ensemble.provider == Provider::External => LEASE,
        Service::Zookeeper => file.ensemble.zookeeper.tick.0 * MOST_TICKS,
        Service::Etcd => LEASE.max(shortest_lease(file)),
    }
}

/// The shortest lease that the scenario's etcd servers grant.
pub fn shortest_lease(file: &ScenarioFile) -> Duration {
    let etcd = &file.ensemble.etcd;
    Duration::from_secs(shortest_lease_seconds(etcd.heartbeat_interval.0, etcd.election_timeout.0))
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
        ModeName::Barriers | ModeName::Rounds => {
            Mode::Barriers { barriers: workers.barriers.unwrap_or(1), settled: workers.mode == Some(ModeName::Rounds) }
        }
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
