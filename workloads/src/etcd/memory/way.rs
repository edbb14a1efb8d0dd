//! A client's way to the ensemble.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::frozen::{Frozen, Pause};
use super::store::{Reply, Request};
use super::stream::WayStream;
use super::world::World;
use crate::access::Access;
use crate::etcd::session::line::{Answer, Carrier, Line, LineError, Wanted};
use crate::etcd::session::{Found, Range, Then, Txn, TxnOutcome};

pub(super) fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The way of one client.
pub struct Way {
    world: Arc<Mutex<World>>,
    pub(super) number: usize,
    pub(super) pause: Pause,
    path: Mutex<Arc<Path>>,
}

/// The way as it is at a moment: one connection.
pub struct Path {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) way: usize,
    /// Counts the connections of the way.
    pub(super) epoch: u64,
    pause: Pause,
    gone: CancellationToken,
}

impl Way {
    pub(super) fn new(world: &Arc<Mutex<World>>) -> Self {
        let pause = Pause::none();
        let number = lock(world).add_way(pause.clone());
        let path = Path::new(world, number, 0, &pause);
        Way { world: Arc::clone(world), number, pause, path: Mutex::new(Arc::new(path)) }
    }
}

impl Path {
    fn new(world: &Arc<Mutex<World>>, way: usize, epoch: u64, pause: &Pause) -> Self {
        Path { world: Arc::clone(world), way, epoch, pause: pause.clone(), gone: CancellationToken::new() }
    }

    /// Sends a request and waits for what becomes of it. It goes its way also where nobody waits any more.
    async fn ask(&self, request: Request) -> Result<Reply, LineError> {
        self.pause.over().await;
        let reply = lock(&self.world).send(self.way, self.epoch, request);
        let outcome = reply.await;
        self.pause.over().await;
        match outcome {
            Ok(outcome) => outcome,
            // Nobody will ever answer.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Carrier for Way {
    type Line = Path;

    fn line(&self) -> Arc<Path> {
        Arc::clone(&self.path.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn give_up(&self, line: &Arc<Path>) {
        let mut current = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, line) {
            line.gone.cancel();
            let epoch = lock(&self.world).connect_again(self.number);
            *current = Arc::new(Path::new(&self.world, self.number, epoch, &self.pause));
        }
    }

    fn access(&self) -> &Access {
        /// Nobody in particular, and as fast as they like.
        static OPEN: Access = Access { tls: None, login: None, throttle: None };
        &OPEN
    }

    fn host(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(Frozen::new(self.pause.clone(), task));
    }
}

/// A reply that does not fit its request: a fault of the ensemble in memory.
fn unfit<T>(reply: &Reply) -> Result<T, LineError> {
    Err(LineError::GRpcStatus(tonic::Status::invalid_argument(format!("the ensemble in memory replied {reply:?}"))))
}

fn answer<T>(told: T) -> Result<Answer<T>, LineError> {
    Ok(Answer { told, bytes: 0 })
}

impl Line for Path {
    type Stream = WayStream;

    fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    async fn txn(&self, txn: Txn<'_>, lease: i64) -> Result<Answer<TxnOutcome>, LineError> {
        let (key, guard) = (txn.key.into(), txn.create_revision);
        let request = match txn.then {
            Then::Put(value) => Request::TxnPut { key, guard, value: value.to_vec(), lease },
            Then::PutLasting(lasting) => Request::TxnPutLasting { key, guard, lasting: lasting.into() },
            Then::Delete => Request::TxnDelete { key, guard },
        };
        match self.ask(request).await? {
            Reply::Txn(outcome) => answer(outcome),
            reply => unfit(&reply),
        }
    }

    async fn range(&self, range: Range<'_>) -> Result<Answer<Found>, LineError> {
        let request = match range {
            Range::Key(key) => Request::Read { key: key.into() },
            Range::NewestBelow { prefix, own } => Request::Newest { prefix: prefix.into(), most: own - 1 },
            Range::Oldest { prefix, at } => Request::Oldest { prefix: prefix.into(), at },
            Range::Count { prefix, at } => Request::Count { prefix: prefix.into(), at },
        };
        match self.ask(request).await? {
            Reply::Found(found) => answer(found),
            reply => unfit(&reply),
        }
    }

    async fn put(&self, key: &str, value: &[u8], lease: i64) -> Result<Answer<()>, LineError> {
        self.ask(Request::Put { key: key.into(), value: value.to_vec(), lease }).await?;
        answer(())
    }

    async fn delete_all(&self, prefix: &str) -> Result<Answer<()>, LineError> {
        self.ask(Request::DeleteAll { prefix: prefix.into() }).await?;
        answer(())
    }

    async fn grant(&self, ttl: i64) -> Result<Answer<(i64, i64)>, LineError> {
        let id = lock(&self.world).new_lease(self.way);
        match self.ask(Request::Grant { id, ttl }).await? {
            Reply::Granted { id, ttl } => answer((id, ttl)),
            reply => unfit(&reply),
        }
    }

    async fn revoke(&self, lease: i64) -> Result<Answer<()>, LineError> {
        self.ask(Request::Revoke { lease }).await?;
        answer(())
    }

    async fn renew(&self, lease: i64) -> Result<bool, LineError> {
        match self.ask(Request::Renew { lease }).await? {
            Reply::Renewed(lives) => Ok(lives),
            reply => unfit(&reply),
        }
    }

    async fn watch(&self, first: Wanted<'_>) -> Result<WayStream, LineError> {
        self.pause.over().await;
        WayStream::open(self, first).await
    }
}
