//! A bystander with a znode of its own.

use std::time::Duration;

use super::{Bystander, BystanderError, Failure};
use crate::fleet::Target;
use crate::zookeeper::parents;
use crate::zookeeper::session::{AtDrop, Client, CreateMode, Session, SessionError};

pub(super) struct ZookeeperBystander {
    client: Client,
    path: String,
}

impl ZookeeperBystander {
    /// Opens its session and creates its znode.
    pub async fn open(target: &Target, number: u32, session_timeout: Duration) -> Result<Self, BystanderError> {
        let client =
            Client::open(&target.endpoints, session_timeout, AtDrop::Close, &target.access.unthrottled()).await?;
        let base = format!("{}/bystanders", target.root);
        parents::make(&client, &base).await?;
        let path = format!("{base}/{number}");
        client.create(&path, CreateMode::Ephemeral, b"at rest").await?;
        Ok(ZookeeperBystander { client, path })
    }
}

impl Bystander for ZookeeperBystander {
    async fn write(&self, value: &[u8]) -> Result<(), Failure> {
        Ok(self.client.set_data(&self.path, value).await?)
    }

    async fn read(&self) -> Result<(), Failure> {
        self.client.data(&self.path).await?;
        Ok(())
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Lost(_) => Failure::SessionLost,
            _ => Failure::Other,
        }
    }
}

impl From<SessionError> for BystanderError {
    fn from(error: SessionError) -> Self {
        BystanderError(error.to_string())
    }
}
