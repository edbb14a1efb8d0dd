//! What one trial yields, as plain data: the input of the stage that measures.

use std::collections::BTreeMap;
use std::time::Duration;

use workloads::bystander::BystanderLatencies;
use workloads::fleet::Failures;
use workloads::fleet::faults::FencedWrites;
use workloads::record::{Passage, Recording};
use workloads::shared_counter::Updates;

use super::generator::GeneratorRecording;
use super::schedule::Planned;
use crate::ensemble::Counters;
use crate::scenario::FaultKind;

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As planned.
    Complete,
    /// The user interrupted it.
    Interrupted,
    /// A drain was not over within its limit.
    Overdue,
    /// A node ended: which, how, and the end of its log.
    EnsembleLost(String),
    /// Every worker lost its session.
    WorkersLost,
    /// This program has a fault, so what is waited for may never come.
    Fault(String),
}

/// Why the servers' book of a trial is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingBook {
    /// The servers did not tell their counters before or after the trial.
    #[error("the servers' counters could not be read: {0}")]
    NotRead(String),
    /// Notifications were still under way when they were read, so that they need not agree.
    #[error("the servers had not come to rest when their counters were read")]
    NotAtRest,
    /// A fault of the scenario started a node again.
    #[error("a node was started again in the trial, so its counters began again")]
    StartedAgain,
    /// The servers have no counter of it; which one would be it.
    #[error("{0}")]
    NoCounter(&'static str),
    /// Other clients of external servers cause notifications too.
    #[error(
        "other clients of the ensemble caused {notifications} notifications in the {seconds} s before the trial, at rest"
    )]
    NotOursAlone {
        /// Notifications.
        notifications: u64,
        /// For how long they were counted, in whole seconds.
        seconds: u64,
    },
    /// The trial ended with the servers or with all sessions.
    #[error("the trial ended before the counters could be read")]
    EndedBefore,
}

/// All nodes and the generator at one moment of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Since the start of the workers.
    pub at: Duration,
    /// CPU time of all nodes together since they were started, in seconds; `None` where their processes cannot be seen.
    pub nodes_cpu_seconds: Option<f64>,
    /// Resident memory of all nodes together, in bytes; `None` likewise.
    pub nodes_rss_bytes: Option<u64>,
    /// Watches that the servers hold, where all of them told.
    pub watches: Option<u64>,
    /// Sessions that the servers hold, where all of them told.
    pub sessions: Option<u64>,
    /// CPU time of the generator, in seconds.
    pub generator_cpu_seconds: f64,
    /// Bytes of data that the servers keep, where they told.
    pub data_bytes: Option<u64>,
}

/// A grant that a worker had when a fault struck it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldRecord {
    /// The worker.
    pub worker: u32,
    /// The lock or election.
    pub resource: u32,
    /// The grant's token.
    pub token: i64,
    /// When its znode or key was seen to be gone from the servers; `None` where the trial ended before. Nanoseconds since the
    /// start of the trial, as all moments here.
    pub gone: Option<u64>,
}

/// One fault, as it was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultRecord {
    /// What was to break, and of whom.
    pub kind: FaultKind,
    /// When it struck: the first of the victims gave its last sign of life then, where it is one that gives none any more.
    pub issued: u64,
    /// Why it was not carried out after all; `None` where it was.
    pub skipped: Option<String>,
    /// The workers that it struck, in the order of their numbers.
    pub victims: Vec<u32>,
    /// The grants that they had.
    pub held: Vec<HeldRecord>,
    /// The node that it struck.
    pub node: Option<String>,
    /// Whether somebody held, and everybody else stood in the queue with its watch armed, when it struck.
    pub settled: bool,
    /// When another node was seen to lead, where it struck the one that led.
    pub new_leader: Option<u64>,
    /// When what it broke was mended; `None` where there is nothing to mend, or it was mended after the measured time.
    pub healed: Option<u64>,
}

impl FaultRecord {
    /// One that has struck nobody yet.
    pub fn new(kind: FaultKind, issued: u64) -> Self {
        FaultRecord {
            kind,
            issued,
            skipped: None,
            victims: Vec::new(),
            held: Vec::new(),
            node: None,
            settled: false,
            new_leader: None,
            healed: None,
        }
    }
}

/// One trial.
#[derive(Clone, Debug)]
pub struct TrialRecording {
    /// Which arm, and which of the trials.
    pub planned: Planned,
    /// How it ended.
    pub end: End,
    /// What the workers wrote down; its `length` is the measured time.
    pub workers: Recording,
    /// Barriers: the way of each member through each of them.
    pub passages: Vec<Passage>,
    /// Open loop: arrivals that were due and that no worker had taken up.
    pub arrivals_left: Option<u64>,
    /// The servers' counters over the trial, where they could be read before and after.
    pub counters: Option<Counters>,
    /// Why they give no book of the notifications; `None` where they do.
    pub missing_book: Option<MissingBook>,
    /// Nodes and generator over time, about once a second.
    pub samples: Vec<Sample>,
    /// What the bystanders saw.
    pub bystanders: BystanderLatencies,
    /// What the generator used in the measured time.
    pub generator: GeneratorRecording,
    /// CPU time of all nodes together in the measured time, in seconds; `None` where their processes cannot be seen.
    pub nodes_cpu_seconds: Option<f64>,
    /// Requests that waited for the ceiling in the measured time.
    pub held_back: u64,
    /// Share of the machine's processors that other programs took in the measured time, 0 to 1, where the kernel tells.
    pub other_cpu_share: Option<f64>,
    /// Resident set of the generator before the first worker of the run connected, and what the results of earlier trials
    /// take, in bytes.
    pub idle_rss_bytes: u64,
    /// How often each node did not answer in time when it was sampled, for those that did not.
    pub silent_nodes: BTreeMap<String, u32>,
    /// What workers were told that lost their session.
    pub failures: Failures,
    /// The faults, in the order in which they struck.
    pub faults: Vec<FaultRecord>,
    /// Sessions that were lost, and that another one followed; only where faults were to come.
    pub sessions_lost: u64,
    /// Writes of holders to a store that checks the token; only where faults were to come.
    pub fenced_writes: FencedWrites,
    /// What holders did to the shared counter; empty where none is kept.
    pub updates: Updates,
}
