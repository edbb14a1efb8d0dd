//! What a recipe may ask of etcd: transactions, ranges, watches, all under one lease.
//!
//! Recipes are written against [`Session`], not against a client library, so that the same recipe runs on a real ensemble
//! and on one in memory. [`Client`] is the real session, over a [`Connection`]. All that goes through it is counted at a
//! [`Tap`]: not in a wrapper around the session, since much of it (keep-alives, events on a watch that is being taken back,
//! watches made again after a broken stream) is the session's own doing and would pass a wrapper by.
//!
//! | module | what it is |
//! |---|---|
//! | [`mod@line`] | what the session needs of its way to the servers |
//! | `connection` | one HTTP/2 connection at a time to one of the servers, and to the next one when that fails |
//! | `http2` | the HTTP/2 connection itself, lean enough for a thousand of them |
//! | `token` | the token that stands for a user |
//! | `grpc` | the session's requests as etcd's own |
//! | `lease` | the lease: kept alive, its ttl checked, given up before the servers do |
//! | `watches` | all watches of the session on one stream, made again where it breaks |
//! | `client` | the session made of the three |
//! | [`tap`] | what is counted |
//! | `wire` | how many bytes a response takes |

mod client;
mod connection;
mod grpc;
mod http2;
mod lease;
pub mod line;
pub mod tap;
mod token;
mod watches;
mod wire;

use std::future::Future;
use std::time::Duration;

pub use client::Client;
pub use connection::Connection;
pub use lease::Deadline;
pub use tap::{Tap, Untapped};
pub use watches::ClientWatch;

/// Why an operation did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The session is over: its lease expired, was revoked, or could not be renewed in time. Nothing under it will succeed.
    #[error("the lease is lost: {0}")]
    Lost(String),
    /// No answer came, or one that leaves open what happened: the operation may or may not have been carried out.
    #[error("the outcome is unknown: {0}")]
    Unknown(String),
    /// The server refused.
    #[error("the server refused: {0}")]
    Refused(String),
}

/// The part of a key's state that recipes need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key. etcd's are bytes; those of our queues are text.
    pub key: String,
    /// The revision that created it: identifies this instance of it, and is a grant's fencing token.
    pub create_revision: i64,
    /// The revision that put it last.
    pub mod_revision: i64,
    /// The lease that it lives under, 0 for none.
    pub lease: i64,
    /// The value.
    pub value: Vec<u8>,
}

/// A transaction on one key, guarded by its create revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Txn<'a> {
    /// The key.
    pub key: &'a str,
    /// The create revision that it must have; 0: it must not exist.
    pub create_revision: i64,
    /// What happens then.
    pub then: Then<'a>,
}

/// What a transaction does when its guard holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then<'a> {
    /// Puts this value under the session's lease; where the guard does not hold, the key is read instead.
    Put(&'a [u8]),
    /// Puts an empty value at another key, or at the same one, without a lease: it stays until it is deleted.
    PutLasting(&'a str),
    /// Deletes the key.
    Delete,
}

impl<'a> Txn<'a> {
    /// Puts the key under the session's lease if it does not exist, and reads it if it does.
    pub fn create(key: &'a str, value: &'a [u8]) -> Self {
        Txn { key, create_revision: 0, then: Then::Put(value) }
    }

    /// Puts another value, under the session's lease, if the key is still this instance.
    pub fn update(key: &'a str, create_revision: i64, value: &'a [u8]) -> Self {
        Txn { key, create_revision, then: Then::Put(value) }
    }

    /// Puts `lasting` without a lease while `key` is still this instance, 0: while it does not exist.
    pub fn put_while(key: &'a str, create_revision: i64, lasting: &'a str) -> Self {
        Txn { key, create_revision, then: Then::PutLasting(lasting) }
    }

    /// Deletes the key if it is still this instance.
    pub fn delete(key: &'a str, create_revision: i64) -> Self {
        Txn { key, create_revision, then: Then::Delete }
    }
}

/// How a transaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnOutcome {
    /// Whether the guard held.
    pub succeeded: bool,
    /// The store's revision after it: of a create that succeeded, the create revision.
    pub revision: i64,
    /// Of a put whose guard did not hold: the key as it is.
    pub found: Option<Key>,
}

