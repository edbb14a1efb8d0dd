//! What a recipe may ask of ZooKeeper.
//!
//! Recipes are written against [`Session`], not against a client library, so that the same recipe runs on a real ensemble
//! and on one in memory. [`Client`] is the real session; [`Metered`] wraps any session and counts what goes through it.

mod client;
mod metered;
mod wire;

use std::future::Future;

pub use client::{AtDrop, Client};
pub use metered::{Metered, MeteredWatch};

use crate::record::EventKind;

/// Why an operation did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The znode, or for a create its parent, does not exist.
    #[error("no such znode")]
    NoNode,
    /// A znode of that name exists already.
    #[error("the znode exists already")]
    NodeExists,
    /// The znode still has children.
    #[error("the znode still has children")]
    NotEmpty,
    /// The session is over: it expired, was closed, or could not authenticate. Nothing on it will succeed any more.
    #[error("the session is lost: {0}")]
    Lost(String),
    /// The connection broke before the answer came: the operation may or may not have happened.
    #[error("the connection broke before the answer came: {0}")]
    Unknown(String),
    /// The server refused for another reason.
    #[error("the server refused: {0}")]
    Refused(String),
}

/// How a znode comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Stays until it has lost its last child, and a while longer.
    Container,
    /// Lives as long as the session.
    Ephemeral,
    /// As `Ephemeral`, and the server appends a ten-digit number that rises with each create under the same parent.
    EphemeralSequential,
}

/// The part of a znode's metadata that recipes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that created the znode: identifies this instance of it, and is a grant's fencing token.
    pub czxid: i64,
    /// The session that owns an ephemeral znode, 0 for the others.
    pub ephemeral_owner: i64,
}

/// A znode that has just been created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its path, the sequence number included.
    pub path: String,
    /// Its metadata.
    pub stat: Stat,
}

/// A one-shot watch that stands on the server.
pub trait Watch: Send + 'static {
    /// Resolves when the watch fires. Dropping the watch or this future takes the watch back.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] when the session ends first. A broken connection alone is no error: the watch is set again
    /// on reconnection, and what it missed is then delivered.
    fn fired(self) -> impl Future<Output = Result<EventKind, SessionError>> + Send;
}

/// One ZooKeeper session, never shared by two workers. Clones are the same session; it is closed when the last is dropped.
///
/// Every operation sends its request when it is called, so that requests reach the server in the order of the calls.
pub trait Session: Clone + Send + Sync + 'static {
    /// The watches that this session sets.
    type Watch: Watch;

    /// The session's id, as it stands in an ephemeral znode's `ephemeral_owner`.
    fn id(&self) -> i64;

    /// Resolves when the connection to the servers is down ([`SessionError::Unknown`]: it may come back) or the session is
    /// over ([`SessionError::Lost`]); at once where that is so already.
    fn broken(&self) -> impl Future<Output = SessionError> + Send;

    /// Waits until all that this session has asked for before is decided, and its server has seen the outcome. A read
    /// alone may be answered before: after a reconnection by a server that lags behind the one which took the request.
    fn sync(&self, path: &str) -> impl Future<Output = Result<(), SessionError>> + Send;

    /// Creates a znode.
    fn create(
        &self,
        path: &str,
        mode: CreateMode,
        data: &[u8],
    ) -> impl Future<Output = Result<Created, SessionError>> + Send;

    /// Deletes a znode of any version.
    fn delete(&self, path: &str) -> impl Future<Output = Result<(), SessionError>> + Send;

    /// The znode's metadata, or `None` where it does not exist.
    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, SessionError>> + Send;

    /// As [`exists`](Session::exists), and sets a watch in either case: on a znode that does not exist it stands until
    /// somebody creates one of that name, for ever if nobody does.
    fn exists_watched(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Option<Stat>, Self::Watch), SessionError>> + Send;

    /// The znode's data and metadata.
    fn data(&self, path: &str) -> impl Future<Output = Result<(Vec<u8>, Stat), SessionError>> + Send;

    /// As [`data`](Session::data), and sets a watch, but only where the znode exists.
    fn data_watched(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Vec<u8>, Stat, Self::Watch), SessionError>> + Send;

    /// Overwrites a znode's data, whatever its version.
    fn set_data(&self, path: &str, data: &[u8]) -> impl Future<Output = Result<(), SessionError>> + Send;

    /// The names of the znode's children, in no particular order.
    fn children(&self, path: &str) -> impl Future<Output = Result<Vec<String>, SessionError>> + Send;

    /// As [`children`](Session::children), and sets a watch on the list.
    fn children_watched(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Vec<String>, Self::Watch), SessionError>> + Send;
}

/// Repeats an operation that may safely happen twice until its outcome is known. For what must not be left undone: an
/// entry that stays behind in a living session blocks its queue for ever. The end of the session bounds the tries, since
/// each of them is a connection that broke.
///
/// # Errors
///
/// The operation's own error, never [`SessionError::Unknown`].
pub async fn insist<T, F>(mut operation: impl FnMut() -> F) -> Result<T, SessionError>
where
    F: Future<Output = Result<T, SessionError>>,
{
    loop {
        match operation().await {
            Err(SessionError::Unknown(_)) => {}
            outcome => return outcome,
        }
    }
}

/// How often an operation whose outcome is unknown is tried again. Requests wait for the reconnection by themselves, so
/// each try is a connection that broke in the middle of it.
const TRIES: usize = 16;

/// Repeats an operation that may safely happen twice while its outcome is unknown.
///
/// # Errors
///
/// The operation's own error; [`SessionError::Unknown`] after 16 broken connections in a row.
pub async fn repeat<T, F>(mut operation: impl FnMut() -> F) -> Result<T, SessionError>
where
    F: Future<Output = Result<T, SessionError>>,
{
    let mut tries = 1;
    loop {
        match operation().await {
            Err(SessionError::Unknown(_)) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
    }
}
