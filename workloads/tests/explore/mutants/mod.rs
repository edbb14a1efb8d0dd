//! Recipes that are broken on purpose, each in one way: the exploration must find every one of them.

mod double;
mod naive;
mod queue;

use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Service};
use crate::subject::Subject;
use crate::zookeeper::Zookeeper;
use double::{CountsAgain, CountsOnly};
use naive::{Naive, NaiveFlaw};
use queue::{Flaw, Queue};

/// A mutant of a queue.
macro_rules! queue {
    ($name:literal, $flaw:ident, $mutation:literal) => {
        Subject::mutant(Zookeeper::NAME, $name, $mutation, |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session, _| Queue::new(session, BASE, Flaw::$flaw))
        })
    };
}

/// A mutant of the naive lock.
macro_rules! naive {
    ($name:literal, $flaw:ident, $mutation:literal) => {
        Subject::mutant(Zookeeper::NAME, $name, $mutation, |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session, _| Naive::new(session, BASE, NaiveFlaw::$flaw))
        })
    };
}

/// All of them.
pub fn all() -> Vec<Subject> {
    vec![
        queue!("mutant/trusts-wake-up", TrustsWakeUp, "no second look at the queue after a wake-up"),
        queue!("mutant/exists-watch", WatchesByExists, "exists instead of the data watch"),
        queue!(
            "mutant/waits-blindly",
            WaitsBlindly,
            "the watch is set after the look, and waited for whatever it found"
        ),
        queue!("mutant/creates-again", CreatesAgain, "a create whose reply is lost is repeated"),
        queue!("mutant/stays-in-queue", StaysInQueue, "a waiter that gives up leaves its entry"),
        queue!("mutant/sorts-by-name", SortsByName, "the queue is in the order of its names"),
        queue!("mutant/not-told", IsNotTold, "a suspended connection is no reason to stop"),
        naive!("mutant/any-owner", AnyOwner, "a grant without a look at the owner"),
        naive!(
            "mutant/unlocks-by-name",
            UnlocksByName,
            "a delete whose reply is lost is repeated, whose lock it may be"
        ),
        Subject::mutant(
            Zookeeper::NAME,
            "mutant/counts-again",
            "the count of members instead of `ready`",
            |seed, traced| {
                meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                    CountsAgain::new(session, BASE, quantity)
                })
            },
        ),
        Subject::mutant(
            Zookeeper::NAME,
            "mutant/counts-only",
            "the naive double barrier without `ready`",
            |seed, traced| {
                meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesItsWatch, |session, quantity| {
                    CountsOnly::new(session, BASE, quantity)
                })
            },
        ),
    ]
}

/// What a mutant makes above its own znode, as the recipes do.
async fn make_parents(
    session: &impl workloads::zookeeper::session::Session,
) -> Result<(), workloads::recipe::RecipeError> {
    Ok(workloads::zookeeper::parents::make(session, BASE).await?)
}
