//! What the tests of sessions and recipes share.

use std::future::Future;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bench_runner::ensemble::Ensemble;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use workloads::etcd::session::{Client, Connection, Session, Tap, Untapped};
use workloads::etcd::{self, NaiveLock, SequentialLock};
use workloads::recipe::{Grant, Lock, Observer, RecipeError};
use workloads::settings::Recipe;

use super::{PATIENCE, settings, start};

/// The ttl of the tests' leases: short, so that an expiry is not long in coming, and longer than etcd's shortest.
pub const TTL: Duration = Duration::from_secs(5);

/// A queue of its own for each test.
pub const BASE: &str = "/tests/lock";

/// Three nodes.
pub async fn three_nodes() -> Ensemble {
    start(settings(3)).await.unwrap()
}

/// Those that queue, each watching its predecessor alone.
pub const QUEUES: [Recipe; 3] = [Recipe::SequentialLock, Recipe::LeaderLatch, Recipe::LeaderSelector];

/// Those whose waiters all watch one key.
pub const HERDS: [Recipe; 2] = [Recipe::NaiveLock, Recipe::NaiveElection];

/// A session over a connection of its own that begins at the node at place `first`.
pub async fn session_at(endpoints: &str, first: usize) -> Client {
    tapped_session_at(endpoints, first, Arc::new(Untapped)).await
}

/// As [`session_at`], with a lease that is not to end: a busy machine may keep a session waiting for longer than [`TTL`].
pub async fn lasting_session_at(endpoints: &str, first: usize) -> Client {
    let connection = Connection::new(endpoints, first).await.unwrap();
    Client::open(Arc::new(connection), 4 * TTL, Arc::new(Untapped)).await.unwrap()
}

/// As [`session_at`], counted.
pub async fn tapped_session_at(endpoints: &str, first: usize, tap: Arc<dyn Tap>) -> Client {
    let connection = Connection::new(endpoints, first).await.unwrap();
    Client::open(Arc::new(connection), TTL, tap).await.unwrap()
}

/// Counts what an acquire tells.
#[derive(Clone, Default)]
pub struct Seen {
    pub enqueued: Arc<AtomicU32>,
    pub woken: Arc<AtomicU32>,
}

impl Observer for Seen {
    fn enqueued(&mut self) {
        self.enqueued.fetch_add(1, Ordering::SeqCst);
    }

    fn woken(&mut self) {
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

/// A contender whose acquire runs in a task of its own.
pub struct Contender<L> {
    pub lease: i64,
    pub seen: Seen,
    /// Ends with the lock and what became of the acquire.
    pub task: JoinHandle<(L, Result<Grant, RecipeError>)>,
}

impl<L: Lock + 'static> Contender<L> {
    /// Lets `lock`, of the session with this lease, acquire.
    pub fn begin(lease: i64, mut lock: L) -> Self {
        let seen = Seen::default();
        let mut observer = seen.clone();
        let task = tokio::spawn(async move {
            let outcome = lock.acquire(&mut observer).await;
            (lock, outcome)
        });
        Contender { lease, seen, task }
    }

    /// Waits until it stands in the queue.
    pub async fn enqueued(self) -> Self {
        eventually("it is in the queue", async || self.seen.enqueued.load(Ordering::SeqCst) > 0).await;
        self
    }

    /// What became of the acquire.
    pub async fn outcome(self) -> (L, Result<Grant, RecipeError>) {
        timeout(PATIENCE, self.task).await.expect("the acquire ends").unwrap()
    }

    /// The grant.
    pub async fn granted(self) -> (L, Grant) {
        let (lock, outcome) = self.outcome().await;
        (lock, outcome.unwrap())
    }
}

/// Takes out whoever is granted first; where all watch one key, nobody knows who that will be.
pub async fn first_of<L: Lock + 'static>(contenders: &mut Vec<Contender<L>>) -> Contender<L> {
    let ended = |contender: &Contender<L>| contender.task.is_finished();
    eventually("one of them is granted", async || contenders.iter().any(ended)).await;
    let place = contenders.iter().position(ended).unwrap();
    contenders.remove(place)
}

/// A contender in this recipe.
pub fn contending(recipe: Recipe, session: Client) -> Contender<etcd::Contender<Client>> {
    Contender::begin(session.lease(), etcd::Contender::new(recipe, session, BASE, false).unwrap())
}

/// A contender for the sequential lock.
pub fn sequential(session: Client) -> Contender<SequentialLock<Client>> {
    Contender::begin(session.lease(), SequentialLock::new(session, BASE))
}

/// A contender for the naive lock.
pub fn naive(session: Client) -> Contender<NaiveLock<Client>> {
    Contender::begin(session.lease(), NaiveLock::new(session, BASE))
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, condition: impl AsyncFn() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("not after {PATIENCE:?}: {what}"));
}

/// Waits until so many watches stand.
pub async fn watched(ensemble: &Ensemble, count: u64) {
    eventually("so many watches", async || ensemble.counters().await.is_ok_and(|counters| counters.watches == count))
        .await;
}

/// Polls a future once, and hands it back where it is not ready.
pub fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// `etcdctl` of the same servers; what it prints.
pub fn etcdctl(ensemble: &Ensemble, arguments: &[&str]) -> String {
    let output = etcdctl_command(ensemble).args(arguments).output().expect("etcdctl is installed");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// `etcdctl` of the same servers, without arguments yet.
pub fn etcdctl_command(ensemble: &Ensemble) -> Command {
    let mut command = Command::new("etcdctl");
    command.env("ETCDCTL_API", "3").args(["--endpoints", &ensemble.connect_string()]);
    command
}

/// The keys of the queue, in the order of their creation.
pub fn queue(ensemble: &Ensemble) -> Vec<String> {
    let listed = etcdctl(ensemble, &["get", "--prefix", BASE, "--keys-only", "--sort-by=CREATE"]);
    listed.lines().filter(|line| !line.is_empty()).map(String::from).collect()
}

/// Ends a lease from outside, and with it all its keys.
pub fn revoke(ensemble: &Ensemble, lease: i64) {
    etcdctl(ensemble, &["lease", "revoke", &format!("{lease:x}")]);
}
