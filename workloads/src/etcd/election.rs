//! etcd's election (concurrency.Election): campaign, proclaim, resign, leader, observe.
//!
//! Candidates stand in a queue of keys (see `queue`), and the first leads: a leader's death wakes the next candidate alone.
//! The value of a candidate's key is what it proposes. Keys are etcd's, so that `etcdctl elect` can stand in the same queue
//! and listen to it. What differs from etcd's own Campaign is told at `queue`; what differs from its Observe, here:
//!
//! - nobody leading is told as well, where etcd's waits silently for the next leader;
//! - no change is left out, however fast one follows another: after each event the election is read as it was at that
//!   event's revision, not as it is by now. Only where the history was compacted away meanwhile is that not to be had.

use super::entry::release;
use super::queue::Queue;
use super::session::{Awaited, Found, Key, Range, Session, SessionError, Watch, repeat};
use crate::recipe::{Grant, Loss, Observer, RecipeError};

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// The leader's key.
    pub key: String,
    /// The leadership's fencing token: the create revision of the key.
    pub token: i64,
    /// What the leader proclaims.
    pub value: Vec<u8>,
}

impl From<Key> for Leader {
    fn from(key: Key) -> Self {
        Leader { key: key.key, token: key.create_revision, value: key.value }
    }
}

/// The election of one candidate.
pub struct Election<S: Session> {
    queue: Queue<S>,
}

impl<S: Session> Election<S> {
    /// An election whose candidates are the keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        Election { queue: Queue::new(session, base) }
    }

    /// Proposes `value` and waits until this session leads. One that leads already keeps the leadership, and proclaims
    /// `value`. Dropping the future takes the candidacy back.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]; never a leadership on a session that was lost while waiting.
    pub async fn campaign(&mut self, value: &[u8], observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.queue.first(value, observer).await
    }

    /// As the leader, proclaims another value.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]: [`RecipeError::EntryVanished`] when this leadership is over, also where the same session leads again.
    pub async fn proclaim(&self, leadership: &Grant, value: &[u8]) -> Result<(), RecipeError> {
        self.queue.update(leadership.token, value).await
    }

    /// Gives the leadership back.
    ///
    /// # Errors
    ///
    /// As [`Election::proclaim`]; it is over in any case: with the session if not before.
    pub async fn resign(&mut self, leadership: Grant) -> Result<(), RecipeError> {
        release(self.queue.session(), leadership).await
    }

    /// Resolves when the leadership is over although nobody gave it back: with the session, before the servers let another
    /// lead.
    pub async fn lost(&self) -> Loss {
        self.queue.session().over().await.into()
    }

    /// Who leads now, if anybody does.
    ///
    /// # Errors
    ///
    /// [`RecipeError`].
    pub async fn leader(&self) -> Result<Option<Leader>, RecipeError> {
        Ok(oldest(self.queue.session(), self.queue.prefix(), 0).await?.first.map(Leader::from))
    }

    /// Listens to who leads, from now on.
    pub fn observe(&self) -> Observation<S> {
        let (session, prefix) = (self.queue.session().clone(), self.queue.prefix().to_owned());
        Observation { session, prefix, seen: None }
    }
}

/// The candidate that stands longest, at this revision or (0) now.
async fn oldest<S: Session>(session: &S, prefix: &str, at: i64) -> Result<Found, SessionError> {
    repeat(|| session.range(Range::Oldest { prefix, at })).await
}

/// An election as it is listened to.
pub struct Observation<S: Session> {
    session: S,
    prefix: String,
    /// What was told last, and the revision that it is of.
    seen: Option<(Option<Leader>, i64)>,
}

impl<S: Session> Observation<S> {
    /// The next thing that there is to tell; at first, how things stand: who leads, also when it is the same leader with
    /// another value, or `None` when nobody does. A call that is dropped before it is done loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecipeError`].
    pub async fn next(&mut self) -> Result<Option<Leader>, RecipeError> {
        loop {
            let at = match &self.seen {
                None => 0,
                Some((leader, revision)) => self.change(leader.as_ref(), *revision).await?,
            };
            let (leader, revision) = self.read(at).await?;
            let is_news = self.seen.as_ref().is_none_or(|(before, _)| *before != leader);
            self.seen = Some((leader.clone(), revision));
            if is_news {
                return Ok(leader);
            }
        }
    }

    /// Waits until things stand otherwise than at `revision`, when `leader` led. The revision at which they do, or 0 where the
    /// history to watch was compacted away. Candidates behind a leader change nothing and are not watched.
    async fn change(&self, leader: Option<&Leader>, revision: i64) -> Result<i64, SessionError> {
        let awaited = match leader {
            Some(leader) => Awaited::Change { key: &leader.key, instance: leader.token },
            None => Awaited::Put { prefix: &self.prefix },
        };
        let watching = self.session.watch(awaited, revision + 1);
        match async { watching.await?.fired().await }.await {
            Err(SessionError::Unknown(_)) => Ok(0),
            outcome => outcome,
        }
    }

    /// Who leads at this revision or, at 0 and where the history was compacted away, now; and the revision that it is of.
    async fn read(&self, at: i64) -> Result<(Option<Leader>, i64), SessionError> {
        let (found, revision) = match oldest(&self.session, &self.prefix, at).await {
            Err(SessionError::Refused(_)) if at != 0 => (oldest(&self.session, &self.prefix, 0).await?, 0),
            found => (found?, at),
        };
        Ok((found.first.map(Leader::from), if revision == 0 { found.revision } else { revision }))
    }
}
