//! `election/naive`: the election that herds.
//!
//! One key under a lease names the leader. Whoever creates it leads; all followers watch it, and on its deletion all of them
//! try to create it again: it is the naive lock under another name, and costs the same. A leader's death among N candidates
//! notifies N − 1, of whom one leads.

use super::keys;
use super::naive_lock::NaiveLock;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The naive election of one candidate.
pub struct NaiveElection<S: Session> {
    leader_key: NaiveLock<S>,
}

impl<S: Session> NaiveElection<S> {
    /// An election under `base`: the contended key is `<base>/leader`. Its value is the leader's lease in hexadecimal.
    pub fn new(session: S, base: &str) -> Self {
        let candidate = keys::name(session.lease());
        NaiveElection { leader_key: NaiveLock::on(session, format!("{base}/leader"), candidate) }
    }
}

impl<S: Session> Lock for NaiveElection<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.leader_key.acquire(observer).await
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        self.leader_key.release(grant).await
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        self.leader_key.lost(grant).await
    }
}
