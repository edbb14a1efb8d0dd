//! A service in memory, as an exploration needs it.
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use workloads::chaos::{Trace, Weather};

/// What is left of a run that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// The znodes or keys that stand, other than those that nobody has to remove.
    pub entries: Vec<String>,
    /// The watches that stand on the servers.
    pub watches: usize,
}

/// A service in memory. Clones are the same one.
pub trait Service: Clone + Send + Sync + 'static {
    /// A worker's session, or client and lease. The last clone closes it.
    type Session: Clone + Send + Sync + 'static;

    /// Its name on the command line.
    const NAME: &str;

    /// How long a session or lease lasts that the servers do not hear of.
    const TIMEOUT: Duration;

    /// Starts it inside of a [run](workloads::chaos::run).
    fn start(seed: u64, weather: Weather, trace: Trace) -> Self;

    /// A new session, once there is one.
    fn open(&self) -> impl Future<Output = Self::Session> + Send;

    /// What the session is called by.
    fn key(session: &Self::Session) -> i64;

    /// By when the client takes the session to be over, and tells its worker, unless it hears from the servers before. Asked
    /// again at any time; does not keep the session open.
    fn deadline(session: &Self::Session) -> Deadline;

    /// The client of the session stands still for so long.
    fn pause(&self, key: i64, length: Duration);

    /// Resolves when it does not stand still.
    fn awake(&self, key: i64) -> impl Future<Output = ()> + Send;

    /// The worker of the session dies, without tidying up.
    fn crash(&self, key: i64);

    /// Whether the session is over for the servers.
    fn is_over(&self, key: i64) -> bool;

    /// What is left below `base` now.
    fn remains(&self, base: &str) -> Remains;
}

/// See [`Service::deadline`].
pub type Deadline = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Where the explored lock or barrier is.
pub const BASE: &str = "/explored/it";
