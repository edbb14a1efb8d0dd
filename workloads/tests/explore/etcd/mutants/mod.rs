//! etcd's recipes, broken on purpose, each in one way: the exploration must find every one of them.

mod barriers;
mod naive;
mod queue;
mod shared;

use workloads::etcd::SequentialLock;

use super::Etcd;
use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Service};
use crate::subject::Subject;
use crate::wait;
use barriers::{CountsAgain, CountsOnly, WatchesFromNow};
use naive::UnlocksByName;
use queue::{Flaw, Queue};
use shared::SharedLease;

/// A mutant of a queue.
macro_rules! queue {
    ($name:literal, $flaw:ident, $mutation:literal) => {
        Subject::mutant(Etcd::NAME, $name, $mutation, |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session, _| Queue::new(session, BASE, Flaw::$flaw))
        })
    };
}

/// What the mutants of the queue are made of, without a flaw: it must not be for another reason that they are found.
pub fn controls() -> Vec<Subject> {
    vec![Subject::new(Etcd::NAME, "control/queue", |seed, traced| {
        contend::run::<Etcd, _>(seed, traced, |session, _| Queue::new(session, BASE, Flaw::None))
    })]
}

/// All of them.
pub fn all() -> Vec<Subject> {
    let of = |name, mutation, run| Subject::mutant(Etcd::NAME, name, mutation, run);
    vec![
        queue!("mutant/trusts-wake-up", TrustsWakeUp, "no second look at the queue after a wake-up (microsoft/etcd3 #176)"),
        queue!("mutant/no-last-look", NoLastLook, "a grant without a look at the own key (etcd #11456, #9921, #16221)"),
        queue!("mutant/watches-from-now", WatchesFromNow, "the watch begins later than what was read (etcd PR #16223)"),
        queue!("mutant/not-told", IsNotTold, "the holder is not told of its lease's end (kubernetes #23731)"),
        queue!("mutant/stays-in-queue", StaysInQueue, "a waiter that gives up leaves its key (zk-ruby #49)"),
        of("mutant/unlocks-by-name", "an unlock deletes whatever has the name", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session, _| UnlocksByName::new(session, BASE))
        }),
        of("mutant/shared-lease", "workers share a lease (etcd #10756)", |seed, traced| {
            contend::run::<SharedLease, _>(seed, traced, |session, _| SequentialLock::new(session, BASE))
        }),
        of("mutant/counts-again", "the count of members instead of `ready` (curator #1291)", |seed, traced| {
            meet::run::<Etcd, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                CountsAgain::new(session, BASE, quantity)
            })
        }),
        of("mutant/counts-only", "the naive double barrier without `ready` (curator #1291)", |seed, traced| {
            meet::run::<Etcd, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                CountsOnly::new(session, BASE, quantity)
            })
        }),
        of("mutant/barrier-from-now", "a single barrier's watch begins later than what was read (etcd PR #16223)", |seed, traced| {
            wait::run::<Etcd, _>(seed, traced, |session| WatchesFromNow::new(session, &format!("{BASE}/barrier")))
        }),
    ]
}
