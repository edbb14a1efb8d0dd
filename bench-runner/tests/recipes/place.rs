//! Where a test takes place: an ensemble of three nodes that no other test uses meanwhile, since the servers' counters are
//! about all that happens on them.
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bench_runner::ensemble::{Ensemble, ZookeeperSettings, keeper};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle};
use workloads::recipe::{Grant, Lock, Observer, RecipeError};
use workloads::zookeeper::session::{Client, Session, SessionError};

/// How long a condition may take to come true before a test fails. No test asserts a time.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The longest session that the servers grant at their tick: a busy machine does not end it.
pub const LONG: Duration = Duration::from_secs(10);
/// A session that is to expire.
pub const SHORT: Duration = Duration::from_secs(1);

/// One runtime for all tests, because it must live as long as the ensemble that they share.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
/// Tests that wait for their turn hold the ensemble as well, so that it lives until the last of them is over.
static SHARED: Mutex<Weak<Ensemble>> = Mutex::const_new(Weak::new());
static TURN: Mutex<()> = Mutex::const_new(());
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A running ensemble and a path of the test's own on it.
pub struct Place {
    pub ensemble: Arc<Ensemble>,
    /// Where the test's locks are to be; nothing exists there in the beginning.
    pub base: String,
    /// Looks and deletes on the test's behalf; takes part in nothing.
    pub steward: Client,
}

/// Runs a test on the shared ensemble, which is at rest before and must come to rest afterwards.
pub fn on_ensemble(test: impl AsyncFnOnce(&Place)) {
    RUNTIME.block_on(async {
        let ensemble = shared().await;
        {
            let _turn = TURN.lock().await;
            take_place(&ensemble, test).await;
        }
        if let Some(last) = Arc::into_inner(ensemble) {
            last.stop().await.unwrap();
        }
    });
}

/// Runs a test on one node of its own with further flags for its JVM.
pub fn on_ensemble_with(jvm_flags: &[&str], test: impl AsyncFnOnce(&Place)) {
    on_ensemble_of(1, jvm_flags, test);
}

/// Runs a test on nodes of its own, with further flags for their JVMs.
pub fn on_ensemble_of(nodes: u32, jvm_flags: &[&str], test: impl AsyncFnOnce(&Place)) {
    RUNTIME.block_on(async {
        let _turn = TURN.lock().await;
        let ensemble = Arc::new(start(nodes, jvm_flags).await);
        take_place(&ensemble, test).await;
        Arc::into_inner(ensemble).unwrap().stop().await.unwrap();
    });
}

async fn take_place(ensemble: &Arc<Ensemble>, test: impl AsyncFnOnce(&Place)) {
    ensemble.settled(0, 0, PATIENCE).await.expect("nothing is left of the test before");
    let steward = Client::connect(&ensemble.connect_string(), LONG).await.unwrap();
    let base = format!("/test-{}/lock", NEXT.fetch_add(1, Ordering::Relaxed));
    let place = Place { ensemble: Arc::clone(ensemble), base, steward };
    test(&place).await;
    drop(place);
    ensemble.settled(0, 0, PATIENCE).await.expect("the test's sessions and watches go");
}

async fn shared() -> Arc<Ensemble> {
    let mut shared = SHARED.lock().await;
    if let Some(ensemble) = shared.upgrade() {
        return ensemble;
    }
    let ensemble = Arc::new(start(3, &[]).await);
    *shared = Arc::downgrade(&ensemble);
    ensemble
}

async fn start(nodes: u32, jvm_flags: &[&str]) -> Ensemble {
    keeper::set_program(env!("CARGO_BIN_EXE_bench-runner"));
    let jvm_flags = jvm_flags.iter().map(ToString::to_string).collect();
    let heap = "128m".into();
    let settings = ZookeeperSettings { nodes, heap, fsync: false, jvm_flags, ..ZookeeperSettings::default() };
    Ensemble::start(settings, &|_| {}).await.unwrap()
}

impl Place {
    /// A session with any of the nodes.
    pub async fn session(&self) -> Client {
        Client::connect(&self.ensemble.connect_string(), LONG).await.unwrap()
    }

    /// The names in the queue, in its order.
    pub async fn entries(&self) -> Vec<String> {
        self.steward.sync(&self.base).await.unwrap();
        match self.steward.children(&self.base).await {
            Ok(mut names) => {
                // Ten digits at the end, whatever is before them.
                names.sort_by_key(|name| name.get(name.len().saturating_sub(10)..).map(str::to_owned));
                names
            }
            Err(SessionError::NoNode) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until the queue has so many entries, and tells them.
    pub async fn queued(&self, count: usize) -> Vec<String> {
        let mut entries = Vec::new();
        eventually(&format!("{count} entries"), async || {
            entries = self.entries().await;
            entries.len() == count
        })
        .await;
        entries
    }

    /// Waits until so many watches stand on the servers.
    pub async fn watched(&self, count: u64) {
        eventually(&format!("{count} watches"), async || self.ensemble.counters().await.unwrap().watches == count)
            .await;
    }

    /// That neither an entry nor a watch is left, although the sessions that made them may live on.
    pub async fn left_clean(&self) {
        self.queued(0).await;
        self.watched(0).await;
    }
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("not after {PATIENCE:?}: {what}"));
}

/// An observer that remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    pub enqueued: u32,
    pub woken: u32,
}

impl Observer for Notes {
    fn enqueued(&mut self) {
        self.enqueued += 1;
    }

    fn woken(&mut self) {
        self.woken += 1;
    }
}

/// A task that ends with whoever waits for it, so that a test that fails leaves no session to the next.
pub struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Drops what it is doing, which must not be done yet.
    pub async fn cancel(mut self) {
        self.0.abort();
        let ended = (&mut self.0).await;
        assert!(ended.is_err_and(|error| error.is_cancelled()), "it was to wait until it is cancelled");
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Acquires in a task of its own; hands the lock back for the release.
pub fn acquiring<L: Lock + 'static>(mut lock: L) -> Task<(L, Result<Grant, RecipeError>, Notes)> {
    Task(RUNTIME.spawn(async move {
        let mut notes = Notes::default();
        let outcome = lock.acquire(&mut notes).await;
        (lock, outcome, notes)
    }))
}

/// Acquires and waits for the grant, but not for ever.
pub async fn acquire(lock: &mut impl Lock) -> Grant {
    within(lock.acquire(&mut Notes::default())).await.unwrap()
}

/// The outcome of something that must come to an end.
pub async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it comes to an end")
}
