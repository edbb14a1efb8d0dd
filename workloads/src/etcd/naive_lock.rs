//! `lock/naive`: the lock that herds.
//!
//! One key under a lease is the lock. Whoever creates it holds the lock; everybody else watches it, and on its deletion all
//! of them try to create it again. One release with N waiters costs N notifications, N transactions through the quorum, of
//! which N − 1 find the key there, and N − 1 watches, each to be taken back later.
//!
//! In a settled drain of N workers the k-th release notifies the N − k who still wait: N(N − 1)/2 notifications in all.

use super::entry::{Entry, gone, release};
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use crate::removals::Removals;

/// The naive lock of one worker.
pub struct NaiveLock<S: Session> {
    session: S,
    key: String,
    value: String,
    removals: Removals,
}

impl<S: Session> NaiveLock<S> {
    /// A lock under `base`: the contended key is `<base>/lock`.
    pub fn new(session: S, base: &str) -> Self {
        NaiveLock::on(session, format!("{base}/lock"), String::new())
    }

    /// A lock that is this key, with this value while this worker holds it.
    pub(super) fn on(session: S, key: String, value: String) -> Self {
        NaiveLock { session, key, value, removals: Removals::default() }
    }
}

impl<S: Session> Lock for NaiveLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.removals.done().await;
        let mut entry = Entry::new(&self.session, &self.key, &self.removals);
        let mut enqueued = false;
        loop {
            // The transaction is the check of ownership: it is decided by the quorum, after the last wake-up, and it fails
            // when the lease is gone.
            let outcome = entry.create(self.value.as_bytes()).await?;
            if !enqueued {
                observer.enqueued();
                enqueued = true;
            }
            if let Some(token) = entry.own() {
                self.session.check()?;
                entry.keep();
                return Ok(Grant { token, path: self.key.clone() });
            }
            // A create that is refused finds who is there, in the same transaction.
            let Some(holder) = outcome.found else { continue };
            gone(&self.session, &holder, outcome.revision, observer).await?;
        }
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        release(&self.session, grant).await
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.over().await.into()
    }
}
