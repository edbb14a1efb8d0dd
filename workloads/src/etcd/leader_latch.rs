//! `election/leader-latch`: campaigns, and leads until it is closed or lost.
//!
//! etcd has no latch of its own; this is its election (see [`election`](super::election)) with the verbs of Curator's
//! LeaderLatch. A leader's death notifies one candidate, and that one leads.

use super::election::Election;
use super::keys;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The latch of one candidate. It stands for its lease's name, in hexadecimal.
pub struct LeaderLatch<S: Session> {
    election: Election<S>,
    candidate: String,
}

impl<S: Session> LeaderLatch<S> {
    /// A latch whose candidates are the keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        let candidate = keys::name(session.lease());
        LeaderLatch { election: Election::new(session, base), candidate }
    }

    /// The election, to listen to it.
    pub fn election(&self) -> &Election<S> {
        &self.election
    }
}

impl<S: Session> Lock for LeaderLatch<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.election.campaign(self.candidate.as_bytes(), observer).await
    }

    /// Closes the latch. It may campaign again, at the end of the queue, as a new latch does.
    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        self.election.resign(grant).await
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.election.lost().await
    }
}
