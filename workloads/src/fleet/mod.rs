//! All workers of one trial: connected in a bounded ramp, started together, stopped, and sent home.
//!
//! The order of a trial, which keeps connecting and tearing down out of the books:
//!
//! 1. [`Fleet::connect`]: one session for each worker;
//! 2. [`Fleet::start`]: the recorder opens and all workers begin;
//! 3. [`Fleet::stop`]: nobody begins anything new, and whoever holds a lock keeps it, so that the ensemble comes to rest;
//! 4. [`Fleet::come_to_rest`]: waits until nothing is sent or notified any more; now the servers' counters may be read;
//! 5. [`Fleet::finish`]: closes the books and ends the workers, each writing down the acquisition it was in;
//! 6. [`Fleet::disconnect`]: closes the sessions and removes what the trial left on the servers.

//!
//! All of it is the same for both services; what differs is behind a `Host`, in `zookeeper` and `etcd`.

mod etcd;
mod host;
mod zookeeper;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use self::host::{Host, Steward};
use crate::recipe::Lock;
use crate::record::{Recorder, Recording};
use crate::settings::{Recipe, Service, WorkerSettings};
use crate::worker::{Plan, Worker};

/// Where the workers go.
#[derive(Clone, Debug)]
pub struct Target {
    /// The service behind the endpoints.
    pub service: Service,
    /// The servers, `host:port`, separated by commas.
    pub endpoints: String,
    /// The path below which everything happens that this trial does. Removed in the end.
    pub root: String,
}

/// Why the workers could not be brought up or sent home.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Some workers got no session.
    #[error("{failed} of {workers} workers got no session; the first error: {first}")]
    Connect {
        /// How many failed.
        failed: u32,
        /// How many were to connect.
        workers: u32,
        /// What the first of them was told.
        first: String,
    },
    /// The znodes or keys around the locks could not be made or removed.
    #[error("cannot prepare {root} on the servers: {told}")]
    Prepare {
        /// The trial's root.
        root: String,
        /// What the servers answered.
        told: String,
    },
}

/// Failures of workers: what they were told, and how many of them.
pub type Failures = BTreeMap<String, u64>;

/// The workers of one trial, each with its own session.
pub struct Fleet {
    plan: Arc<Plan>,
    recorder: Arc<Recorder>,
    target: Target,
    /// Makes and removes what is above the locks; contends for nothing.
    steward: Steward,
    start: watch::Sender<bool>,
    workers: JoinSet<()>,
    done: Arc<AtomicU32>,
    failures: Arc<Mutex<Failures>>,
}

impl Fleet {
    /// Opens a session for each worker, `connect_concurrency` at a time, and leaves them waiting for the start.
    /// `connected` counts up as they come, for a progress display.
    ///
    /// # Errors
    ///
    /// [`FleetError`]; sessions that were opened are closed again.
    pub async fn connect(
        target: Target,
        settings: &WorkerSettings,
        plan: Arc<Plan>,
        connected: Arc<AtomicU32>,
    ) -> Result<Fleet, FleetError> {
        match target.service {
            Service::Zookeeper => {
                let host = zookeeper::ZookeeperHost::new(&target, settings, &plan.recorder);
                Fleet::bring_up(host, target, settings, plan, connected).await
            }
            Service::Etcd => {
                let host = etcd::EtcdHost::new(&target, settings, &plan.recorder);
                Fleet::bring_up(host, target, settings, plan, connected).await
            }
        }
    }

    async fn bring_up<H: Host>(
        host: H,
        target: Target,
        settings: &WorkerSettings,
        plan: Arc<Plan>,
        connected: Arc<AtomicU32>,
    ) -> Result<Fleet, FleetError> {
        let bases: Vec<String> =
            (0..settings.resources.max(1)).map(|resource| lock_base(&target.root, resource)).collect();
        let steward = host.steward().await.map_err(|first| FleetError::Connect { failed: 1, workers: 1, first })?;
        let sessions = connect_all(&host, settings, connected).await?;
        // Last, so that a fleet which could not be connected leaves nothing on the servers.
        let made = steward.make(&bases).await;
        made.map_err(|told| FleetError::Prepare { root: target.root.clone(), told })?;
        let (start, _) = watch::channel(false);
        let mut fleet = Fleet {
            recorder: Arc::clone(&plan.recorder),
            plan,
            target,
            steward,
            start,
            workers: JoinSet::new(),
            done: Arc::default(),
            failures: Arc::default(),
        };
        for (number, session) in (0..).zip(sessions) {
            let resource = number % settings.resources.max(1);
            let base = &bases[resource as usize];
            if settings.recipe == Recipe::IdleSession {
                fleet.keep_idle(session);
            } else if let Some(contender) = host.contender(settings.recipe, session, base) {
                fleet.employ(number, resource, contender);
            }
        }
        Ok(fleet)
    }

