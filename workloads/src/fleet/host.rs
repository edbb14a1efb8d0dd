//! What a fleet needs of a service.

use std::future::Future;

use crate::recipe::Lock;
use crate::settings::Recipe;
use crate::{etcd, zookeeper};

/// A service as a fleet sees it: opens sessions, puts recipes on them. Clones are cheap.
pub(super) trait Host: Clone + Send + Sync + 'static {
    /// A worker's own session, counted.
    type Session: Send + 'static;
    /// A lock or an election on it.
    type Contender: Lock + 'static;

    /// Opens the steward's session; the error is what it was told.
    fn steward(&self) -> impl Future<Output = Result<Steward, String>> + Send;

    /// Opens the session of the worker with this number; the error is what it was told.
    fn connect(&self, worker: u32) -> impl Future<Output = Result<Self::Session, String>> + Send;

    /// The recipe at `base`; `None` for one that nobody contends in.
    fn contender(&self, recipe: Recipe, session: Self::Session, base: &str) -> Option<Self::Contender>;
}

/// Makes and removes what is above the locks; contends for nothing.
pub(super) enum Steward {
    /// With a session of ZooKeeper.
    Zookeeper(zookeeper::session::Client),
    /// With one of etcd.
    Etcd(etcd::session::Client),
}

impl Steward {
    /// Makes what has to be there above the locks at `bases`, so that no worker has to while it is measured.
    pub async fn make(&self, bases: &[String]) -> Result<(), String> {
        match self {
            Steward::Zookeeper(client) => {
                for base in bases {
                    zookeeper::parents::make(client, base).await.map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            // Keys have no parents.
            Steward::Etcd(_) => Ok(()),
        }
    }

    /// Removes everything below `root`.
    pub async fn remove(&self, root: &str) -> Result<(), String> {
        match self {
            Steward::Zookeeper(client) => {
                zookeeper::parents::remove_tree(client, root).await.map_err(|error| error.to_string())
            }
            Steward::Etcd(client) => {
                client.delete_all(&etcd::keys::prefix(root)).await.map_err(|error| error.to_string())
            }
        }
    }
}
