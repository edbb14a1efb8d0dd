//! What a scenario says about the workers: the settings that cross from the runner into this library.
//!
//! Plain data without files or formats: the runner parses its scenario and hands these over.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand::Rng;
use rand_distr::{Distribution, Exp1, Uniform};
use serde::{Deserialize, Serialize};

/// A coordination service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// Apache ZooKeeper.
    Zookeeper,
    /// etcd, version 3.
    Etcd,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Service::Zookeeper => "zookeeper",
            Service::Etcd => "etcd",
        })
    }
}

/// An algorithm that workers run. The names are those of scenarios, reports and result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Recipe {
    /// One znode or key that everybody tries to create and everybody else watches: the herd.
    #[serde(rename = "lock/naive")]
    NaiveLock,
    /// Curator's InterProcessMutex, and etcd's concurrency.Mutex: a queue in which each waiter watches its predecessor alone.
    #[serde(rename = "lock/sequential")]
    SequentialLock,
    /// Every candidate queues, all watch the smallest znode (etcd: one leader's key): the herd.
    #[serde(rename = "election/naive")]
    NaiveElection,
    /// Curator's LeaderLatch, and etcd's campaign: a queue of candidates, of which the first leads until it is closed or lost.
    #[serde(rename = "election/leader-latch")]
    LeaderLatch,
    /// Curator's LeaderSelector, and etcd's campaign and resign in turn: leadership goes round.
    #[serde(rename = "election/leader-selector")]
    LeaderSelector,
    /// Curator's DistributedBarrier, and etcd's Barrier: all wait for one znode or key to go.
    #[serde(rename = "barrier/single")]
    SingleBarrier,
    /// Curator's DistributedDoubleBarrier, and etcd's DoubleBarrier: a ready znode or key on the way in; on the way out the lowest
    /// and the highest member watch each other.
    #[serde(rename = "barrier/double")]
    DoubleBarrier,
    /// Every member watches the list of members and counts, on the way in and out: the herd.
    #[serde(rename = "barrier/double-naive")]
    NaiveDoubleBarrier,
    /// No lock: every worker takes its own znode or key for a grant at once. A control: two holders at once must be found.
    #[serde(rename = "control/unlocked")]
    Unlocked,
    /// No recipe: every worker holds its session and does nothing. Measures what sessions alone cost.
    #[serde(rename = "session/idle")]
    IdleSession,
}

impl Recipe {
    /// All recipes, in the order in which they are documented.
    pub const ALL: [Recipe; 10] = [
        Recipe::NaiveLock,
        Recipe::SequentialLock,
        Recipe::NaiveElection,
        Recipe::LeaderLatch,
        Recipe::LeaderSelector,
        Recipe::SingleBarrier,
        Recipe::DoubleBarrier,
        Recipe::NaiveDoubleBarrier,
        Recipe::Unlocked,
        Recipe::IdleSession,
    ];

    /// The recipe's name in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            Recipe::NaiveLock => "lock/naive",
            Recipe::SequentialLock => "lock/sequential",
            Recipe::NaiveElection => "election/naive",
            Recipe::LeaderLatch => "election/leader-latch",
            Recipe::LeaderSelector => "election/leader-selector",
            Recipe::SingleBarrier => "barrier/single",
            Recipe::DoubleBarrier => "barrier/double",
            Recipe::NaiveDoubleBarrier => "barrier/double-naive",
            Recipe::Unlocked => "control/unlocked",
            Recipe::IdleSession => "session/idle",
        }
    }

    /// Whether the recipe serves its waiters in the order in which they joined the queue.
    pub fn is_fifo(self) -> bool {
        matches!(self, Recipe::SequentialLock | Recipe::LeaderLatch | Recipe::LeaderSelector)
    }

    /// Whether it is a barrier: its workers are members, who meet instead of contending.
    pub fn is_barrier(self) -> bool {
        matches!(self, Recipe::SingleBarrier | Recipe::DoubleBarrier | Recipe::NaiveDoubleBarrier)
    }

    /// Whether it is an election: its holder leads.
    pub fn is_election(self) -> bool {
        matches!(self, Recipe::NaiveElection | Recipe::LeaderLatch | Recipe::LeaderSelector)
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Recipe::ALL.into_iter().find(|recipe| recipe.name() == name).ok_or_else(|| format!("unknown recipe `{name}`"))
    }
}

/// How long a hold or a think lasts: always the same, without an end, or drawn anew from a distribution each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// The same length each time.
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
    /// Uniformly distributed between the two, both included.
    Uniform(Duration, Duration),
    /// Without an end: a grant is held until it is lost or the trial ends.
    Forever,
}

impl Delay {
    /// No delay at all.
    pub const NONE: Delay = Delay::Fixed(Duration::ZERO);

