//! What a session needs of its way to the servers.
//!
//! [`Connection`](super::Connection) is the way to real ones. An ensemble in memory is another (feature `memory`): so that
//! all that the session does by itself, from keeping its lease to making its watches again, is the same code there.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Found, Range, Txn, TxnOutcome};
use crate::access::Access;

/// What goes wrong on the way, or at the server.
pub type LineError = etcd_client::Error;

/// A way to the servers, one of them at a time.
pub trait Carrier: Send + Sync + 'static {
    /// The way as it is at a moment.
    type Line: Line;

    /// The way as it is now.
    fn line(&self) -> Arc<Self::Line>;

    /// Goes on to the next server, unless somebody else has done so already.
    fn give_up(&self, line: &Arc<Self::Line>) -> impl Future<Output = ()> + Send;

    /// How the session gets at the servers: as whom, and how fast.
    fn access(&self) -> &Access;

    /// Lets a task of the session run in the background.
    fn host(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }
}

/// An answer, and how many bytes it takes.
pub struct Answer<T> {
    /// What it says.
    pub told: T,
    /// Its length; see `wire`.
    pub bytes: u64,
}

/// The requests that a session sends. An error leaves open what became of the request, unless the server spoke.
pub trait Line: Send + Sync + 'static {
    /// A stream of watches.
    type Stream: Stream;

    /// Cancelled when the line is given up; what is under way on it will not be answered.
    fn gone(&self) -> &CancellationToken;

    /// A transaction, which puts under this lease what it does not put to last.
    fn txn(&self, txn: Txn<'_>, lease: i64) -> impl Future<Output = Result<Answer<TxnOutcome>, LineError>> + Send;

    /// A range.
    fn range(&self, range: Range<'_>) -> impl Future<Output = Result<Answer<Found>, LineError>> + Send;

    /// Puts a value under this lease.
    fn put(&self, key: &str, value: &[u8], lease: i64) -> impl Future<Output = Result<Answer<()>, LineError>> + Send;

    /// Deletes all keys with a prefix.
    fn delete_all(&self, prefix: &str) -> impl Future<Output = Result<Answer<()>, LineError>> + Send;

    /// Grants a lease of so many seconds: its id, and the ttl in seconds that it has.
    fn grant(&self, ttl: i64) -> impl Future<Output = Result<Answer<(i64, i64)>, LineError>> + Send;

    /// Revokes a lease.
    fn revoke(&self, lease: i64) -> impl Future<Output = Result<Answer<()>, LineError>> + Send;

    /// Renews a lease; `false`: the servers do not know it.
    fn renew(&self, lease: i64) -> impl Future<Output = Result<bool, LineError>> + Send;

    /// Opens a stream with its first watch.
    fn watch(&self, first: Wanted<'_>) -> impl Future<Output = Result<Self::Stream, LineError>> + Send;
}

/// A stream of watches: what is asked for and what is heard, each in order.
pub trait Stream: Send {
    /// Asks for another watch.
    fn set(&mut self, wanted: Wanted<'_>) -> impl Future<Output = Result<(), LineError>> + Send;

    /// Asks to take a watch back.
    fn cancel(&mut self, id: i64) -> impl Future<Output = Result<(), LineError>> + Send;

    /// What is heard next; `None` at the end of the stream. A call that is dropped loses nothing.
    fn heard(&mut self) -> impl Future<Output = Result<Option<Heard>, LineError>> + Send;
}

/// A watch as a server is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The session's number for it.
    pub id: i64,
    /// The key, or what the keys begin with.
    pub key: &'a str,
    /// Whether any key with that prefix is meant.
    pub prefix: bool,
    /// Whether to tell of values that are put.
    pub puts: bool,
    /// Whether to tell of deletions.
    pub deletions: bool,
    /// From which revision on.
    pub from: i64,
}

/// A message of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The watch.
    pub id: i64,
    /// What it is about.
    pub news: News,
    /// What happened to the keys, in order.
    pub events: Vec<Happened>,
    /// The length of the message; see `wire`.
    pub bytes: u64,
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The watch stands.
    Stands,
    /// The watch is over: it was taken back, or (`compacted`, not 0) the history up to this revision is gone.
    Over {
        /// Why.
        reason: String,
        /// The revision up to which the history was compacted away.
        compacted: i64,
    },
    /// The events alone.
    Events,
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// Whether it was deleted; otherwise a value was put.
    pub deleted: bool,
    /// The key's create revision; 0 where it was deleted.
    pub create_revision: i64,
    /// The revision at which it happened.
    pub revision: i64,
}
