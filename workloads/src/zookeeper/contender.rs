//! Any of the locks and elections on ZooKeeper, chosen by its name.

use super::session::Session;
use super::{LeaderLatch, LeaderSelector, NaiveElection, NaiveLock, SequentialLock, Unlocked};
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use crate::settings::Recipe;

/// A worker's lock or election.
pub enum Contender<S: Session> {
    /// `lock/naive`.
    NaiveLock(NaiveLock<S>),
    /// `lock/sequential`.
    SequentialLock(SequentialLock<S>),
    /// `election/naive`.
    NaiveElection(NaiveElection<S>),
    /// `election/leader-latch`.
    LeaderLatch(LeaderLatch<S>),
    /// `election/leader-selector`.
    LeaderSelector(LeaderSelector<S>),
    /// `control/unlocked`.
    Unlocked(Unlocked<S>),
}

impl<S: Session> Contender<S> {
    /// The recipe at `base` over a worker's session; `None` for a recipe that nobody contends in. With `auto_requeue` a
    /// leader selector queues its next attempt before it releases; the other recipes pay no heed to it.
    pub fn new(recipe: Recipe, session: S, base: &str, auto_requeue: bool) -> Option<Self> {
        Some(match recipe {
            Recipe::NaiveLock => Contender::NaiveLock(NaiveLock::new(session, base)),
            Recipe::SequentialLock => Contender::SequentialLock(SequentialLock::new(session, base)),
            Recipe::NaiveElection => Contender::NaiveElection(NaiveElection::new(session, base)),
            Recipe::LeaderLatch => {
                let id = format!("{:#x}", session.id());
                Contender::LeaderLatch(LeaderLatch::new(session, base, &id))
            }
            Recipe::LeaderSelector => Contender::LeaderSelector(LeaderSelector::new(session, base, auto_requeue)),
            Recipe::Unlocked => Contender::Unlocked(Unlocked::new(session, base)),
            Recipe::SingleBarrier | Recipe::DoubleBarrier | Recipe::NaiveDoubleBarrier | Recipe::IdleSession => {
                return None;
            }
        })
    }
}

/// Hands a call on to the recipe that it is.
macro_rules! each {
    ($contender:expr, $it:ident => $call:expr) => {
        match $contender {
            Contender::NaiveLock($it) => $call,
            Contender::SequentialLock($it) => $call,
            Contender::NaiveElection($it) => $call,
            Contender::LeaderLatch($it) => $call,
            Contender::LeaderSelector($it) => $call,
            Contender::Unlocked($it) => $call,
        }
    };
}

impl<S: Session> Lock for Contender<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        each!(self, recipe => recipe.acquire(observer).await)
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        each!(self, recipe => recipe.release(grant).await)
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        each!(self, recipe => recipe.lost(grant).await)
    }
}
