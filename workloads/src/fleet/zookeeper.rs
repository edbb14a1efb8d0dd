//! A fleet's sessions with ZooKeeper.

use std::sync::Arc;
use std::time::Duration;

use super::Target;
use super::host::{Host, Steward};
use crate::record::Recorder;
use crate::settings::{Recipe, WorkerSettings};
use crate::zookeeper::Contender;
use crate::zookeeper::session::{Client, Metered};

#[derive(Clone)]
pub(super) struct ZookeeperHost {
    endpoints: Arc<str>,
    session_timeout: Duration,
    recorder: Arc<Recorder>,
}

impl ZookeeperHost {
    pub fn new(target: &Target, settings: &WorkerSettings, recorder: &Arc<Recorder>) -> Self {
        let endpoints = target.endpoints.as_str().into();
        ZookeeperHost { endpoints, session_timeout: settings.session_timeout, recorder: Arc::clone(recorder) }
    }
}

impl Host for ZookeeperHost {
    type Session = Metered<Client>;
    type Contender = Contender<Metered<Client>>;

    async fn steward(&self) -> Result<Steward, String> {
        let client = Client::connect(&self.endpoints, self.session_timeout).await;
        client.map(Steward::Zookeeper).map_err(|error| error.to_string())
    }

    async fn connect(&self, _: u32) -> Result<Self::Session, String> {
        let client = Client::connect(&self.endpoints, self.session_timeout).await.map_err(|error| error.to_string())?;
        Ok(Metered::new(client, Arc::clone(&self.recorder)))
    }

    fn contender(&self, recipe: Recipe, session: Self::Session, base: &str) -> Option<Self::Contender> {
        Contender::new(recipe, session, base, false)
    }
}
