//! `lock/sequential`: the algorithm of etcd's concurrency.Mutex, the lock that does not herd.
//!
//! The lock is a queue of keys (see `queue`), and whoever is first holds it. In a settled drain of N workers that makes
//! N − 1 notifications in all. Keys are etcd's, so that `etcdctl lock` can stand in the same queue.

use super::entry::release;
use super::queue::Queue;
use super::session::Session;
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The sequential lock of one worker.
pub struct SequentialLock<S: Session> {
    queue: Queue<S>,
}

impl<S: Session> SequentialLock<S> {
    /// A lock whose queue is the keys below `base`.
    pub fn new(session: S, base: &str) -> Self {
        SequentialLock { queue: Queue::new(session, base) }
    }
}

impl<S: Session> Lock for SequentialLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.queue.first(b"", observer).await
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        release(self.queue.session(), grant).await
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.queue.session().over().await.into()
    }
}
