//! Faults: what a scenario breaks on purpose, of whom, and when.
//!
//! The types here are what the later stages work from; [`file`](mod@file) is how a scenario writes them down. Each fault falls due
//! in every trial anew, and what it broke heals at the end of the trial at the latest.

pub mod file;

use std::fmt;
use std::time::Duration;

pub use workloads::settings::CutHow;

/// One `[[fault]]`: what breaks, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultSettings {
    /// What breaks, and of whom.
    pub kind: FaultKind,
    /// When the first one falls due, since the start of the trial.
    pub at: Duration,
    /// How long after that the next one falls due, more than zero; `None`: there is only one.
    pub every: Option<Duration>,
    /// How many there are in all, at least 1; `None`: as many as fall due before the trial ends.
    pub count: Option<u32>,
}

impl FaultSettings {
    /// All moments at which it falls due within a trial of this length, in order, since the trial's start; none at its very
    /// end. A scenario has at most [`MOST_MOMENTS`](file::MOST_MOMENTS) in a measured trial.
    pub fn due(&self, length: Duration) -> Vec<Duration> {
        let moment = |number| self.every.unwrap_or_default().checked_mul(number)?.checked_add(self.at);
        let within = |moment: &Duration| *moment < length;
        (0..self.most()).map_while(moment).take_while(within).collect()
    }

    /// How many moments fall into a trial of this length, without listing them.
    pub fn due_count(&self, length: Duration) -> u64 {
        let Some(left) = length.checked_sub(self.at).filter(|left| !left.is_zero()) else { return 0 };
        let repeats = match self.every.map_or(0, |every| every.as_nanos()) {
            0 => 0,
            every => (left.as_nanos() - 1) / every,
        };
        u64::try_from(repeats).unwrap_or(u64::MAX).saturating_add(1).min(u64::from(self.most()))
    }

    /// How many there may be, however long the trial is.
    fn most(&self) -> u32 {
        // With a step of zero they would all be the same moment.
        match (self.every, self.count) {
            (Some(every), count) if !every.is_zero() => count.unwrap_or(u32::MAX),
            _ => 1,
        }
    }
}

/// What breaks, and of whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// Something of the workers.
    Worker {
        /// What.
        fault: WorkerFault,
        /// Of which of them.
        target: WorkerTarget,
    },
    /// Something of the ensemble's nodes.
    Node {
        /// What.
        fault: NodeFault,
        /// Of which of them.
        target: NodeTarget,
    },
}

/// What befalls a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerFault {
    /// It closes its session (etcd: revokes its lease), as a program does that ends in good order.
    Close,
    /// Its connection is dropped and nothing is closed: the session or lease is left to expire, as when a program is killed.
    Crash,
    /// It stops for so long, more than zero, as in a long collection of garbage, and then goes on as if nothing had been.
    Pause(Duration),
    /// Its network is cut.
    Cut {
        /// How.
        how: CutHow,
        /// For how long, more than zero; `None`: to the end of the trial.
        length: Option<Duration>,
    },
}

/// Which workers a fault befalls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkerTarget {
    /// Whoever holds the lock or leads.
    Holder,
    /// One that waits.
    Waiter,
    /// This share of all living workers at once: more than 0, at most 1.
    Share(f64),
}

/// What befalls a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeFault {
    /// Its server is killed, and started again on the same data.
    Kill {
        /// How long it stays dead, more than zero; `None`: to the end of the trial.
        length: Option<Duration>,
    },
    /// Its server is stopped and later goes on as if nothing had been; its connections stay open meanwhile.
    Pause {
        /// How long it stands still, more than zero; `None`: to the end of the trial.
        length: Option<Duration>,
    },
    /// Its server is killed and started again at once.
    Restart,
    /// It is taken off its network, and later put on it again.
    Disconnect {
        /// How long it is off, more than zero; `None`: to the end of the trial.
        length: Option<Duration>,
    },
}

/// Which node a fault befalls, among those that are up when it falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeTarget {
    /// The one that leads.
    Leader,
    /// One that follows.
    Follower,
    /// Any of them.
    Random,
}

