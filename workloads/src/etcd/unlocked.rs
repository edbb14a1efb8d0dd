//! `control/unlocked`: no lock at all, as a control of those who look for two holders at once.
//!
//! Every worker creates the key of its lease, as in the queue of the sequential lock, and takes it for a grant without a look at who
//! else stands there. So there are tokens, releases and all else that is judged, and no mutual exclusion.

use super::entry::{Entry, release};
use super::keys;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use crate::removals::Removals;

/// The tickets of one worker.
pub struct Unlocked<S: Session> {
    session: S,
    key: String,
    removals: Removals,
}

impl<S: Session> Unlocked<S> {
    /// Tickets that are keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        let key = keys::entry(base, session.lease());
        Unlocked { session, key, removals: Removals::default() }
    }
}

impl<S: Session> Lock for Unlocked<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.removals.done().await;
        let mut entry = Entry::new(&self.session, &self.key, &self.removals);
        entry.create(b"").await?;
        let Some(token) = entry.own() else { return Err(RecipeError::EntryVanished(self.key.clone())) };
        observer.enqueued();
        entry.keep();
        Ok(Grant { token, path: self.key.clone() })
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        release(&self.session, grant).await
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.over().await.into()
    }
}
