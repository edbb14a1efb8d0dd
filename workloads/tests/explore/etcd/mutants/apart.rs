//! Sessions that renew their leases over another connection than all else goes over, as a client does that balances over
//! all servers: renewals are confirmed while a server that has fallen silent keeps the watches waiting.
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use workloads::access::Access;
use workloads::chaos::{Trace, Weather};
use workloads::etcd::memory::{Path, Way, WayStream};
use workloads::etcd::session::line::{Answer, Carrier, Line, LineError, Wanted};
use workloads::etcd::session::{Client, Found, Range, Session, Txn, TxnOutcome, Untapped};

use super::Etcd;
use crate::service::{Deadline, Remains, Service};

/// A client's way, and beside it that of its renewals, if they have one of their own.
pub struct Ways {
    main: Way,
    renewals: Option<Way>,
}

/// The two at a moment.
pub struct Paths {
    main: Arc<Path>,
    renewals: Option<Arc<Path>>,
}

impl Carrier for Ways {
    type Line = Paths;

    fn line(&self) -> Arc<Paths> {
        Arc::new(Paths { main: self.main.line(), renewals: self.renewals.as_ref().map(Way::line) })
    }

    async fn give_up(&self, line: &Arc<Paths>) {
        self.main.give_up(&line.main).await;
        if let (Some(renewals), Some(path)) = (&self.renewals, &line.renewals) {
            renewals.give_up(path).await;
        }
    }

    fn access(&self) -> &Access {
        self.main.access()
    }

    fn host(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.main.host(task);
    }
}

impl Line for Paths {
    type Stream = WayStream;

    fn gone(&self) -> &CancellationToken {
        self.main.gone()
    }

    async fn txn(&self, txn: Txn<'_>, lease: i64) -> Result<Answer<TxnOutcome>, LineError> {
        self.main.txn(txn, lease).await
    }

    async fn range(&self, range: Range<'_>) -> Result<Answer<Found>, LineError> {
        self.main.range(range).await
    }

    async fn put(&self, key: &str, value: &[u8], lease: i64) -> Result<Answer<()>, LineError> {
        self.main.put(key, value, lease).await
    }

    async fn delete_all(&self, prefix: &str) -> Result<Answer<()>, LineError> {
        self.main.delete_all(prefix).await
    }

    async fn grant(&self, ttl: i64) -> Result<Answer<(i64, i64)>, LineError> {
        self.main.grant(ttl).await
    }

    async fn revoke(&self, lease: i64) -> Result<Answer<()>, LineError> {
        self.main.revoke(lease).await
    }

    async fn renew(&self, lease: i64) -> Result<bool, LineError> {
        self.renewals.as_ref().unwrap_or(&self.main).renew(lease).await
    }

    async fn watch(&self, first: Wanted<'_>) -> Result<WayStream, LineError> {
        self.main.watch(first).await
    }
}

/// etcd, as seen by such clients, or (not `APART`) by those that renew over the connection that they use: a control.
#[derive(Clone)]
pub struct Renewed<const APART: bool>(Etcd);

impl<const APART: bool> Service for Renewed<APART> {
    type Session = Client<Ways>;

    const NAME: &str = Etcd::NAME;
    const TIMEOUT: Duration = Etcd::TIMEOUT;

    fn start(seed: u64, weather: Weather, trace: Trace) -> Self {
        Renewed(Etcd::start(seed, weather, trace))
    }

    async fn open(&self) -> Client<Ways> {
        loop {
            let ensemble = &self.0.0;
            let ways = Ways { main: ensemble.way(), renewals: APART.then(|| ensemble.way()) };
            if let Ok(session) = Client::open(Arc::new(ways), Self::TIMEOUT, Arc::new(Untapped)).await {
                return session;
            }
        }
    }

    fn key(session: &Client<Ways>) -> i64 {
        session.lease()
    }

    fn deadline(session: &Client<Ways>) -> Deadline {
        let deadline = session.deadline();
        Arc::new(move || deadline.moment())
    }

    fn pause(&self, key: i64, length: Duration) {
        self.0.pause(key, length);
    }

    async fn awake(&self, key: i64) {
        self.0.awake(key).await;
    }

    fn crash(&self, key: i64) {
        self.0.crash(key);
    }

    fn is_over(&self, key: i64) -> bool {
        self.0.is_over(key)
    }

    fn remains(&self, base: &str) -> Remains {
        self.0.remains(base)
    }
}