impl FaultKind {
    /// The kind as a scenario writes it, for example `kill-node`.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::Worker { fault: WorkerFault::Close, .. } => "close",
            FaultKind::Worker { fault: WorkerFault::Crash, .. } => "crash",
            FaultKind::Worker { fault: WorkerFault::Pause(_), .. } => "pause",
            FaultKind::Worker { fault: WorkerFault::Cut { .. }, .. } => "cut",
            FaultKind::Node { fault: NodeFault::Kill { .. }, .. } => "kill-node",
            FaultKind::Node { fault: NodeFault::Pause { .. }, .. } => "pause-node",
            FaultKind::Node { fault: NodeFault::Restart, .. } => "restart-node",
            FaultKind::Node { fault: NodeFault::Disconnect { .. }, .. } => "disconnect-node",
        }
    }

    /// How long it lasts, where the scenario says so; see [`heals`](Self::heals).
    pub fn length(&self) -> Option<Duration> {
        match *self {
            FaultKind::Worker { fault: WorkerFault::Pause(length), .. } => Some(length),
            FaultKind::Worker { fault: WorkerFault::Cut { length, .. }, .. }
            | FaultKind::Node {
                fault: NodeFault::Kill { length } | NodeFault::Pause { length } | NodeFault::Disconnect { length },
                ..
            } => length,
            FaultKind::Worker { fault: WorkerFault::Close | WorkerFault::Crash, .. }
            | FaultKind::Node { fault: NodeFault::Restart, .. } => None,
        }
    }

    /// Whether it lasts, for its [`length`](Self::length) or to the end of the trial, and heals then. What happens at once has
    /// nothing to heal.
    pub fn heals(&self) -> bool {
        !matches!(
            self,
            FaultKind::Worker { fault: WorkerFault::Close | WorkerFault::Crash, .. }
                | FaultKind::Node { fault: NodeFault::Restart, .. }
        )
    }
}

/// The kind and its target in words, for example `crash of the holder`, without how long it lasts.
impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let FaultKind::Worker { fault: WorkerFault::Cut { how: CutHow::Blackhole, .. }, .. } = self {
            f.write_str(" (blackhole)")?;
        }
        match self {
            FaultKind::Worker { target: WorkerTarget::Holder, .. } => f.write_str(" of the holder"),
            FaultKind::Worker { target: WorkerTarget::Waiter, .. } => f.write_str(" of a waiter"),
            // Tenths of a percent: 0.1 × 100 is not 10 in binary.
            FaultKind::Worker { target: WorkerTarget::Share(share), .. } => {
                write!(f, " of {}% of the workers", (share * 1000.0).round() / 10.0)
            }
            FaultKind::Node { target: NodeTarget::Leader, .. } => f.write_str(" of the leader"),
            FaultKind::Node { target: NodeTarget::Follower, .. } => f.write_str(" of a follower"),
            FaultKind::Node { target: NodeTarget::Random, .. } => f.write_str(" of any node"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIND: FaultKind = FaultKind::Worker { fault: WorkerFault::Crash, target: WorkerTarget::Holder };

    fn seconds(seconds: &[u64]) -> Vec<Duration> {
        seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect()
    }

    #[test]
    fn faults_fall_due_until_they_are_counted_out_or_the_trial_ends() {
        let of = |at, every: Option<u64>, count| {
            let fault =
                FaultSettings { kind: KIND, at: Duration::from_secs(at), every: every.map(Duration::from_secs), count };
            fault.due(Duration::from_secs(20))
        };
        assert_eq!(of(5, None, None), seconds(&[5]));
        assert_eq!(of(0, Some(5), None), seconds(&[0, 5, 10, 15]));
        assert_eq!(of(5, Some(6), None), seconds(&[5, 11, 17]));
        assert_eq!(of(5, Some(6), Some(2)), seconds(&[5, 11]));
        assert_eq!(of(5, Some(6), Some(20)), seconds(&[5, 11, 17]));
        assert_eq!(of(20, Some(6), Some(20)), seconds(&[]));
        assert_eq!(of(21, None, None), seconds(&[]));
        assert_eq!(of(5, Some(0), None), seconds(&[5]));
    }

    proptest! {
        #[test]
        fn counting_is_listing(at in 0..50_u64, every in proptest::option::of(0..20_u64), count in proptest::option::of(1..9_u32), length in 0..60_u64) {
            let (at, every) = (Duration::from_millis(at), every.map(Duration::from_millis));
            let (fault, length) = (FaultSettings { kind: KIND, at, every, count }, Duration::from_millis(length));
            prop_assert_eq!(fault.due_count(length), fault.due(length).len() as u64);
        }
    }
}
