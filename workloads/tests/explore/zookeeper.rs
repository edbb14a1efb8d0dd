//! ZooKeeper in memory, and the recipes on it.
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use workloads::chaos::{Trace, Weather};
use workloads::zookeeper::memory::{Ensemble, MemorySession, Settings};
use workloads::zookeeper::session::Session;
use workloads::zookeeper::{
    DoubleBarrier, LeaderLatch, LeaderSelector, NaiveDoubleBarrier, NaiveElection, NaiveLock, SequentialLock,
    SingleBarrier,
};

use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Deadline, Remains, Service};
use crate::subject::Subject;
use crate::wait;

#[derive(Clone)]
pub struct Zookeeper(pub Ensemble);

impl Service for Zookeeper {
    type Session = MemorySession;

    const NAME: &str = "zookeeper";
    const TIMEOUT: Duration = Duration::from_millis(4000);

    fn start(seed: u64, weather: Weather, trace: Trace) -> Self {
        let settings = Settings { timeout: Self::TIMEOUT, ..Settings::new(weather) };
        Zookeeper(Ensemble::start(seed, settings, trace))
    }

    async fn open(&self) -> MemorySession {
        self.0.connect()
    }

    fn key(session: &MemorySession) -> i64 {
        session.id()
    }

    fn deadline(_: &MemorySession) -> Deadline {
        // A suspended connection is told of long before the session ends, so that a worker who could be told has stood still for
        // all of a session.
        Arc::new(|| Instant::now() + Self::TIMEOUT)
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
        Remains { entries: self.0.below(base), watches: self.0.counters().watches }
    }
}

/// All recipes.
pub fn recipes() -> Vec<Subject> {
    type S = MemorySession;
    let of = |recipe, run| Subject::new(Zookeeper::NAME, recipe, run);
    vec![
        of("lock/naive", |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session: S, _| NaiveLock::new(session, BASE))
        }),
        of("lock/sequential", |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session: S, _| SequentialLock::new(session, BASE))
        }),
        of("election/naive", |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session: S, _| NaiveElection::new(session, BASE))
        }),
        of("election/leader-latch", |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session: S, _| LeaderLatch::new(session, BASE, "explorer"))
        }),
        of("election/leader-selector", |seed, traced| {
            contend::run::<Zookeeper, _>(seed, traced, |session: S, requeue| {
                LeaderSelector::new(session, BASE, requeue)
            })
        }),
        of("barrier/single", |seed, traced| {
            wait::run::<Zookeeper, _>(seed, traced, |session: S| {
                SingleBarrier::new(session, &format!("{BASE}/barrier"))
            })
        }),
        of("barrier/double", |seed, traced| {
            meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesNothing, |session: S, quantity| {
                DoubleBarrier::new(session, BASE, quantity)
            })
        }),
        of("barrier/double-naive", |seed, traced| {
            meet::run::<Zookeeper, _>(seed, traced, Kind::LeavesItsWatch, |session: S, quantity| {
                NaiveDoubleBarrier::new(session, BASE, quantity)
            })
        }),
    ]
}
