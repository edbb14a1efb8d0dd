//! A real session, through the crate `zookeeper-client`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zookeeper_client as zk;

use super::{CreateMode, Created, Session, SessionError, Stat, Watch};
use crate::access::Access;
use crate::record::EventKind;

/// A session with a real ensemble.
#[derive(Clone)]
pub struct Client {
    client: zk::Client,
    access: Access,
    /// Set when the worker died: what is left of it asks for nothing any more.
    abandoned: Arc<AtomicBool>,
}

/// What becomes of the session when the last clone of a [`Client`] is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtDrop {
    /// It is closed, and its ephemeral znodes go at once.
    Close,
    /// Its connection is closed and nothing else: the servers let it expire, as after a crash.
    Leave,
}

impl Client {
    /// Opens a session with one of the servers in `endpoints` (`host:port`, separated by commas), chosen at random so that
    /// sessions spread over the nodes.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] when no session was established within `session_timeout`.
    pub async fn connect(endpoints: &str, session_timeout: Duration) -> Result<Self, SessionError> {
        Client::connect_with(endpoints, session_timeout, AtDrop::Close).await
    }

    /// As [`connect`](Client::connect), with the choice of what becomes of the session when it is dropped.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Client::connect).
    pub async fn connect_with(
        endpoints: &str,
        session_timeout: Duration,
        at_drop: AtDrop,
    ) -> Result<Self, SessionError> {
        Client::open(endpoints, session_timeout, at_drop, &Access::default()).await
    }

    /// As [`connect_with`](Client::connect_with), with the way that leads to the servers. With a login, what the session
    /// creates is its own identities' alone: the login's, and a client certificate's where there is one.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Client::connect).
    pub async fn open(
        endpoints: &str,
        session_timeout: Duration,
        at_drop: AtDrop,
        access: &Access,
    ) -> Result<Self, SessionError> {
        let connector = zk::Client::connector().with_session_timeout(session_timeout);
        let connector = match at_drop {
            AtDrop::Close => connector,
            AtDrop::Leave => connector.with_detached(),
        };
        access.pass().await;
        match connect(connector, endpoints, access).await {
            Ok(client) => Ok(Client { client, access: access.clone(), abandoned: Arc::default() }),
            Err(error) => Err(SessionError::Lost(error.to_string())),
        }
    }

    /// What a crash does, short of closing the connection, which ends when the last clone is dropped: from here on every
    /// operation fails with [`SessionError::Lost`] without being sent, so that nothing is tidied up. For a session that
    /// was opened with [`AtDrop::Leave`].
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    /// Closes a session that was opened with [`AtDrop::Leave`]: takes it over with a connection that closes it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] where it could not be taken over; it expires then.
    pub async fn close(self, endpoints: &str) -> Result<(), SessionError> {
        self.abandon();
        let timeout = self.client.session_timeout();
        let session = self.client.into_session();
        let connector = zk::Client::connector().with_session_timeout(timeout).with_session(session);
        let client = connect(connector, endpoints, &self.access).await;
        client.map(drop).map_err(|error| SessionError::Lost(error.to_string()))
    }

    /// Whether it may still ask for anything; waits until it may under the ceiling.
    async fn admit(&self) -> Result<(), SessionError> {
        self.check()?;
        self.access.pass().await;
        self.check()
    }

    fn check(&self) -> Result<(), SessionError> {
        match self.abandoned.load(Ordering::Acquire) {
            true => Err(SessionError::Lost("it was abandoned".to_owned())),
            false => Ok(()),
        }
    }

    /// The session timeout that the servers granted; they clamp what was asked to 2 to 20 ticks.
    pub fn session_timeout(&self) -> Duration {
        self.client.session_timeout()
    }
}

/// Connects, encrypted and under a name where that is wanted.
async fn connect(connector: zk::Connector, endpoints: &str, access: &Access) -> Result<zk::Client, zk::Error> {
    let connector = match &access.login {
        Some(login) => connector.with_auth("digest", login.digest().as_bytes()),
        None => connector,
    };
    match &access.tls {
        Some(tls) => connector.with_tls(tls.zookeeper()).secure_connect(endpoints).await,
        None => connector.connect(endpoints).await,
    }
}

/// A watch of a real session.
pub struct ClientWatch {
    watcher: zk::OneshotWatcher,
}

