//! `election/leader-selector`: campaigns, leads, resigns, and campaigns again.
//!
//! The turns of Curator's LeaderSelector on etcd's election (see [`election`](super::election)). Curator's autoRequeue queues
//! the next attempt before it gives the leadership back; here a key is named after its lease, and a queue holds one of each,
//! so that a selector queues again after it has resigned. Leadership goes round all the same: at that moment everybody else
//! stands in the queue already, and whoever comes back comes last. What it costs is the moment in between, in which this
//! candidate stands nowhere; where all others have died, nobody leads for that long.

use super::leader_latch::LeaderLatch;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The selector of one candidate: a latch for each turn.
pub struct LeaderSelector<S: Session> {
    turn: LeaderLatch<S>,
}

impl<S: Session> LeaderSelector<S> {
    /// A selector whose candidates are the keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        LeaderSelector { turn: LeaderLatch::new(session, base) }
    }
}

impl<S: Session> Lock for LeaderSelector<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.turn.acquire(observer).await
    }

    /// Resigns.
    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        self.turn.release(grant).await
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        self.turn.lost(grant).await
    }
}