    /// The next delay; [`Duration::MAX`] for one without an end. Draws nothing from `rng` for that and for a fixed one.
    pub fn draw(&self, rng: &mut impl Rng) -> Duration {
        match *self {
            Delay::Fixed(length) => length,
            Delay::Forever => Duration::MAX,
            Delay::Exponential(mean) => {
                let factor: f64 = Exp1.sample(rng);
                // Beyond what a duration can hold it is for ever in any case.
                Duration::try_from_secs_f64(mean.as_secs_f64() * factor).unwrap_or(Duration::MAX)
            }
            Delay::Uniform(low, high) => {
                let nanos = |length: Duration| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
                match Uniform::new_inclusive(nanos(low), nanos(high)) {
                    Ok(distribution) => Duration::from_nanos(distribution.sample(rng)),
                    // An empty interval: the scenario refuses it, and the lower end is the only sensible length.
                    Err(_) => low,
                }
            }
        }
    }
}

/// When arrivals of an open loop are due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Evenly spaced, this many a second.
    Constant(f64),
    /// A Poisson process with this many arrivals a second in the mean.
    Poisson(f64),
}

impl Arrivals {
    /// The moments at which arrivals are due, from 0 to `length`, in nanoseconds since the start of the trial.
    pub fn schedule(&self, length: Duration, rng: &mut impl Rng) -> Vec<u64> {
        let end = length.as_secs_f64();
        let mut due = Vec::new();
        let mut at = 0.0_f64;
        while at < end {
            due.push((at * 1e9) as u64);
            at += match *self {
                Arrivals::Constant(rate) => 1.0 / rate,
                Arrivals::Poisson(rate) => {
                    let gap: f64 = Exp1.sample(rng);
                    gap / rate
                }
            };
        }
        due
    }
}

/// What drives the workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Every worker acquires once; a holder releases only when every remaining waiter has armed its watch (*settled*),
    /// so that the notifications of the whole drain are a closed form.
    Drain,
    /// Every worker acquires, holds, releases, thinks, and begins again, until the trial ends.
    Closed,
    /// Acquisitions fall due at a rate, whatever became of earlier ones; the workers are the limit of concurrency.
    Open(Arrivals),
    /// Barriers, and no other recipe: every worker is a member of all of them.
    Barriers {
        /// How many, at least 1.
        barriers: u32,
        /// Each barrier is entered, worked in for the time of a hold, and left, one after the other, and *settled*: whoever sets a
        /// wake-up off does so when all it concerns wait, so that the notifications are a closed form. Otherwise all barriers
        /// are entered and then all are left, as fast as that goes.
        settled: bool,
    },
}

/// What the faults to come ask of a fleet beforehand. Each costs something, so each is there only where a scenario needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Precautions {
    /// Faults may come at all: it is noted who holds what, holders write to a fenced store, and a worker that loses its
    /// session opens another one.
    pub faults: bool,
    /// Workers may crash: ZooKeeper sessions are opened so that they outlive their connection.
    pub crash: bool,
    /// Workers may be paused: each runs on a thread of its own, which can be put to sleep with all that belongs to it.
    pub pause: bool,
    /// Workers may be cut off: each talks to the servers through a relay of its own.
    pub cut: bool,
}

/// How a worker is cut off from the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CutHow {
    /// Its connections are broken, and new ones refused.
    Sever,
    /// Its connections stay, and nothing passes through them either way.
    Blackhole,
}

/// What each worker of an arm does.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerSettings {
    /// The algorithm.
    pub recipe: Recipe,
    /// How many workers, each with its own session.
    pub workers: u32,
    /// How many locks or elections they are spread over, worker by worker.
    pub resources: u32,
    /// What drives them.
    pub mode: Mode,
    /// How long a grant is held.
    pub hold: Delay,
    /// How long a worker rests between a release and its next acquire; not used in an open loop.
    pub think: Delay,
    /// Leader selector, closed loop: whether a worker joins the queue again before it gives its leadership up, and not after a
    /// think. `false` for every other recipe and mode.
    pub auto_requeue: bool,
    /// How long an update of the shared counter takes that holders keep, from its read to its write; `None` where there is no such
    /// counter. No arm of drains or barriers has one.
    pub updates: Option<Delay>,
    /// The session timeout asked for; etcd: the lease's ttl, in whole seconds.
    pub session_timeout: Duration,
    /// etcd: over how many client connections the workers are spread, worker by worker; `None`: each has its own. The
    /// lease is each worker's own in any case. ZooKeeper pays no heed to it: a connection is a session there.
    pub connections: Option<u32>,
    /// Over how many sessions (etcd: leases) the workers are spread, worker by worker; `None`: each has its own, as it must. A
    /// control: what comes of sharing must be found.
    pub sessions: Option<u32>,
    /// How many sessions are being opened at any moment.
    pub connect_concurrency: u32,
    /// The seed of every random choice.
    pub seed: u64,
    /// What the faults to come ask for.
    pub precautions: Precautions,
}

impl WorkerSettings {
    /// Whether these workers do on purpose what must not be done: a control of those who judge them.
    pub fn is_control(&self) -> bool {
        self.recipe == Recipe::Unlocked || self.sessions.is_some()
    }
}
