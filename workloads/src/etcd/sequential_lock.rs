//! `lock/sequential`: the algorithm of etcd's concurrency.Mutex, the lock that does not herd.
//!
//! Every contender puts a key under the lock's prefix, named after its lease; the lowest create revision holds the lock, and
//! each other waits for the newest key below its own. One release notifies one waiter, which asks for the next below: one
//! notification and two range requests of O(1) bytes (and O(N) work at the server, which sorts the prefix). In a settled
//! drain of N workers that makes N − 1 notifications in all.
//!
//! Two things differ from etcd's own: the watch begins just after the revision that was read, not at it, and the grant
//! follows a last read that proves the own key still there with the own create revision. Keys are etcd's, so that
//! `etcdctl lock` can stand in the same queue.

use super::entry::{Entry, release};
use super::keys;
use super::session::{Range, Session, SessionError, Watch, repeat};
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use crate::removals::Removals;

/// The sequential lock of one worker.
pub struct SequentialLock<S: Session> {
    session: S,
    prefix: String,
    key: String,
    removals: Removals,
}

impl<S: Session> SequentialLock<S> {
    /// A lock whose queue is the keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        let key = keys::entry(base, session.lease());
        SequentialLock { session, prefix: keys::prefix(base), key, removals: Removals::default() }
    }

    /// Waits until no key with a create revision below `own` is left.
    async fn wait(&self, own: i64, observer: &mut impl Observer) -> Result<(), SessionError> {
        loop {
            let range = Range::NewestBelow { prefix: &self.prefix, own };
            let found = Box::pin(repeat(|| self.session.range(range))).await?;
            let Some(predecessor) = found.first else { return Ok(()) };
            let watching =
                self.session.watch_deletion(&predecessor.key, predecessor.create_revision, found.revision + 1);
            let deleted = async { watching.await?.deleted().await };
            match deleted.await {
                // It may have been a middle waiter that died: look who is before this one now.
                Ok(()) => observer.woken(),
                // The history that was asked for is gone: look again.
                Err(SessionError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<S: Session> Lock for SequentialLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.removals.done().await;
        let mut entry = Entry::new(&self.session, &self.key, &self.removals);
        entry.create().await?;
        // The key is named after the own lease; under another lease it is somebody's forgery.
        let Some(token) = entry.own() else { return Err(RecipeError::EntryVanished(self.key.clone())) };
        observer.enqueued();
        self.wait(token, observer).await?;
        let found = Box::pin(repeat(|| self.session.range(Range::Key(&self.key)))).await?;
        match found.first {
            Some(own) if own.create_revision == token && own.lease == self.session.lease() => {
                self.session.check()?;
                entry.keep();
                Ok(Grant { token, path: self.key.clone() })
            }
            // The lease ran out while this one waited, or somebody removed the key: never a grant.
            _ => Err(RecipeError::EntryVanished(self.key.clone())),
        }
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        // In a box: a worker that waits, as most do, is not to hold room for it.
        match Box::pin(release(&self.session, &grant.path, grant.token)).await? {
            true => Ok(()),
            false => Err(RecipeError::EntryVanished(grant.path)),
        }
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.over().await.into()
    }
}
