//! `election/leader-latch`: Apache Curator's LeaderLatch, by which a leader leads until it closes or is lost.
//!
//! Participants queue as in the mutex, under names of their own (`latch-`) and with their id as the znode's data; each
//! watches the one just before its own. What a latch adds:
//!
//! - Being first is not enough: a participant leads only when the znode is its own session's, not one that an earlier
//!   session left behind and that goes at any moment (CURATOR-696).
//! - A participant that does not find its znode, or finds that it is not its own, *resets*: it joins anew, at the end.
//!   Resets cannot overtake each other (CURATOR-620): a latch is one owner's, and acquires one at a time.
//! - A predecessor that is gone, whether found by a notification or by a read, leads to a new list and never to a reset: two
//!   latches that did that went round for ever (CURATOR-644, CURATOR-645).
//! - A suspended connection ends leadership, though not the znode. The next acquire looks whether it still stands, and leads
//!   with the same token if so.
//!
//! The end of a leader notifies one participant: N − 1 notifications in a settled drain of N.

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::entry::Entry;
use super::names;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The name of a participant between the protected prefix and the sequence number, as Curator has it.
const NAME: &str = "latch-";

/// What [`LeaderLatch::close`] tells those who watch the latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseMode {
    /// They are not woken, and see that leadership is over when they look. What a release does.
    Silent,
    /// They are woken, if the latch leads.
    NotifyLeader,
}

/// The latch of one participant.
pub struct LeaderLatch<S: Session> {
    session: S,
    base: String,
    id: String,
    /// The znode by which this participant leads, or led until its connection was suspended.
    entry: Option<Entry<S>>,
    leadership: watch::Sender<Option<Grant>>,
    /// While leading: ends leadership when the connection does, for those who watch. Ends with the latch.
    guard: JoinSet<()>,
}

impl<S: Session> LeaderLatch<S> {
    /// A latch whose participants are the children of `base`. `id` tells others who this one is: it is the data of its znode.
    pub fn new(session: S, base: &str, id: &str) -> Self {
        LeaderLatch {
            session,
            base: base.to_owned(),
            id: id.to_owned(),
            entry: None,
            leadership: watch::Sender::new(None),
            guard: JoinSet::new(),
        }
    }

    /// The grant while this participant leads, to be read and waited for. It is over when the connection is suspended or
    /// the session lost, before the servers let another lead, and when the latch is closed.
    pub fn leadership(&self) -> watch::Receiver<Option<Grant>> {
        self.leadership.subscribe()
    }

    /// Leaves the queue, and leadership with it. The latch may acquire again, as a participant who has just come. Dropping a
    /// latch that leads leaves its znode to the session.
    ///
    /// # Errors
    ///
    /// [`RecipeError`] when the znode could not be deleted. Leadership is over in any case, and was before the znode went.
    pub async fn close(&mut self, mode: CloseMode) -> Result<(), RecipeError> {
        self.guard.shutdown().await;
        self.leadership.send_if_modified(|leadership| leadership.take().is_some() && mode == CloseMode::NotifyLeader);
        match self.entry.take() {
            Some(entry) => Ok(entry.leave().await?),
            None => Ok(()),
        }
    }

    fn entry(&self) -> Entry<S> {
        Entry::new(&self.session, &self.base, NAME)
    }

    /// Leads, until told otherwise.
    fn lead(&mut self, entry: Entry<S>, grant: Grant) {
        self.entry = Some(entry.keep());
        self.leadership.send_replace(Some(grant));
        let (session, leadership) = (self.session.clone(), self.leadership.clone());
        self.guard.spawn(async move {
            session.broken().await;
            leadership.send_replace(None);
        });
    }
}

impl<S: Session> Lock for LeaderLatch<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.guard.shutdown().await;
        self.leadership.send_if_modified(|leadership| leadership.take().is_some());
        let mut entry = self.entry.take().map_or_else(|| self.entry(), Entry::unkeep);
        let mut enqueued = false;
        loop {
            let grant = entry.join(self.id.as_bytes()).await?;
            if !std::mem::replace(&mut enqueued, true) {
                observer.enqueued();
            }
            if entry.until_first(names::position, observer).await? && entry.is_own().await? {
                self.lead(entry, grant.clone());
                return Ok(grant);
            }
            // A reset. What stands under the name of the old entry, if anything does, is another session's.
            entry.leave().await?;
            entry = self.entry();
        }
    }

    async fn release(&mut self, _: Grant) -> Result<(), RecipeError> {
        self.close(CloseMode::Silent).await
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}