/// What a range request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range<'a> {
    /// One key.
    Key(&'a str),
    /// Of the keys with this prefix whose create revision is below `own`, the newest.
    NewestBelow {
        /// What the keys begin with.
        prefix: &'a str,
        /// Create revisions from here on are not looked at.
        own: i64,
    },
    /// Of the keys with this prefix, the one with the lowest create revision.
    Oldest {
        /// What the keys begin with.
        prefix: &'a str,
        /// The revision of the store to look at; 0: as it is now. Refused where the history was compacted away.
        at: i64,
    },
    /// How many keys have this prefix, and none of them: an answer of O(1) bytes.
    Count {
        /// What the keys begin with.
        prefix: &'a str,
        /// The revision of the store to look at; 0: as it is now. Refused where the history was compacted away.
        at: i64,
    },
}

/// The answer to a range request, linearizable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The key, if there is one.
    pub first: Option<Key>,
    /// How many keys have that name or prefix, whatever their create revisions.
    pub count: u64,
    /// The store's revision that the answer is of.
    pub revision: i64,
}

/// What a watch waits for. It fires once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited<'a> {
    /// The deletion of one instance of a key.
    Deletion {
        /// The key.
        key: &'a str,
        /// Its create revision.
        instance: i64,
    },
    /// Whatever happens to one instance of a key: another value, or its deletion.
    Change {
        /// The key.
        key: &'a str,
        /// Its create revision.
        instance: i64,
    },
    /// A value for any key with this prefix.
    Put {
        /// What the keys begin with.
        prefix: &'a str,
    },
    /// The deletion of any key with this prefix.
    AnyDeletion {
        /// What the keys begin with.
        prefix: &'a str,
    },
}

/// A watch, which stands on the server.
pub trait Watch: Send + 'static {
    /// Resolves when what it waits for happens, with the revision at which it does. Dropping the watch or this future takes
    /// the watch back.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] as soon as the lease is; [`SessionError::Unknown`] when the history to watch was compacted
    /// away. A broken connection is no error: the watch is made again from where it was.
    fn fired(self) -> impl Future<Output = Result<i64, SessionError>> + Send;
}

/// One client with its lease, never shared by two workers. Clones are the same session; the lease is revoked when the last
/// is dropped.
pub trait Session: Clone + Send + Sync + 'static {
    /// The watches that this session sets.
    type Watch: Watch;

    /// The lease.
    fn lease(&self) -> i64;

    /// Whether the session knows its lease to be over; asks nobody.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`].
    fn check(&self) -> Result<(), SessionError>;

    /// Resolves with [`SessionError::Lost`] when the session knows its lease to be over, which is before the servers give its
    /// keys away: a renewal that nobody confirms is not waited for beyond the ttl. At once where that is so already.
    fn over(&self) -> impl Future<Output = SessionError> + Send;

    /// Carries a transaction out.
    fn txn(&self, txn: Txn<'_>) -> impl Future<Output = Result<TxnOutcome, SessionError>> + Send;

    /// Reads.
    fn range(&self, range: Range<'_>) -> impl Future<Output = Result<Found, SessionError>> + Send;

    /// Watches, from the revision `from` on: a key that is named with its instance was that instance at `from` − 1. Returns
    /// when the watch stands.
    fn watch(&self, awaited: Awaited<'_>, from: i64) -> impl Future<Output = Result<Self::Watch, SessionError>> + Send;
}

/// How long to wait before an operation is tried again: long enough for an election of the ensemble not to be a storm.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The pause doubles up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Repeats an operation that may safely happen twice while its outcome is unknown, with growing pauses. It ends with the
/// lease at the latest: every operation fails with [`SessionError::Lost`] then.
///
/// # Errors
///
/// The operation's own error, never [`SessionError::Unknown`].
pub async fn repeat<T, F>(mut operation: impl FnMut() -> F) -> Result<T, SessionError>
where
    F: Future<Output = Result<T, SessionError>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        match operation().await {
            Err(SessionError::Unknown(_)) => tokio::time::sleep(pause).await,
            outcome => return outcome,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