impl Watch for ClientWatch {
    async fn fired(self) -> Result<EventKind, SessionError> {
        let event = self.watcher.changed().await;
        match event.event_type {
            zk::EventType::NodeCreated => Ok(EventKind::Created),
            zk::EventType::NodeDeleted => Ok(EventKind::Deleted),
            zk::EventType::NodeDataChanged => Ok(EventKind::Changed),
            zk::EventType::NodeChildrenChanged => Ok(EventKind::Children),
            // The client reports terminal states alone to a one-shot watcher.
            zk::EventType::Session => Err(SessionError::Lost(event.session_state.to_string())),
        }
    }
}

impl From<zk::Error> for SessionError {
    fn from(error: zk::Error) -> Self {
        use zk::Error;
        match error {
            Error::NoNode => SessionError::NoNode,
            Error::NodeExists => SessionError::NodeExists,
            Error::NotEmpty => SessionError::NotEmpty,
            Error::SessionExpired
            | Error::SessionMoved
            | Error::AuthFailed
            | Error::ClientClosed
            | Error::NoHosts
            | Error::RuntimeInconsistent => SessionError::Lost(error.to_string()),
            // The crate reports an idle connection and a socket's error as `Custom`, and only a clean end of the stream as
            // `ConnectionLoss`: with all of them the request may have been carried out.
            Error::ConnectionLoss | Error::Timeout | Error::Custom(_) => SessionError::Unknown(error.to_string()),
            other => SessionError::Refused(other.to_string()),
        }
    }
}

impl From<zk::Stat> for Stat {
    fn from(stat: zk::Stat) -> Self {
        Stat { czxid: stat.czxid, ephemeral_owner: stat.ephemeral_owner }
    }
}

impl CreateMode {
    fn options(self, access: &Access) -> zk::CreateOptions<'static> {
        let mode = match self {
            CreateMode::Persistent => zk::CreateMode::Persistent,
            CreateMode::Container => zk::CreateMode::Container,
            CreateMode::Ephemeral => zk::CreateMode::Ephemeral,
            CreateMode::EphemeralSequential => zk::CreateMode::EphemeralSequential,
        };
        mode.with_acls(match access.login {
            Some(_) => zk::Acls::creator_all(),
            None => zk::Acls::anyone_all(),
        })
    }
}

impl Session for Client {
    type Watch = ClientWatch;

    fn id(&self) -> i64 {
        self.client.session_id().0
    }

    async fn broken(&self) -> SessionError {
        let mut states = self.client.state_watcher();
        let mut state = self.client.state();
        loop {
            match state {
                zk::SessionState::SyncConnected | zk::SessionState::ConnectedReadOnly => state = states.changed().await,
                zk::SessionState::Disconnected => return SessionError::Unknown(state.to_string()),
                _ => return SessionError::Lost(state.to_string()),
            }
        }
    }

    async fn sync(&self, path: &str) -> Result<(), SessionError> {
        self.admit().await?;
        Ok(self.client.sync(path).await?)
    }

    async fn create(&self, path: &str, mode: CreateMode, data: &[u8]) -> Result<Created, SessionError> {
        self.admit().await?;
        let (stat, sequence) = self.client.create(path, data, &mode.options(&self.access)).await?;
        let path = match mode {
            CreateMode::EphemeralSequential => format!("{path}{sequence}"),
            _ => path.to_owned(),
        };
        Ok(Created { path, stat: stat.into() })
    }

    async fn delete(&self, path: &str) -> Result<(), SessionError> {
        self.admit().await?;
        Ok(self.client.delete(path, None).await?)
    }

    async fn exists(&self, path: &str) -> Result<Option<Stat>, SessionError> {
        self.admit().await?;
        Ok(self.client.check_stat(path).await?.map(Stat::from))
    }

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, ClientWatch), SessionError> {
        self.admit().await?;
        let (stat, watcher) = self.client.check_and_watch_stat(path).await?;
        Ok((stat.map(Stat::from), ClientWatch { watcher }))
    }

    async fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), SessionError> {
        self.admit().await?;
        let (data, stat) = self.client.get_data(path).await?;
        Ok((data, stat.into()))
    }

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, ClientWatch), SessionError> {
        self.admit().await?;
        let (data, stat, watcher) = self.client.get_and_watch_data(path).await?;
        Ok((data, stat.into(), ClientWatch { watcher }))
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        self.admit().await?;
        self.client.set_data(path, data, None).await?;
        Ok(())
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        self.admit().await?;
        Ok(self.client.list_children(path).await?)
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, ClientWatch), SessionError> {
        self.admit().await?;
        let (names, watcher) = self.client.list_and_watch_children(path).await?;
        Ok((names, ClientWatch { watcher }))
    }
}
