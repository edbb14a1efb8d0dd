//! Workers that share a lease: etcd knows them for one, and each finds the key of the others to be its own.
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use workloads::chaos::{Trace, Weather};
use workloads::etcd::memory::MemorySession;
use workloads::etcd::session::Session;

use super::Etcd;
use crate::service::{Deadline, Remains, Service};

#[derive(Clone)]
pub struct SharedLease {
    etcd: Etcd,
    session: Arc<Mutex<Option<MemorySession>>>,
}

impl Service for SharedLease {
    type Session = MemorySession;

    const NAME: &str = Etcd::NAME;
    const TIMEOUT: Duration = Etcd::TIMEOUT;

    fn start(seed: u64, weather: Weather, trace: Trace) -> Self {
        SharedLease { etcd: Etcd::start(seed, weather, trace), session: Arc::default() }
    }

    async fn open(&self) -> MemorySession {
        let mut shared = self.session.lock().await;
        match &*shared {
            Some(session) if session.check().is_ok() => session.clone(),
            _ => shared.insert(self.etcd.open().await).clone(),
        }
    }

    fn key(session: &MemorySession) -> i64 {
        Etcd::key(session)
    }

    fn deadline(session: &MemorySession) -> Deadline {
        Etcd::deadline(session)
    }

    fn pause(&self, key: i64, length: Duration) {
        self.etcd.pause(key, length);
    }

    async fn awake(&self, key: i64) {
        self.etcd.awake(key).await;
    }

    fn crash(&self, key: i64) {
        self.etcd.crash(key);
    }

    fn is_over(&self, key: i64) -> bool {
        self.etcd.is_over(key)
    }

    fn remains(&self, base: &str) -> Remains {
        self.etcd.remains(base)
    }
}
