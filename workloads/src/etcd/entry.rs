//! A worker's own key: the place in the queue, or the lock itself.

use std::pin::Pin;

use super::session::{Awaited, Key, Session, SessionError, Txn, TxnOutcome, Watch, repeat};
use crate::recipe::{Grant, Observer, RecipeError};
use crate::removals::Removals;

type Creating = Pin<Box<dyn Future<Output = Result<TxnOutcome, SessionError>> + Send>>;

/// The key of one attempt. Unless it is [kept](Entry::keep) it is removed in the background when dropped, so that an acquire
/// that fails, times out or is cancelled leaves nothing behind, not even a create whose reply is still under way.
pub(super) struct Entry<S: Session> {
    session: S,
    key: String,
    removals: Removals,
    /// The create that is under way. Kept here, and not in the future that waits for it: requests of one session may
    /// overtake one another in etcd, so that a removal has to carry the create to its end and to know how it ended.
    creating: Option<Creating>,
    /// The create revision, once the key is known to be this session's.
    own: Option<i64>,
}

impl<S: Session> Entry<S> {
    /// An attempt at `key`; nothing is sent yet.
    pub fn new(session: &S, key: &str, removals: &Removals) -> Self {
        Entry { session: session.clone(), key: key.to_owned(), removals: removals.clone(), creating: None, own: None }
    }

    /// Creates the key with this value under the session's lease, or reads it where it exists. A create whose reply was lost is simply
    /// repeated: the key that it made is found and known by its lease.
    pub async fn create(&mut self, value: &[u8]) -> Result<TxnOutcome, SessionError> {
        let (session, key, value) = (self.session.clone(), self.key.clone(), value.to_vec());
        let create = async move { repeat(|| session.txn(Txn::create(&key, &value))).await };
        let outcome = self.creating.insert(Box::pin(create)).await;
        self.creating = None;
        let outcome = outcome?;
        self.own = own(&self.session, &outcome);
        Ok(outcome)
    }

    /// The create revision of the key if it is this session's.
    pub fn own(&self) -> Option<i64> {
        self.own
    }

    /// Removes the key, and only this instance of it.
    ///
    /// # Errors
    ///
    /// [`RecipeError::EntryVanished`] when it was gone or somebody else's already.
    pub async fn remove(&mut self) -> Result<(), RecipeError> {
        let Some(token) = self.own else { return Err(RecipeError::EntryVanished(self.key.clone())) };
        release(&self.session, Grant { token, path: self.key.clone() }).await?;
        self.own = None;
        Ok(())
    }

    /// The grant takes over: release deletes the key from here on.
    pub fn keep(mut self) {
        self.own = None;
    }
}

/// The create revision of the key that a create left, if it is this session's.
fn own<S: Session>(session: &S, outcome: &TxnOutcome) -> Option<i64> {
    if outcome.succeeded {
        return Some(outcome.revision);
    }
    outcome.found.as_ref().filter(|found| found.lease == session.lease()).map(|found| found.create_revision)
}

impl<S: Session> Drop for Entry<S> {
    fn drop(&mut self) {
        let (creating, known) = (self.creating.take(), self.own.take());
        if creating.is_none() && known.is_none() {
            return;
        }
        let (session, key) = (self.session.clone(), std::mem::take(&mut self.key));
        self.removals.begin(async move {
            let created = match creating {
                Some(create) => create.await.ok().and_then(|outcome| own(&session, &outcome)),
                None => known,
            };
            if let Some(revision) = created {
                // An error means that the session is over, and the key with it.
                let _ = repeat(|| session.txn(Txn::delete(&key, revision))).await;
            }
        });
    }
}

/// Waits until this instance of a key, which was there at `revision`, is gone, or may be gone: the caller looks again.
pub(super) async fn gone<S: Session>(
    session: &S,
    found: &Key,
    revision: i64,
    observer: &mut impl Observer,
) -> Result<(), SessionError> {
    let deletion = Awaited::Deletion { key: &found.key, instance: found.create_revision };
    // From just after what was read, so that no deletion is missed.
    let watching = session.watch(deletion, revision + 1);
    let fired = async { watching.await?.fired().await };
    match fired.await {
        Ok(_) => observer.woken(),
        // The history that was asked for is compacted away.
        Err(SessionError::Unknown(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Deletes the key of a grant, and only that: the create revision is compared.
///
/// # Errors
///
/// [`RecipeError::EntryVanished`] when it was gone or somebody else's although nothing that this call sent can have removed
/// it.
pub(super) async fn release<S: Session>(session: &S, grant: Grant) -> Result<(), RecipeError> {
    let mut tries = 0;
    let delete = repeat(|| {
        tries += 1;
        session.txn(Txn::delete(&grant.path, grant.token))
    });
    // In a box: a worker that waits, as most do, is not to hold room for it.
    let outcome = Box::pin(delete).await?;
    // The first of several may have deleted it without an answer.
    if outcome.succeeded || tries > 1 { Ok(()) } else { Err(RecipeError::EntryVanished(grant.path)) }
}
