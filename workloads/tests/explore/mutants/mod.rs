//! Recipes that are broken on purpose, each in one way: the exploration must find every one of them.

mod double;
mod lying;
mod queue;
mod turns;

use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Service};
use crate::subject::Subject;
use crate::zookeeper::Zookeeper;
use double::Flawed;
use lying::{Lie, Lying};
use queue::{Flaw, Queue};
use turns::{Requeue, Turns};
use workloads::zookeeper::{DoubleBarrier, LeaderSelector, NaiveLock};

/// The queue with a flaw.
macro_rules! queue {
    ($flaw:ident) => {
        |seed, traced| contend::run::<Zookeeper, _>(seed, traced, |session, _| Queue::new(session, BASE, Flaw::$flaw))
    };
}

/// The naive lock on a session that lies.
macro_rules! naive {
    ($lie:ident) => {
        |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session, _| {
                NaiveLock::new(Lying::new(session, Lie::$lie), BASE)
            })
        }
    };
}

/// The double barrier with a flaw, on a session that may lie.
macro_rules! double {
    ($flaw:ident) => {
        double!($flaw, None)
    };
    ($flaw:ident, $lie:ident) => {
        |seed, traced| {
            meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                Flawed::new(Lying::new(session, Lie::$lie), BASE, quantity, double::Flaw::$flaw)
            })
        }
    };
}

/// The leader selector in turns.
macro_rules! turns {
    ($requeue:ident) => {
        |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session, _| {
                Turns::new(LeaderSelector::new(session, BASE, false), Requeue::$requeue)
            })
        }
    };
}

/// What the mutants are made of, without a flaw: it must not be for another reason that they are found.
pub fn controls() -> Vec<Subject> {
    let of = |name, run| Subject::new(Zookeeper::NAME, name, run);
    vec![
        of("control/queue", queue!(None)),
        of("control/naive", naive!(None)),
        of("control/double", double!(None)),
        of("control/turns", turns!(Always)),
        of("control/woken-for-nothing", |seed, traced| {
            meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesNothing, |session, quantity| {
                DoubleBarrier::new(Lying::new(session, Lie::FiresForNothing), BASE, quantity)
            })
        }),
    ]
}

/// All of them.
pub fn all() -> Vec<Subject> {
    let of = |name, mutation, run| Subject::mutant(Zookeeper::NAME, name, mutation, run);
    vec![
        of("mutant/trusts-wake-up", "no second look at the queue after a wake-up", queue!(TrustsWakeUp)),
        of("mutant/exists-watch", "exists instead of the data watch", queue!(WatchesByExists)),
        of(
            "mutant/waits-blindly",
            "the watch is set after the look, and awaited whatever it found",
            queue!(WaitsBlindly),
        ),
        of("mutant/creates-again", "a create whose reply is lost is repeated", queue!(CreatesAgain)),
        of("mutant/stays-in-queue", "a waiter that gives up leaves its entry", queue!(StaysInQueue)),
        of("mutant/sorts-by-name", "the queue is in the order of its names", queue!(SortsByName)),
        of("mutant/not-told", "a suspended connection is no reason to stop", queue!(IsNotTold)),
        of("mutant/any-owner", "a grant without a look at the owner", naive!(AnyOwner)),
        of("mutant/unlocks-by-name", "a delete is repeated, whosever lock it is by then", naive!(StillThere)),
        of("mutant/counts-again", "after a wake-up, the count of members instead of `ready`", double!(CountsAgain)),
        of("mutant/counts-only", "nothing but the count of members", double!(CountsOnly)),
        of(
            "mutant/trusts-any-wake-up",
            "inside after a wake-up, for whatever reason it came (curator #1290)",
            double!(TrustsWakeUp, FiresForNothing),
        ),
        of(
            "mutant/shares-its-watch",
            "a late event of `ready` ends the way out (curator PR #416)",
            double!(SharesItsWatch),
        ),
        of(
            "mutant/resets-at-once",
            "two resets at once after a suspended connection (CURATOR-620)",
            queue!(ResetsAtOnce),
        ),
        of(
            "mutant/loses-its-requeue",
            "no requeue after leadership was interrupted (CURATOR-518, CURATOR-671)",
            turns!(UnlessInterrupted),
        ),
    ]
}

/// What a mutant makes above its own znode, as the recipes do.
async fn make_parents(
    session: &impl workloads::zookeeper::session::Session,
) -> Result<(), workloads::recipe::RecipeError> {
    Ok(workloads::zookeeper::parents::make(session, BASE).await?)
}
