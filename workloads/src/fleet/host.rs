//! What a fleet needs of a service.

use std::future::Future;

use super::relay::Relay;
use crate::holders::Held;
use crate::recipe::Lock;
use crate::recipe::barrier::{DoubleBarrier, SingleBarrier};
use crate::settings::Recipe;
use crate::{etcd, zookeeper};

/// A service as a fleet sees it: opens sessions, puts recipes on them, ends them one way or another. Clones are cheap.
pub(super) trait Host: Clone + Send + Sync + 'static {
    /// A worker's own session, counted. Clones are the same session.
    type Session: Clone + Send + Sync + 'static;
    /// A lock or an election on it.
    type Contender: Lock + 'static;
    /// A barrier on it.
    type Barrier: DoubleBarrier + SingleBarrier + 'static;

    /// Opens the steward's session; the error is what it was told.
    fn steward(&self) -> impl Future<Output = Result<Steward, String>> + Send;

    /// Opens the session of the worker with this number, over its relay where it has one; the error is what it was told.
    fn connect(&self, worker: u32, relay: Option<&Relay>)
    -> impl Future<Output = Result<Self::Session, String>> + Send;

    /// The recipe at `base`; `None` for one that nobody contends in.
    fn contender(&self, recipe: Recipe, session: Self::Session, base: &str) -> Option<Self::Contender>;

    /// What a member has of the barrier at `base`, for so many members; `None` for a recipe that is no barrier.
    fn barrier(&self, recipe: Recipe, session: &Self::Session, base: &str, quantity: u32) -> Option<Self::Barrier>;

    /// Lets the servers hear of the session now, so that the time after which it expires counts from here.
    fn sign_of_life(&self, session: &Self::Session) -> impl Future<Output = ()> + Send;

    /// Leaves a session to expire: nothing more is sent on it, and its connection goes with its last clone.
    fn abandon(&self, session: &Self::Session);

    /// Closes a session in good order.
    fn close(&self, session: Self::Session) -> impl Future<Output = ()> + Send;
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

    /// Whether the znode or key of a grant is still there, and still the same one; `None` where nobody answered.
    pub async fn is_there(&self, held: &Held) -> Option<bool> {
        match self {
            Steward::Zookeeper(client) => {
                use zookeeper::session::Session;
                let stat = client.exists(&held.path).await.ok()?;
                Some(stat.is_some_and(|stat| stat.czxid == held.token))
            }
            Steward::Etcd(client) => {
                use etcd::session::{Range, Session};
                let found = client.range(Range::Key(&held.path)).await.ok()?;
                Some(found.first.is_some_and(|key| key.create_revision == held.token))
            }
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
