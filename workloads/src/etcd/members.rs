//! What the barriers have in common: how they wait for a watch, where the members of a double barrier are, and the key that
//! says that it is open.

use super::entry::Entry;
use super::keys;
use super::session::{Found, Range, Session, SessionError, Txn, Watch, repeat};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{Entered, Seat, Witness};
use crate::removals::Removals;

/// Waits for a watch that is being set, and tells at which revision it fired. A history that was compacted away is no error,
/// and no revision: the caller looks again in any case.
pub(super) async fn wait<W: Watch>(
    watching: impl Future<Output = Result<W, SessionError>>,
    witness: &mut impl Witness,
) -> Result<Option<i64>, SessionError> {
    let mut armed = false;
    let happened = async {
        let watch = watching.await?;
        witness.armed();
        armed = true;
        watch.fired().await
    };
    let outcome = happened.await;
    if armed {
        witness.woken();
    }
    match outcome {
        Ok(revision) => Ok(Some(revision)),
        Err(SessionError::Unknown(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a double barrier's members are, as one of them sees it.
pub(super) struct Members<S: Session> {
    pub session: S,
    /// What all members' keys begin with.
    pub prefix: String,
    /// The own one, under the own lease.
    pub key: String,
    pub ready: Ready,
    pub quantity: u64,
    removals: Removals,
}

impl<S: Session> Members<S> {
    /// Those of the barrier at `base`, with etcd's own keys.
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        let waiters = format!("{base}/waiters");
        Members {
            prefix: keys::prefix(&waiters),
            key: keys::entry(&waiters, session.lease()),
            ready: Ready::new(base),
            quantity: u64::from(quantity),
            removals: Removals::default(),
            session,
        }
    }

    /// Puts the own key, once nothing is left of an earlier attempt; the entry, and its create revision.
    pub async fn join(&self) -> Result<(Entry<S>, i64), RecipeError> {
        self.removals.done().await;
        let mut entry = Entry::new(&self.session, &self.key, &self.removals);
        entry.create(b"").await?;
        // The key is named after the own lease; under another lease it is somebody's forgery.
        let own = entry.own().ok_or_else(|| self.vanished())?;
        Ok((entry, own))
    }

    /// Asks for members.
    pub async fn ask(&self, range: Range<'_>) -> Result<Found, SessionError> {
        Box::pin(repeat(|| self.session.range(range))).await
    }

    /// Counts the members that stood at a revision, `None`: that stand now; and the revision up to which the count is of.
    pub async fn count(&self, at: Option<i64>) -> Result<(u64, i64), SessionError> {
        let count = |at| self.ask(Range::Count { prefix: &self.prefix, at });
        if let Some(at) = at {
            match count(at).await {
                // That history may have been compacted away; if it is for another reason, the next answer is the same.
                Err(SessionError::Refused(_)) => {}
                counted => return Ok((counted?.count, at)),
            }
        }
        let found = count(0).await?;
        Ok((found.count, found.revision))
    }

    /// The entry that follows from a barrier that is open, if the own key still stands: as read through the quorum, after the
    /// last wake-up.
    pub async fn entered(&self, own: i64) -> Result<Entered, RecipeError> {
        let found = self.ask(Range::Key(&self.key)).await?;
        self.session.check()?;
        match found.first {
            Some(key) if key.create_revision == own && key.lease == self.session.lease() => {
                Ok(Entered::Inside(Seat { token: own, rank: own.unsigned_abs() }))
            }
            _ => Err(self.vanished()),
        }
    }

    /// Says that the barrier is open, also where it was said before, as long as the own key stands: a put that is late,
    /// after the member has left, opens nothing.
    pub async fn open(&self, own: i64) -> Result<(), RecipeError> {
        let put = Txn::put_while(&self.key, own, &self.ready.key);
        match Box::pin(repeat(|| self.session.txn(put))).await?.succeeded {
            true => Ok(()),
            false => Err(self.vanished()),
        }
    }

    /// That the own key is gone although the lease lives.
    pub fn vanished(&self) -> RecipeError {
        RecipeError::EntryVanished(self.key.clone())
    }
}

/// The key `<base>/ready` of a double barrier, without a lease: it says that the quantity is there.
pub(super) struct Ready {
    key: String,
}

impl Ready {
    /// That of the barrier at `base`.
    pub fn new(base: &str) -> Self {
        Ready { key: format!("{base}/ready") }
    }

    /// Its name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The key's create revision if it was put after the member of the create revision `own` had come: what was put before is
    /// left over from members that all died inside. And the revision of the answer.
    pub async fn since<S: Session>(&self, session: &S, own: i64) -> Result<(Option<i64>, i64), SessionError> {
        let found = Box::pin(repeat(|| session.range(Range::Key(&self.key)))).await?;
        Ok((found.first.filter(|key| key.mod_revision > own).map(|key| key.create_revision), found.revision))
    }

    /// Whether it is still that instance.
    pub async fn is<S: Session>(&self, session: &S, instance: i64) -> Result<bool, SessionError> {
        let found = Box::pin(repeat(|| session.range(Range::Key(&self.key)))).await?;
        Ok(found.first.is_some_and(|key| key.create_revision == instance))
    }

    /// Deletes that instance, which is a write through the quorum only where it is still there.
    pub async fn delete<S: Session>(&self, session: &S, instance: i64) -> Result<(), SessionError> {
        if self.is(session, instance).await? {
            Box::pin(repeat(|| session.txn(Txn::delete(&self.key, instance)))).await?;
        }
        Ok(())
    }
}
