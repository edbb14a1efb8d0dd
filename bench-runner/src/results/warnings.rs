//! What the reader of a result has to know before trusting it, and what to do about it.

use workloads::settings::Service;

use super::summary::{self, Environment};
use crate::measure::figures::Arm;

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Generator and servers share so few processors that rates are the machine's.
    FewCpus {
        /// Processors.
        cpus: u32,
    },
    /// The servers are somebody else's.
    External,
    /// The servers granted another session timeout than was asked for.
    SessionTimeout {
        /// Whose servers.
        service: Service,
        /// What was asked for, in seconds.
        asked: f64,
        /// What they granted, in seconds.
        granted: f64,
    },
    /// Requests waited for the ceiling.
    HeldBack {
        /// The arm.
        label: String,
        /// How many.
        requests: u64,
        /// The ceiling, in requests a second.
        rate: f64,
    },
    /// Servers acknowledged writes before they were on disk.
    NoFsync {
        /// Whose servers.
        service: Service,
    },
    /// The clients' and the servers' counts differ.
    BooksDiffer {
        /// The arm.
        label: String,
        /// Counted by the clients.
        client: u64,
        /// Counted by the servers.
        server: u64,
    },
    /// The clients' count is not the closed form.
    NotAsDerived {
        /// The arm.
        label: String,
        /// Counted by the clients.
        client: u64,
        /// The closed form.
        expected: u64,
    },
    /// The servers' counters could not be read in some trial.
    NoServerBook {
        /// The arm.
        label: String,
        /// Which counter is missing, and why.
        why: String,
    },
    /// Workers never got a grant, so latencies are of the others alone.
    Starved {
        /// The arm.
        label: String,
        /// Workers in the mean over the trials.
        starved: f64,
        /// Workers in all.
        workers: u32,
    },
    /// Arrivals of an open loop were not served within the trial.
    Unserved {
        /// The arm.
        label: String,
        /// Arrivals in the mean over the trials.
        unserved: f64,
    },
    /// Acquisitions ended in errors.
    Failed {
        /// The arm.
        label: String,
        /// How many.
        failed: u64,
    },
    /// Workers lost their session.
    SessionsLost {
        /// The arm.
        label: String,
        /// How many, and what they were told.
        told: String,
    },
    /// A node did not answer when it was sampled.
    NodeSilent {
        /// The arm.
        label: String,
        /// The node.
        node: String,
        /// How often; it is asked about once a second.
        times: u32,
    },
    /// The ensemble elected a new leader within a trial.
    Elections {
        /// The arm.
        label: String,
        /// How often.
        elections: u64,
    },
    /// Bystanders' operations failed.
    BystandersFailed {
        /// The arm.
        label: String,
        /// How many.
        failed: u64,
    },
    /// The trials of an arm lie far apart.
    WideSpread {
        /// The arm.
        label: String,
        /// Smallest and largest grants per second.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Notifications whose instance found no room in the table.
    Untracked {
        /// The arm.
        label: String,
        /// How many.
        untracked: u64,
    },
}

/// How far apart the trials of an arm may lie, largest over smallest, before it is worth a word.
const WIDE_SPREAD: f64 = 1.5;
/// The share of workers without a grant from which on latencies mislead.
const MANY_STARVED: f64 = 0.01;

/// What the figures themselves give reason to say.
pub fn of_figures(arms: &[Arm]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    arms.iter().for_each(|arm| of_arm(arm, &mut warnings));
    warnings
}

/// What the machine gives reason to say that generator and servers share.
pub fn of_machine(environment: &Environment) -> Option<Warning> {
    (environment.cpus < 8).then_some(Warning::FewCpus { cpus: environment.cpus })
}

fn of_arm(arm: &Arm, warnings: &mut Vec<Warning>) {
    let label = || arm.label.clone();
    let trials = f64::from(arm.trials.max(1));
    // What a trial lacks that was cut short, it lacks for that reason, which is told elsewhere.
    let cut = arm.trial.iter().any(|trial| !trial.complete);
    let books = &arm.notifications;
    match books.server {
        // A control whose books differ is explained where controls are.
        Some(server) if server != books.client && arm.requests.total > 0 && arm.control.is_none() => {
            warnings.push(Warning::BooksDiffer { label: label(), client: books.client, server });
        }
        Some(_) => {}
        None if cut => {}
        None => {
            let why = books.server_missing.clone().unwrap_or_else(|| "no counter was read".to_owned());
            warnings.push(Warning::NoServerBook { label: label(), why });
        }
    }
    if let Some(expected) = books.expected.filter(|expected| *expected != books.client) {
        warnings.push(Warning::NotAsDerived { label: label(), client: books.client, expected });
    }
    if books.untracked > 0 {
        warnings.push(Warning::Untracked { label: label(), untracked: books.untracked });
    }
    let starved = arm.safety.starved as f64 / trials;
    if !cut && starved > f64::from(arm.workers) * MANY_STARVED {
        warnings.push(Warning::Starved { label: label(), starved, workers: arm.workers });
    }
    let unserved: u64 = arm.trial.iter().filter_map(|trial| trial.unserved).sum();
    if unserved as f64 / trials > f64::from(arm.workers) {
        warnings.push(Warning::Unserved { label: label(), unserved: unserved as f64 / trials });
    }
    if arm.safety.failed > 0 {
        warnings.push(Warning::Failed { label: label(), failed: arm.safety.failed });
    }
    let rate = arm.grants_per_second;
    // A drain's pace is set by its waiting for the watches, so its rate carries no claim.
    if arm.mode != "drain" && rate.min > 0.0 && rate.max / rate.min > WIDE_SPREAD {
        warnings.push(Warning::WideSpread { label: label(), min: rate.min, max: rate.max });
    }
}

