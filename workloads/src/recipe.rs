//! What recipes have in common: the verbs, and what they tell while they run.

use std::future::Future;

/// A grant: the worker holds the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Fencing token, rising from grant to grant of one lock. ZooKeeper: the czxid of the grant's znode;
    /// etcd: the create revision of its key.
    pub token: i64,
    /// The znode or key that stands for the grant.
    pub path: String,
}

/// Why a recipe could not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// The session is over, and with it the place in the queue and any grant.
    #[error("the session is lost: {0}")]
    SessionLost(String),
    /// The worker's own place in the queue vanished although its session lives: somebody else removed it.
    #[error("the worker's own entry {0} vanished from the queue")]
    EntryVanished(String),
    /// The service answered something that the recipe cannot handle.
    #[error("{0}")]
    Service(String),
}

/// Is told how an acquisition comes along, at the moment at which it happens.
pub trait Observer: Send {
    /// The worker stands in the queue: its znode or key exists, or (naive) it was refused. Told once per acquisition.
    fn enqueued(&mut self);
    /// A notification woke the worker.
    fn woken(&mut self);
}

/// Mutual exclusion among workers.
pub trait Lock: Send {
    /// Waits until this worker holds the lock.
    ///
    /// A grant is reported only after a check of ownership that follows the last wake-up. Dropping the future, as a
    /// time-out does, removes the worker from the queue.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]; never a grant on a session that was lost while waiting.
    fn acquire(&mut self, observer: &mut impl Observer) -> impl Future<Output = Result<Grant, RecipeError>> + Send;

    /// Gives the lock back. A reply that is lost is resolved by looking, so that the lock of somebody else is never released.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]; the grant is over in any case: with the session if not before.
    fn release(&mut self, grant: Grant) -> impl Future<Output = Result<(), RecipeError>> + Send;
}