    /// Puts a worker to its task, which begins with the start and keeps its session when it is done, so that no session
    /// closes while the trial is measured.
    fn employ(&mut self, number: u32, resource: u32, lock: impl Lock + 'static) {
        let mut worker = Worker { number, resource, lock, plan: Arc::clone(&self.plan) };
        let mut start = self.start.subscribe();
        let done = Arc::clone(&self.done);
        let failures = Arc::clone(&self.failures);
        self.workers.spawn(async move {
            // An error means that the fleet is gone before it started.
            if start.wait_for(|started| *started).await.is_err() {
                return;
            }
            if let Err(error) = worker.run().await {
                let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                *failures.entry(error.to_string()).or_default() += 1;
            }
            done.fetch_add(1, Ordering::AcqRel);
            std::future::pending::<()>().await;
        });
    }

    fn keep_idle(&mut self, session: impl Send + 'static) {
        self.workers.spawn(async move {
            std::future::pending::<()>().await;
            drop(session);
        });
    }

    /// Opens the books and lets all workers begin at once.
    pub fn start(&self) {
        self.recorder.open();
        self.start.send_replace(true);
    }

    /// How many workers have nothing left to do: all of them once a drain is over, or those whose session was lost.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Acquire)
    }

    /// What went wrong so far.
    pub fn failures(&self) -> Failures {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the measured time; see the module's documentation.
    pub fn stop(&self) {
        self.plan.stop();
    }

    /// Waits until the counts have not changed for a while: every request is answered and every notification delivered.
    /// `false` if that did not happen within `limit`.
    pub async fn come_to_rest(&self, limit: Duration) -> bool {
        const STILL: Duration = Duration::from_millis(300);
        const LOOK: Duration = Duration::from_millis(20);
        let deadline = tokio::time::Instant::now() + limit;
        let mut last = self.recorder.tally();
        let mut since = tokio::time::Instant::now();
        while since.elapsed() < STILL {
            if tokio::time::Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(LOOK).await;
            let now = self.recorder.tally();
            if now != last {
                last = now;
                since = tokio::time::Instant::now();
            }
        }
        true
    }

    /// Closes the books and ends the workers. `length` is how long the measured time was, in nanoseconds.
    pub async fn finish(&mut self, length: u64) -> Recording {
        self.recorder.close();
        self.workers.shutdown().await;
        self.recorder.finish(length)
    }

    /// Closes the sessions and removes the trial's root from the servers.
    ///
    /// # Errors
    ///
    /// [`FleetError::Prepare`] when the root could not be removed.
    pub async fn disconnect(mut self) -> Result<(), FleetError> {
        self.workers.shutdown().await;
        let root = self.target.root.clone();
        self.steward.remove(&root).await.map_err(|told| FleetError::Prepare { root, told })
    }
}

fn lock_base(root: &str, resource: u32) -> String {
    format!("{root}/lock-{resource}")
}

/// Opens the sessions of all workers, in the order of their numbers or not.
async fn connect_all<H: Host>(
    host: &H,
    settings: &WorkerSettings,
    connected: Arc<AtomicU32>,
) -> Result<Vec<H::Session>, FleetError> {
    let gate = Arc::new(Semaphore::new(settings.connect_concurrency.max(1) as usize));
    let mut connecting = JoinSet::new();
    for number in 0..settings.workers {
        let gate = Arc::clone(&gate);
        let host = host.clone();
        let connected = Arc::clone(&connected);
        connecting.spawn(async move {
            // The gate is never closed, so a permit always comes.
            let _permit = gate.acquire().await;
            let session = host.connect(number).await?;
            connected.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(session)
        });
    }
    let mut sessions = Vec::with_capacity(settings.workers as usize);
    let mut failed = 0;
    let mut first = None;
    while let Some(outcome) = connecting.join_next().await {
        match outcome {
            Ok(Ok(session)) => sessions.push(session),
            Ok(Err(error)) => {
                failed += 1;
                first.get_or_insert(error);
            }
            // The task is never aborted, so it panicked.
            Err(panic) => {
                failed += 1;
                first.get_or_insert(panic.to_string());
            }
        }
    }
    match first {
        None => Ok(sessions),
        Some(first) => Err(FleetError::Connect { failed, workers: settings.workers, first }),
    }
}