impl Warning {
    /// The warning in words.
    pub fn told(&self) -> summary::Warning {
        let (text, remedy) = match self {
            Warning::FewCpus { cpus } => (
                format!("generator and servers shared {cpus} processors, so rates and latencies are this machine's"),
                "compare arms of one run with each other, and counts with anything".to_owned(),
            ),
            Warning::External => (
                "the servers are not bench-runner's own: their CPU and memory are not known, and their counters are those of \
                 all their clients, not of this run alone"
                    .to_owned(),
                "run at a quiet time; the books of a run say whether other clients caused notifications before a trial".to_owned(),
            ),
            Warning::SessionTimeout { service, asked, granted } => (
                format!("the servers of {service} granted session timeouts of {granted} s where {asked} s were asked for"),
                "set workers.session_timeout to what they grant (ZooKeeper: 2 to 20 ticks of theirs)".to_owned(),
            ),
            Warning::HeldBack { label, requests, rate } => (
                format!(
                    "{label}: the generator held {requests} requests back, to stay below {rate} a second: rates and latencies are \
                     those of this ceiling and not of the servers"
                ),
                "use fewer workers, or raise ensemble.max_rate where the servers are known to bear it".to_owned(),
            ),
            Warning::NoFsync { service } => (
                format!("the servers of {service} acknowledged writes before they were on disk (fsync = false)"),
                format!("set ensemble.{service}.fsync = true for figures that stand for production"),
            ),
            Warning::BooksDiffer { label, client, server } => (
                format!("{label}: clients counted {client} notifications and the servers {server}"),
                "look for reconnects in the run: a watch that is set again after one may be counted twice".to_owned(),
            ),
            Warning::NotAsDerived { label, client, expected } => (
                format!("{label}: clients counted {client} notifications where the closed form gives {expected}"),
                "a worker failed or reconnected; run it again, and report it if it happens again".to_owned(),
            ),
            Warning::NoServerBook { label, why } => (
                format!("{label}: the servers' book of notifications is missing in some trial: {why}"),
                "compare the clients' count with the closed form alone, or run it again on servers that have the counter"
                    .to_owned(),
            ),
            Warning::Starved { label, starved, workers } => (
                format!(
                    "{label}: {starved:.0} of {workers} workers got no grant in a trial; latencies are of the others alone"
                ),
                "make trials.duration longer, or use fewer workers".to_owned(),
            ),
            Warning::Unserved { label, unserved } => (
                format!(
                    "{label}: {unserved:.0} arrivals were not served by the end of a trial; latencies are of the others alone"
                ),
                "the recipe cannot keep up with this rate: lower workers.arrivals.rate to find the one that it can"
                    .to_owned(),
            ),
            Warning::Failed { label, failed } => (
                format!("{label}: {failed} acquisitions ended in an error"),
                "see `outcome` in acquisitions.csv".to_owned(),
            ),
            Warning::SessionsLost { label, told } => (
                format!("{label}: workers lost their session: {told}"),
                "raise workers.session_timeout if the servers were merely slow".to_owned(),
            ),
            Warning::NodeSilent { label, node, times } => (
                format!("{label}: {node} did not answer {times} of the questions that it is asked once a second"),
                "it was stopped, cut off or overloaded: figures of that trial are those of an ensemble at fault"
                    .to_owned(),
            ),
            Warning::Elections { label, elections } => (
                format!("{label}: the ensemble elected a new leader {elections} times within a trial"),
                "figures of that trial are those of an ensemble at fault; raise ensemble.etcd.election_timeout if the \
                 servers were merely slow"
                    .to_owned(),
            ),
            Warning::BystandersFailed { label, failed } => (
                format!("{label}: {failed} operations of bystanders failed; their latencies are not in the figures"),
                "raise workers.session_timeout if the servers were merely slow".to_owned(),
            ),
            Warning::WideSpread { label, min, max } => (
                format!("{label}: trials lie far apart, from {min:.1} to {max:.1} grants a second"),
                "run more trials (trials.count), on a machine that does nothing else".to_owned(),
            ),
            Warning::Untracked { label, untracked } => (
                format!(
                    "{label}: {untracked} watches or notifications found no room in the fan-out table and are not in the fan-out"
                ),
                "make trials.duration shorter".to_owned(),
            ),
        };
        summary::Warning { text, remedy }
    }
}
