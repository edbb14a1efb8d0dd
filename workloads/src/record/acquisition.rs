//! One attempt of one worker to get one lock, from the moment it was due to the moment it was over.

use serde::{Deserialize, Serialize};

/// How an acquisition had ended when the books were closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Granted and released.
    Released,
    /// Granted, and still held when the trial ended: it has no release, and so no fan-out and no handoff.
    Held,
    /// Still waiting when the trial ended.
    Waiting,
    /// Granted, and over although nobody released it: the holder was told, and stopped.
    Lost,
    /// The worker's session was closed on purpose, with whatever it held or waited for.
    Closed,
    /// The worker died on purpose, with whatever it held or waited for: its session is left to expire.
    Crashed,
    /// Ended by an error (a lost session, most often) before or after the grant.
    Failed,
}

/// One attempt to get a lock. Times are nanoseconds since the start of the trial on one monotonic clock that all
/// workers share; 0 where the stage was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquisition {
    /// The worker, counted from 0.
    pub worker: u32,
    /// The lock, counted from 0.
    pub resource: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Notifications that woke this worker while it waited.
    pub wakeups: u32,
    /// Fencing token: ZooKeeper's czxid of the grant's znode, etcd's create revision of its key. 0 without a grant.
    pub token: i64,
    /// The moment at which it was due: in an open loop the arrival, otherwise the call.
    pub due: u64,
    /// Acquire was called.
    pub called: u64,
    /// The worker stands in the queue: its own znode or key exists, or (naive) it was refused for the first time.
    pub enqueued: u64,
    /// The last notification before the grant; 0 when it never had to wait.
    pub woken: u64,
    /// The grant.
    pub granted: u64,
    /// The release was sent.
    pub release_sent: u64,
    /// The release was answered.
    pub released: u64,
    /// From here on the worker did not act on the grant any more: it sent the release, was told of the loss, or died. 0
    /// while it held.
    pub over: u64,
    /// Writes under this grant that a fenced store refused, because a later grant had written before.
    pub stale_writes: u32,
    /// Whether a fault stopped the worker or cut it off while it held: whoever asked for that asked for what may come of it.
    pub struck: bool,
}

impl Acquisition {
    /// An acquisition that has just been called.
    pub fn called(worker: u32, resource: u32, due: u64, called: u64) -> Self {
        Acquisition {
            worker,
            resource,
            outcome: Outcome::Waiting,
            wakeups: 0,
            token: 0,
            due,
            called,
            enqueued: 0,
            woken: 0,
            granted: 0,
            release_sent: 0,
            released: 0,
            over: 0,
            stale_writes: 0,
            struck: false,
        }
    }

    /// Whether it was granted, whatever became of it afterwards.
    pub fn is_granted(&self) -> bool {
        self.granted != 0
    }
}
