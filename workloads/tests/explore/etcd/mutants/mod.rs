//! etcd's recipes, broken on purpose, each in one way: the exploration must find every one of them.

mod apart;
mod lying;
mod shared;

use workloads::etcd::{DoubleBarrier, LeaderLatch, NaiveDoubleBarrier, NaiveLock, SequentialLock, SingleBarrier};

use super::Etcd;
use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Service};
use crate::subject::Subject;
use crate::wait;
use apart::Renewed;
use lying::{Lie, Lying};
use shared::SharedLease;

/// A lock on a session that lies.
macro_rules! lock {
    ($lock:ident, $lie:ident) => {
        |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session, _| $lock::new(Lying::new(session, Lie::$lie), BASE))
        }
    };
}

/// The leader latch of clients that renew their leases apart from all else, or do not.
macro_rules! renewed {
    ($apart:literal) => {
        |seed, traced| contend::run::<Renewed<$apart>, _>(seed, traced, |session, _| LeaderLatch::new(session, BASE))
    };
}

/// A double barrier on a session that lies.
macro_rules! double {
    ($barrier:ident) => {
        double!($barrier, |quantity| Lie::OpenByCount(u64::from(quantity)))
    };
    ($barrier:ident, $lie:expr) => {
        |seed, traced| {
            meet::run::<Etcd, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                let lie: fn(u32) -> Lie = $lie;
                $barrier::new(Lying::new(session, lie(quantity)), BASE, quantity)
            })
        }
    };
}

/// What the mutants are made of, without a lie: it must not be for another reason that they are found.
pub fn controls() -> Vec<Subject> {
    let of = |name, run| Subject::new(Etcd::NAME, name, run);
    vec![of("control/queue", lock!(SequentialLock, None)), of("control/renewed", renewed!(false))]
}

/// All of them.
pub fn all() -> Vec<Subject> {
    let of = |name, mutation, run| Subject::mutant(Etcd::NAME, name, mutation, run);
    vec![
        of(
            "mutant/trusts-wake-up",
            "no second look at the queue after a wake-up (microsoft/etcd3 #176)",
            lock!(SequentialLock, NobodyBefore),
        ),
        of(
            "mutant/no-last-look",
            "a grant without a look at the own key (etcd #11456, #9921, #16221)",
            lock!(SequentialLock, StillThere),
        ),
        of(
            "mutant/watches-from-now",
            "a watch that begins later than what was read (etcd PR #16223)",
            lock!(SequentialLock, FromNow),
        ),
        of(
            "mutant/not-told",
            "a holder that is not told of its lease's end (kubernetes #23731)",
            lock!(SequentialLock, NeverOver),
        ),
        of(
            "mutant/waits-on",
            "a waiter that waits on when its lease is over (etcd #19597)",
            lock!(SequentialLock, WaitsOn),
        ),
        of(
            "mutant/stays-in-queue",
            "a waiter that gives up leaves its key (zk-ruby #49)",
            lock!(SequentialLock, KeepsItsPlace),
        ),
        of(
            "mutant/renews-apart",
            "a campaign on a server that has fallen silent, while others confirm the renewals (etcd #14641)",
            renewed!(true),
        ),
        of("mutant/unlocks-by-name", "an unlock that deletes whatever has the name", lock!(NaiveLock, ByName)),
        of("mutant/shared-lease", "workers that share a lease (etcd #10756)", |seed, traced| {
            contend::run::<SharedLease, _>(seed, traced, |session, _| SequentialLock::new(session, BASE))
        }),
        of(
            "mutant/counts-again",
            "after a wake-up, the count of members instead of `ready` (curator #1291)",
            double!(DoubleBarrier),
        ),
        of("mutant/counts-only", "nothing but the count of members (curator #1291)", double!(NaiveDoubleBarrier)),
        of(
            "mutant/counts-late",
            "members are counted as they are by now, not as they were when the last one came",
            double!(NaiveDoubleBarrier, |_| Lie::CountsNow),
        ),
        of(
            "mutant/barrier-from-now",
            "a barrier's watch that begins later than what was read (etcd PR #16223)",
            |seed, traced| {
                wait::run::<Etcd, _>(seed, traced, |session| {
                    SingleBarrier::new(Lying::new(session, Lie::FromNow), &format!("{BASE}/barrier"))
                })
            },
        ),
    ]
}
