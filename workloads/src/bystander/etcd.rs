//! A bystander with a key of its own.

use std::sync::Arc;
use std::time::Duration;

use super::{Bystander, BystanderError, Failure};
use crate::etcd::session::{Client, Connection, Range, Session, SessionError, Untapped};
use crate::fleet::Target;

pub(super) struct EtcdBystander {
    client: Client,
    key: String,
}

impl EtcdBystander {
    /// Opens its session, on the connection of its own that the number falls to, and puts its key.
    pub async fn open(target: &Target, number: u32, session_timeout: Duration) -> Result<Self, BystanderError> {
        let connection = Connection::open(&target.endpoints, number as usize, target.access.unthrottled()).await?;
        let client = Client::open(Arc::new(connection), session_timeout, Arc::new(Untapped)).await?;
        let key = format!("{}/bystanders/{number}", target.root);
        client.put(&key, b"at rest").await?;
        Ok(EtcdBystander { client, key })
    }
}

impl Bystander for EtcdBystander {
    async fn write(&self, value: &[u8]) -> Result<(), Failure> {
        Ok(self.client.put(&self.key, value).await?)
    }

    async fn read(&self) -> Result<(), Failure> {
        self.client.range(Range::Key(&self.key)).await?;
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
