//! `control/unlocked`: no lock at all, as a control of those who look for two holders at once.
//!
//! Every worker creates an ephemeral sequential znode, as in the queue of the sequential lock, and takes it for a grant without a look
//! at who else stands there. So there are tokens, releases and all else that is judged, and no mutual exclusion.

use super::entry::{self, Entry};
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// What a ticket is called.
const NAME: &str = "ticket-";

/// The tickets of one worker.
pub struct Unlocked<S: Session> {
    session: S,
    base: String,
}

impl<S: Session> Unlocked<S> {
    /// Tickets that are the children of `base`.
    pub fn new(session: S, base: &str) -> Self {
        Unlocked { session, base: base.to_owned() }
    }
}

impl<S: Session> Lock for Unlocked<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut entry = Entry::new(&self.session, &self.base, NAME);
        let grant = entry.join(b"").await?;
        observer.enqueued();
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
