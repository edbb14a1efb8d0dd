//! A crowd: many workers, each with a session of its own, go through one sequential lock.
//!
//! All sessions are open from the beginning to the end, and each worker acquires once. How many stand in the queue at any
//! moment is limited: whoever joins it and whoever is woken in it lists its names, so that N workers who all join at once
//! list N² of them, which is the herd-free lock's own price and no property of the ensemble in memory.
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use tokio::sync::Semaphore;
use workloads::chaos::{self, Trace, Weather};
use workloads::recipe::{Lock, Observer};
use workloads::zookeeper::SequentialLock;

use crate::service::{BASE, Remains, Service};
use crate::zookeeper::Zookeeper;

#[derive(Default)]
struct Counts {
    inside: AtomicU64,
    grants: AtomicU64,
    highest: AtomicI64,
    woken: AtomicU64,
}

struct Woken(Arc<Counts>);

impl Observer for Woken {
    fn enqueued(&mut self) {}

    fn woken(&mut self) {
        self.0.woken.fetch_add(1, Relaxed);
    }
}

/// Lets `workers` through, `queue` of them at a time, and prints what it took.
pub fn run(workers: usize, queue: usize) -> ExitCode {
    let started = Instant::now();
    let counts = chaos::run(0, || async move {
        let service = Zookeeper::start(0, Weather::STILL, Trace::off());
        let counts = Arc::new(Counts::default());
        let room = Arc::new(Semaphore::new(queue));
        let mut sessions = Vec::with_capacity(workers);
        for _ in 0..workers {
            sessions.push(service.open().await);
        }
        let tasks: Vec<_> = sessions
            .iter()
            .map(|session| {
                let mut lock = SequentialLock::new(session.clone(), BASE);
                let (counts, room) = (Arc::clone(&counts), Arc::clone(&room));
                tokio::spawn(async move {
                    let _place = room.acquire().await.unwrap();
                    let grant = lock.acquire(&mut Woken(Arc::clone(&counts))).await.unwrap();
                    assert_eq!(counts.inside.fetch_add(1, Relaxed), 0, "two at once");
                    assert!(counts.highest.swap(grant.token, Relaxed) < grant.token, "the tokens rise");
                    tokio::task::yield_now().await;
                    counts.grants.fetch_add(1, Relaxed);
                    counts.inside.fetch_sub(1, Relaxed);
                    lock.release(grant).await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        assert_eq!(service.remains(BASE), Remains::default());
        drop(sessions);
        counts
    });
    let (grants, woken) = (counts.grants.load(Relaxed), counts.woken.load(Relaxed));
    println!(
        "{workers} workers, each with a session of its own, {queue} of them in the queue at a time: \
         {grants} grants, {woken} wake-ups, {:.1} s",
        started.elapsed().as_secs_f64()
    );
    if grants == workers as u64 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
