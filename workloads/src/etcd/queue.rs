//! A queue of keys, which the sequential lock and the elections share.
//!
//! Everybody puts a key under the queue's prefix, named after its lease; the lowest create revision is first, and each other
//! waits for the newest key below its own. When the first one's key goes, one waiter is notified, which asks for the next
//! below: one notification and two range requests of O(1) bytes (and O(N) work at the server, which sorts the prefix).
//!
//! Two things differ from etcd's own: the watch begins just after the revision that was read, not at it, and to be first
//! takes a last read that proves the own key still there with the own create revision, which etcd's Mutex learned late and
//! its Campaign never did.

use super::entry::{Entry, gone};
use super::keys;
use super::session::{Range, Session, SessionError, Txn, repeat};
use crate::recipe::{Grant, Observer, RecipeError};
use crate::removals::Removals;

/// The place of one session in a queue.
pub(super) struct Queue<S: Session> {
    session: S,
    prefix: String,
    key: String,
    removals: Removals,
}

impl<S: Session> Queue<S> {
    /// A place in the queue of the keys below `base`; nobody stands there yet.
    pub fn new(session: S, base: &str) -> Self {
        let key = keys::entry(base, session.lease());
        Queue { session, prefix: keys::prefix(base), key, removals: Removals::default() }
    }

    pub fn session(&self) -> &S {
        &self.session
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Queues with this value and waits until the own key is the first. A session that stands there already keeps its place,
    /// and its key takes the value on.
    pub async fn first(&self, value: &[u8], observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.removals.done().await;
        let mut entry = Entry::new(&self.session, &self.key, &self.removals);
        let created = entry.create(value).await?;
        // The key is named after the own lease; under another lease it is somebody's forgery.
        let Some(token) = entry.own() else { return Err(self.vanished()) };
        if created.found.is_some_and(|found| found.value != value) {
            self.update(token, value).await?;
        }
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
            _ => Err(self.vanished()),
        }
    }

    /// Puts another value at the own key, if it is still this instance.
    pub async fn update(&self, own: i64, value: &[u8]) -> Result<(), RecipeError> {
        let outcome = Box::pin(repeat(|| self.session.txn(Txn::update(&self.key, own, value)))).await?;
        if outcome.succeeded { Ok(()) } else { Err(self.vanished()) }
    }

    /// Waits until no key with a create revision below `own` is left.
    async fn wait(&self, own: i64, observer: &mut impl Observer) -> Result<(), SessionError> {
        loop {
            let range = Range::NewestBelow { prefix: &self.prefix, own };
            let found = Box::pin(repeat(|| self.session.range(range))).await?;
            let Some(predecessor) = found.first else { return Ok(()) };
            // When it goes it may have been a middle waiter that died: look who is before this one then.
            gone(&self.session, &predecessor, found.revision, observer).await?;
        }
    }

    fn vanished(&self) -> RecipeError {
        RecipeError::EntryVanished(self.key.clone())
    }
}
