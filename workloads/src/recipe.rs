//! What recipes have in common: the verbs, and what they tell while they run.

pub mod barrier;

use std::future::Future;

/// A grant: the worker holds the lock, or leads.
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

/// Why a grant is over although its holder did not give it back. Whoever is told stops acting on the grant at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// The session is over, and the grant with it.
    #[error("the session is lost: {0}")]
    Session(String),
    /// The connection is down, so that the session may end at any moment without the holder learning of it. The session may
    /// come back: then the grant is to be given back, since the holder has stopped (Curator's default policy).
    #[error("the session is suspended: {0}")]
    Suspended(String),
    /// The grant's znode or key is gone although the session lives: somebody else removed it.
    #[error("the worker's own entry {0} vanished")]
    EntryVanished(String),
    /// A write was refused by the store, which has seen a later grant: the holder stood still for too long.
    #[error("a later grant has written already")]
    Overtaken,
}

/// Is told how an acquisition comes along, at the moment at which it happens.
pub trait Observer: Send {
    /// The worker stands in the queue: its znode or key exists, or (naive) it was refused. Told once per acquisition.
    fn enqueued(&mut self);
    /// A notification woke the worker.
    fn woken(&mut self);
}

/// Mutual exclusion among workers: a lock, or an election, whose leader is its holder.
pub trait Lock: Send + Sync {
    /// Waits until this worker holds the lock, or leads.
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

    /// Resolves when `grant` is over although nobody gave it back, or may be over without this worker learning of it: the
    /// session is lost, or suspended. Never resolves before; dropping it has no effect on the grant.
    ///
    /// The worker is told before the servers give the grant to another, as far as a client can know: not when the worker
    /// itself stood still meanwhile, which is what the token is for.
    fn lost(&self, grant: &Grant) -> impl Future<Output = Loss> + Send;
}
