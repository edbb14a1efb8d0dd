//! `lock/sequential`: Apache Curator's InterProcessMutex, the lock that does not herd.
//!
//! Every contender creates an ephemeral sequential znode under the lock's own; the lowest number holds the lock, and each
//! other watches the one just before its own. One release notifies one waiter, which lists the children again: one
//! notification and one answer of O(N) bytes. In a settled drain of N workers that makes N − 1 notifications in all.
//!
//! Layout and names are Curator's, so that a Java client can stand in the same queue.

use super::entry::{self, Entry};
use super::names;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The name of a queue entry between the protected prefix and the sequence number, as Curator has it.
pub(super) const NAME: &str = "lock-";

/// The sequential lock of one worker.
pub struct SequentialLock<S: Session> {
    session: S,
    base: String,
}

impl<S: Session> SequentialLock<S> {
    /// A lock whose queue is the children of `base`.
    pub fn new(session: S, base: &str) -> Self {
        SequentialLock { session, base: base.to_owned() }
    }
}

impl<S: Session> Lock for SequentialLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut entry = Entry::new(&self.session, &self.base, NAME);
        let grant = entry.join(b"").await?;
        observer.enqueued();
        if !entry.until_first(names::position, observer).await? {
            return Err(RecipeError::EntryVanished(grant.path));
        }
        entry.keep();
        Ok(grant)
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        Ok(entry::remove(&self.session, &grant.path).await?)
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}
