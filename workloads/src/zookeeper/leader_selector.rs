//! `election/leader-selector`: Apache Curator's LeaderSelector, by which leadership goes round.
//!
//! It is the mutex of [`sequential_lock`](super::sequential_lock), names and all: whoever is granted it takes leadership, and
//! gives it up when done. With `auto_requeue` the leader queues again *before* it lets go. Everybody who was waiting is
//! before it, so N selectors lead in turn, and a selector never is without a place in the queue. Each handoff notifies one
//! candidate: N − 1 notifications in a settled drain.
//!
//! A requeue is not lost to whatever cut leadership short (CURATOR-518, CURATOR-671): the next entry belongs to the selector
//! and not to the call that made it, so that a release which is dropped in the middle, or whose replies are lost, is
//! taken up where it was.

use super::entry::Entry;
use super::names;
use super::sequential_lock::NAME;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The selector of one worker.
pub struct LeaderSelector<S: Session> {
    session: S,
    base: String,
    auto_requeue: bool,
    /// The entry by which this worker leads.
    held: Option<Entry<S>>,
    /// The entry of the next attempt, until an acquire takes it up. Dropped with the selector, it leaves the queue.
    queued: Option<Entry<S>>,
}

impl<S: Session> LeaderSelector<S> {
    /// A selector whose queue is the children of `base`. With `auto_requeue` each release queues the next attempt, which the
    /// next acquire takes up.
    pub fn new(session: S, base: &str, auto_requeue: bool) -> Self {
        LeaderSelector { session, base: base.to_owned(), auto_requeue, held: None, queued: None }
    }

    fn entry(&self) -> Entry<S> {
        Entry::new(&self.session, &self.base, NAME)
    }
}

impl<S: Session> Lock for LeaderSelector<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        // Nobody leads while it waits to: what a release that was cut off has left is removed.
        drop(self.held.take().map(Entry::unkeep));
        let mut entry = self.queued.take().unwrap_or_else(|| self.entry());
        let mut enqueued = false;
        loop {
            let grant = entry.join(b"").await?;
            if !std::mem::replace(&mut enqueued, true) {
                observer.enqueued();
            }
            if entry.until_first(names::position, observer).await? {
                self.held = Some(entry.keep());
                return Ok(grant);
            }
            // Somebody removed the entry. Curator's mutex tries again, with a place at the end.
            entry = self.entry();
        }
    }

    async fn release(&mut self, _: Grant) -> Result<(), RecipeError> {
        let mut requeued = Ok(());
        if self.auto_requeue {
            let next = Entry::new(&self.session, &self.base, NAME);
            // In its place before it is created, so that it is not lost when this call is dropped.
            requeued = self.queued.get_or_insert(next).join(b"").await.map(drop);
        }
        // A requeue that failed is no reason to go on leading: the next acquire tries again.
        if let Some(held) = self.held.take() {
            held.leave().await?;
        }
        requeued
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}
