//! A fleet's sessions with ZooKeeper.

use std::sync::Arc;
use std::time::Duration;

use super::Target;
use super::host::{Host, Steward};
use super::pool::Pool;
use super::relay::Relay;
use crate::access::Access;
use crate::member::AnyBarrier;
use crate::record::Recorder;
use crate::settings::{Recipe, WorkerSettings};
use crate::zookeeper::session::{AtDrop, Client, Metered, Session, SessionError};
use crate::zookeeper::{Contender, DoubleBarrier, NaiveDoubleBarrier, SingleBarrier};

#[derive(Clone)]
pub(super) struct ZookeeperHost {
    endpoints: Arc<str>,
    access: Access,
    session_timeout: Duration,
    at_drop: AtDrop,
    auto_requeue: bool,
    recorder: Arc<Recorder>,
    /// The sessions that the workers share, where that is what is to be controlled.
    sessions: Pool<Metered<Client>>,
}

impl ZookeeperHost {
    pub fn new(target: &Target, settings: &WorkerSettings, recorder: &Arc<Recorder>) -> Self {
        ZookeeperHost {
            endpoints: target.endpoints.as_str().into(),
            access: target.access.clone(),
            session_timeout: settings.session_timeout,
            at_drop: if settings.precautions.crash { AtDrop::Leave } else { AtDrop::Close },
            auto_requeue: settings.auto_requeue,
            recorder: Arc::clone(recorder),
            sessions: Pool::new(settings.sessions),
        }
    }
}

impl Host for ZookeeperHost {
    type Session = Metered<Client>;
    type Contender = Contender<Metered<Client>>;
    type Barrier =
        AnyBarrier<SingleBarrier<Metered<Client>>, DoubleBarrier<Metered<Client>>, NaiveDoubleBarrier<Metered<Client>>>;

    async fn steward(&self) -> Result<Steward, String> {
        let client = Client::open(&self.endpoints, self.session_timeout, AtDrop::Close, &self.access).await;
        client.map(Steward::Zookeeper).map_err(|error| error.to_string())
    }

    async fn connect(&self, worker: u32, relay: Option<&Relay>) -> Result<Self::Session, String> {
        let through = relay.map(Relay::endpoint);
        let endpoints = through.as_deref().unwrap_or(&self.endpoints);
        let open = async |_| {
            self.access.pass().await;
            // The ceiling is before the counting, so that a request is counted when it is sent.
            let access = self.access.unthrottled();
            let client = Client::open(endpoints, self.session_timeout, self.at_drop, &access).await?;
            Ok(Metered::new(client, Arc::clone(&self.recorder)).under(self.access.throttle.clone()))
        };
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
        Contender::new(recipe, session, base, self.auto_requeue)
    }

    async fn sign_of_life(&self, session: &Self::Session) {
        // Not counted: it is the fault's and not the recipe's. An error means that there is no life to give a sign of.
        let _ = session.inner().exists("/").await;
    }

    fn abandon(&self, session: &Self::Session) {
        session.inner().abandon();
    }

    async fn close(&self, session: Self::Session) {
        if self.at_drop == AtDrop::Leave {
            // An error means that it is over, or will be.
            let _ = session.inner().clone().close(&self.endpoints).await;
        }
    }
}
