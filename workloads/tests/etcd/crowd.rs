//! More workers than any test has servers for.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use tokio::task::JoinSet;
use workloads::chaos::{self, Trace, Weather};
use workloads::etcd::SequentialLock;
use workloads::etcd::memory::{Ensemble, Settings};
use workloads::recipe::{Lock, Observer};

struct Woken(Arc<AtomicU64>);

impl Observer for Woken {
    fn enqueued(&mut self) {}

    fn woken(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Each worker is granted the lock once, in the order of the tokens, and is woken once at most.
fn pass_through_one_lock(workers: u64) {
    chaos::run(0, || async move {
        // Leases that are not renewed meanwhile: that is not the question.
        let settings = Settings { ttl: Duration::from_secs(3600), ..Settings::new(Weather::STILL) };
        let ensemble = Ensemble::start(0, settings, Trace::off());
        let (last, woken) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicU64::new(0)));
        let mut all = JoinSet::new();
        for _ in 0..workers {
            let (ensemble, last, mut observer) = (ensemble.clone(), Arc::clone(&last), Woken(Arc::clone(&woken)));
            all.spawn(async move {
                let session = ensemble.connect().await.unwrap();
                let mut lock = SequentialLock::new(session, "/crowd");
                let grant = lock.acquire(&mut observer).await.unwrap();
                assert!(last.swap(grant.token, SeqCst) < grant.token);
                lock.release(grant).await.unwrap();
            });
        }
        let mut granted = 0;
        while let Some(worker) = all.join_next().await {
            worker.unwrap();
            granted += 1;
        }
        assert_eq!(granted, workers);
        assert_eq!(woken.load(SeqCst), ensemble.counters().notifications);
        assert!(woken.load(SeqCst) < workers);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((ensemble.below("/crowd"), ensemble.counters().watches), (Vec::new(), 0));
    });
}

#[test]
fn two_thousand_workers_pass_through_one_sequential_lock() {
    pass_through_one_lock(2_000);
}
