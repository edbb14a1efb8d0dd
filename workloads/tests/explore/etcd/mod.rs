//! etcd in memory, the recipes on it, and their mutants.

pub mod mutants;

use std::sync::Arc;
use std::time::Duration;

use workloads::chaos::{Trace, Weather};
use workloads::etcd::memory::{Ensemble, MemorySession, Settings};
use workloads::etcd::session::Session;
use workloads::etcd::{
    DoubleBarrier, LeaderLatch, LeaderSelector, NaiveDoubleBarrier, NaiveElection, NaiveLock, SequentialLock,
    SingleBarrier,
};

use crate::contend;
use crate::meet::{self, Kind};
use crate::service::{BASE, Deadline, Remains, Service};
use crate::subject::Subject;
use crate::wait;

#[derive(Clone)]
pub struct Etcd(pub Ensemble);

impl Service for Etcd {
    type Session = MemorySession;

    const NAME: &str = "etcd";
    const TIMEOUT: Duration = Duration::from_millis(4000);

    fn start(seed: u64, weather: Weather, trace: Trace) -> Self {
        // No late requests: a create of an absent key that is carried out after its worker has gone on succeeds, since etcd keeps
        // no order over the connections of a client; it leaves a key until its lease ends. `docs/proof.md` tells of it.
        let weather = Weather { late_requests: 0, ..weather };
        let settings = Settings { ttl: Self::TIMEOUT, ..Settings::new(weather) };
        Etcd(Ensemble::start(seed, settings, trace))
    }

    async fn open(&self) -> MemorySession {
        loop {
            match self.0.connect().await {
                Ok(session) => return session,
                // The weather is too rough; it will be calm some time.
                Err(_) => continue,
            }
        }
    }

    fn key(session: &MemorySession) -> i64 {
        session.lease()
    }

    fn deadline(session: &MemorySession) -> Deadline {
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
        Remains { entries: self.0.below(base), watches: self.0.counters().watches }
    }
}

type S = MemorySession;

/// All recipes.
pub fn recipes() -> Vec<Subject> {
    let of = |recipe, run| Subject::new(Etcd::NAME, recipe, run);
    vec![
        of("lock/naive", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session: S, _| NaiveLock::new(session, BASE))
        }),
        of("lock/sequential", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session: S, _| SequentialLock::new(session, BASE))
        }),
        of("election/naive", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session: S, _| NaiveElection::new(session, BASE))
        }),
        of("election/leader-latch", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session: S, _| LeaderLatch::new(session, BASE))
        }),
        of("election/leader-selector", |seed, traced| {
            contend::run::<Etcd, _>(seed, traced, |session: S, _| LeaderSelector::new(session, BASE))
        }),
        of("barrier/single", |seed, traced| {
            wait::run::<Etcd, _>(seed, traced, |session: S| SingleBarrier::new(session, &format!("{BASE}/barrier")))
        }),
        of("barrier/double", |seed, traced| {
            meet::run::<Etcd, _>(seed, traced, Kind::LeavesNothing, |session: S, quantity| {
                DoubleBarrier::new(session, BASE, quantity)
            })
        }),
        of("barrier/double-naive", |seed, traced| {
            meet::run::<Etcd, _>(seed, traced, Kind::LeavesNothing, |session: S, quantity| {
                NaiveDoubleBarrier::new(session, BASE, quantity)
            })
        }),
    ]
}
