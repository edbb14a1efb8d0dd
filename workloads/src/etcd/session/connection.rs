//! One HTTP/2 connection to one of the servers, and to the next one when that fails.
//!
//! The client library would balance over all servers by itself, with a connection to each of them: three times the sockets
//! and the memory, and requests of one worker that meet three nodes. A worker is to be with one node, as a ZooKeeper
//! session is; so each connection has one endpoint at a time, workers begin with different ones, and whoever finds that a
//! connection does not serve gives it up for all who share it.

use std::sync::{Arc, Mutex, PoisonError};

use etcd_client::{ConnectOptions, KvClient, LeaseClient, WatchClient};
use http::uri::Authority;
use tokio_util::sync::CancellationToken;

use super::{SessionError, http2};
use crate::access::Access;

/// A connection that one session has for itself, or several share.
pub struct Connection {
    /// `host:port` of the servers, with commas between.
    servers: Arc<str>,
    access: Access,
    line: Mutex<Arc<Line>>,
}

/// The connection as it is now.
pub struct Line {
    /// Which of the servers it goes to.
    place: usize,
    pub kv: KvClient,
    pub watch: WatchClient,
    pub lease: LeaseClient,
    /// Cancelled when it is given up; what is under way on it will not be answered.
    pub gone: CancellationToken,
}

impl Connection {
    /// A connection to one of the servers in `endpoints` (`host:port`, separated by commas): to the one at place `first`,
    /// counted round. It is opened with the first request.
    ///
    /// # Errors
    ///
    /// [`SessionError::Refused`] when `endpoints` names none, or what is no address.
    pub async fn new(endpoints: &str, first: usize) -> Result<Connection, SessionError> {
        Connection::open(endpoints, first, Access::default()).await
    }

    /// As [`new`](Connection::new), with the way that leads to the servers.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Connection::new).
    pub async fn open(endpoints: &str, first: usize, access: Access) -> Result<Connection, SessionError> {
        let servers: Arc<str> = endpoints.into();
        endpoints.split(',').try_for_each(|server| address(server).map(drop))?;
        let line = Line::open(&servers, first, &access).await?;
        Ok(Connection { servers, access, line: Mutex::new(Arc::new(line)) })
    }

    /// The way to the servers.
    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    /// The connection as it is now.
    pub(super) fn line(&self) -> Arc<Line> {
        Arc::clone(&self.line.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Goes on to the next server, unless somebody else has done so already.
    pub(super) async fn give_up(&self, line: &Arc<Line>) {
        // Opening is lazy: nothing is waited for, and the endpoints were good enough before. In a box, since it is some KB
        // that every task of every session would hold room for.
        let opening = Box::pin(Line::open(&self.servers, line.place + 1, &self.access));
        let Ok(next) = opening.await else { return };
        let mut current = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, line) {
            line.gone.cancel();
            *current = Arc::new(next);
        }
    }
}

impl Line {
    /// Opens one to the server at `place`, counted round.
    async fn open(servers: &str, place: usize, access: &Access) -> Result<Line, SessionError> {
        let place = place % servers.split(',').count();
        let server = servers.split(',').nth(place).unwrap_or_default();
        let channel = http2::channel(address(server)?, access.clone());
        // A server without a leader answers at once instead of letting requests wait, and ends its watch streams.
        let options = ConnectOptions::new().with_require_leader(true);
        let client = etcd_client::Client::from_channel(channel, Some(options)).await?;
        // Only the three that are needed: each client carries a handle of the channel and more.
        Ok(Line {
            place,
            kv: client.kv_client(),
            watch: client.watch_client(),
            lease: client.lease_client(),
            gone: CancellationToken::new(),
        })
    }
}

fn address(server: &str) -> Result<Authority, SessionError> {
    let server = server.trim();
    server.parse().map_err(|error| SessionError::Refused(format!("`{server}` is no address: {error}")))
}

impl From<etcd_client::Error> for SessionError {
    fn from(error: etcd_client::Error) -> Self {
        use tonic::Code;
        match &error {
            etcd_client::Error::GRpcStatus(status) => match status.code() {
                Code::NotFound if status.message().contains("lease not found") => {
                    SessionError::Lost("the servers do not know it any more".to_owned())
                }
                // Broken connections, elections of the ensemble, servers that are too busy: an answer that says nothing of
                // what became of the request.
                Code::Unavailable
                | Code::DeadlineExceeded
                | Code::Cancelled
                | Code::Unknown
                | Code::Internal
                | Code::Aborted
                | Code::ResourceExhausted => SessionError::Unknown(status.message().to_owned()),
                _ => SessionError::Refused(status.message().to_owned()),
            },
            etcd_client::Error::TransportError(_) | etcd_client::Error::IoError(_) => {
                SessionError::Unknown(error.to_string())
            }
            _ => SessionError::Refused(error.to_string()),
        }
    }
}

/// Whether the error is of the connection rather than of the server behind it, or of a server that is cut off from the
/// others: another server may do better. An election of the ensemble alone is no reason to leave.
pub(super) fn calls_for_another_server(error: &etcd_client::Error) -> bool {
    match error {
        etcd_client::Error::GRpcStatus(status) => {
            let server_speaks = status.message().starts_with("etcdserver:");
            let unsure =
                matches!(status.code(), tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Internal);
            status.message().contains("no leader") || unsure && !server_speaks
        }
        etcd_client::Error::TransportError(_) | etcd_client::Error::IoError(_) => true,
        _ => false,
    }
}
