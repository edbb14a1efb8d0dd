//! A fleet's sessions with etcd.

use std::sync::Arc;
use std::time::Duration;

use super::Target;
use super::host::{Host, Steward};
use super::pool::Pool;
use super::relay::Relay;
use crate::access::Access;
use crate::etcd::session::{Client, Connection, SessionError, Tap, Untapped};
use crate::etcd::{Contender, DoubleBarrier, NaiveDoubleBarrier, SingleBarrier};
use crate::member::AnyBarrier;
use crate::record::Recorder;
use crate::settings::{Recipe, WorkerSettings};

#[derive(Clone)]
pub(super) struct EtcdHost {
    endpoints: Arc<str>,
    access: Access,
    ttl: Duration,
    auto_requeue: bool,
    recorder: Arc<Recorder>,
    /// The connections that the workers share.
    connections: Pool<Arc<Connection>>,
    /// The sessions that they share, where that is what is to be controlled.
    sessions: Pool<Client>,
}

impl EtcdHost {
    pub fn new(target: &Target, settings: &WorkerSettings, recorder: &Arc<Recorder>) -> Self {
        EtcdHost {
            endpoints: target.endpoints.as_str().into(),
            access: target.access.clone(),
            ttl: settings.session_timeout,
            auto_requeue: settings.auto_requeue,
            recorder: Arc::clone(recorder),
            connections: Pool::new(settings.connections),
            sessions: Pool::new(settings.sessions),
        }
    }

    /// The worker's own connection, or the one that it shares. Connections begin at different servers, in turn.
    async fn connection(&self, worker: u32, relay: Option<&Relay>) -> Result<Arc<Connection>, SessionError> {
        let through = relay.map(Relay::endpoint);
        let endpoints = through.as_deref().unwrap_or(&self.endpoints);
        let open = async |place| Connection::open(endpoints, place, self.access.clone()).await.map(Arc::new);
        self.connections.get(worker, open).await
    }
}

impl Host for EtcdHost {
    type Session = Client;
    type Contender = Contender<Client>;
    type Barrier = AnyBarrier<SingleBarrier<Client>, DoubleBarrier<Client>, NaiveDoubleBarrier<Client>>;

    async fn steward(&self) -> Result<Steward, String> {
        let connection = Connection::open(&self.endpoints, 0, self.access.clone()).await;
        let opened = async { Client::open(Arc::new(connection?), self.ttl, Arc::new(Untapped)).await };
        opened.await.map(Steward::Etcd).map_err(|error: SessionError| error.to_string())
    }

    async fn connect(&self, worker: u32, relay: Option<&Relay>) -> Result<Self::Session, String> {
        let tap = Arc::clone(&self.recorder) as Arc<dyn Tap>;
        let open = async |_| Client::open(self.connection(worker, relay).await?, self.ttl, tap).await;
        self.sessions.get(worker, open).await.map_err(|error: SessionError| error.to_string())
    }

    fn barrier(&self, recipe: Recipe, session: &Self::Session, base: &str, quantity: u32) -> Option<Self::Barrier> {
        let session = || session.clone();
        AnyBarrier::new(
            recipe,
            || SingleBarrier::new(session(), base),
            || DoubleBarrier::new(session(), base, quantity),
            || NaiveDoubleBarrier::new(session(), base, quantity),
        )
    }

    fn contender(&self, recipe: Recipe, session: Self::Session, base: &str) -> Option<Self::Contender> {
        // One key a lease: nobody can queue again before it resigns.
        Contender::new(recipe, session, base, self.auto_requeue)
    }

    async fn sign_of_life(&self, session: &Self::Session) {
        // An error means that there is no life to give a sign of.
        let _ = session.sign_of_life().await;
    }

    fn abandon(&self, session: &Self::Session) {
        session.abandon();
    }

    async fn close(&self, session: Self::Session) {
        // Its lease is revoked with its last clone.
        drop(session);
    }
}
