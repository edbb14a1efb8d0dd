//! `election/naive`: the election that herds.
//!
//! Every candidate creates an ephemeral sequential znode, the lowest number leads, and all others watch that one. When the
//! leader goes, all of them are notified and all of them list the children, to find out that one of them leads now: one
//! failover with N candidates left costs N notifications and N answers of O(N) bytes. A candidate that is not the leader
//! may come and go without anybody being told.
//!
//! In a settled drain of N candidates each has watched the leader when it resigns: the k-th resignation notifies the N − k
//! who still wait, and they watch the next leader. That makes (N − 1) + (N − 2) + … + 0 = N(N − 1)/2 notifications in all.

use super::entry::{self, Entry};
use super::names;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The name of a candidate between the protected prefix and the sequence number, as ZooKeeper's own recipe has it
/// (`guid-n_`).
const NAME: &str = "n_";

/// The candidacy of one worker.
pub struct NaiveElection<S: Session> {
    session: S,
    base: String,
}

impl<S: Session> NaiveElection<S> {
    /// An election whose candidates are the children of `base`.
    pub fn new(session: S, base: &str) -> Self {
        NaiveElection { session, base: base.to_owned() }
    }
}

impl<S: Session> Lock for NaiveElection<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut candidate = Entry::new(&self.session, &self.base, NAME);
        let grant = candidate.join(b"").await?;
        observer.enqueued();
        if !candidate.until_first(names::position_by_smallest, observer).await? {
            return Err(RecipeError::EntryVanished(grant.path));
        }
        candidate.keep();
        Ok(grant)
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        Ok(entry::remove(&self.session, &grant.path).await?)
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}
