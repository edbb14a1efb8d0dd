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
//!
//! | module | what it is |
//! |---|---|
//! | `host` | what a fleet needs of a service |
//! | `crew` | what the workers run on: tasks, or a thread for each |
//! | `post` | one worker's post: connects, works, does what it is told |
//! | [`orders`] | what a worker can be told: the faults that strike it |
//! | [`faults`] | whom a fault strikes, and how |
//! | `pool` | what several workers share |
//! | `relay` | a worker's line to the servers, where it is to be cut |

mod crew;
mod etcd;
pub mod faults;
mod host;
pub mod orders;
mod pool;
mod post;
mod relay;
mod zookeeper;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};

use self::crew::Crew;
use self::host::{Host, Steward};
use self::post::{Post, Shared, Wire};
use self::relay::Relay;
use crate::access::Access;
use crate::member;
use crate::record::{Recorder, Recording};
use crate::settings::{Mode, Recipe, Service, WorkerSettings};
use crate::worker::Plan;

/// Where the workers go.
#[derive(Clone, Debug)]
pub struct Target {
    /// The service behind the endpoints.
    pub service: Service,
    /// The servers, `host:port`, separated by commas.
    pub endpoints: String,
    /// The path below which everything happens that this trial does. Removed in the end.
    pub root: String,
    /// How one gets at them.
    pub access: Access,
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
    crew: Crew,
    shared: Arc<Shared>,
    /// What the workers can be reached by, in the order of their numbers; empty where no faults are to come.
    wires: Vec<Wire>,
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
        let bases = bases(&target.root, settings);
        let refused = |first| FleetError::Connect { failed: 1, workers: settings.workers, first };
        let steward = host.steward().await.map_err(|first| FleetError::Connect { failed: 1, workers: 1, first })?;
        let wires = wires(&target, settings).await.map_err(|error| refused(error.to_string()))?;
        let shared = Arc::new(Shared {
            plan: Arc::clone(&plan),
            recipe: settings.recipe,
            workers: settings.workers,
            gate: Semaphore::new(settings.connect_concurrency.max(1) as usize),
            connected,
            done: AtomicU32::new(0),
            failures: Mutex::default(),
        });
        let shared_bases: Vec<Arc<str>> = match settings.recipe.is_barrier() {
            true => vec![target.root.as_str().into()],
            false => bases.iter().map(|base| base.as_str().into()).collect(),
        };
        let (start, started) = watch::channel(false);
        let (report, reports) = mpsc::unbounded_channel();
        let mut crew = Crew::new(settings.precautions.pause);
        for number in 0..settings.workers {
            let resource = number % shared_bases.len() as u32;
            let post = Post {
                host: host.clone(),
                shared: Arc::clone(&shared),
                number,
                resource,
                base: Arc::clone(&shared_bases[resource as usize]),
                wire: wires.get(number as usize).cloned(),
                start: started.clone(),
            };
            crew.employ(post.work(report.clone())).map_err(|error| refused(format!("no thread for it: {error}")))?;
        }
        drop(report);
        let connected = all_connected(reports, settings.workers).await;
        if let Err(error) = connected {
            crew.shutdown().await;
            return Err(error);
        }
        // Last, so that a fleet which could not be connected leaves nothing on the servers.
        let made = steward.make(&bases).await;
        made.map_err(|told| FleetError::Prepare { root: target.root.clone(), told })?;
        Ok(Fleet { recorder: Arc::clone(&plan.recorder), plan, target, steward, start, crew, shared, wires })
    }

    /// Opens the books and lets all workers begin at once.
    pub fn start(&self) {
        self.recorder.open();
        self.start.send_replace(true);
    }

    /// How many workers have nothing left to do: all of them once a drain is over, or those whose session was lost.
    pub fn done(&self) -> u32 {
        self.shared.done.load(Ordering::Acquire)
    }

    /// What went wrong so far.
    pub fn failures(&self) -> Failures {
        self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        self.crew.shutdown().await;
        self.recorder.finish(length)
    }

    /// Closes the sessions and removes the trial's root from the servers.
    ///
    /// # Errors
    ///
    /// [`FleetError::Prepare`] when the root could not be removed.
    pub async fn disconnect(mut self) -> Result<(), FleetError> {
        self.crew.shutdown().await;
        let root = self.target.root.clone();
        self.steward.remove(&root).await.map_err(|told| FleetError::Prepare { root, told })
    }
}

/// What has to be there before the workers start: what is above their znodes.
fn bases(root: &str, settings: &WorkerSettings) -> Vec<String> {
    match (settings.mode, settings.recipe) {
        // The barrier is the znode itself.
        (Mode::Barriers { .. }, Recipe::SingleBarrier) => vec![root.to_owned()],
        (Mode::Barriers { barriers, .. }, Recipe::NaiveDoubleBarrier) => {
            (0..barriers).map(|barrier| format!("{}/members", member::base(root, barrier))).collect()
        }
        (Mode::Barriers { barriers, .. }, _) => (0..barriers).map(|barrier| member::base(root, barrier)).collect(),
        _ => (0..settings.resources.max(1)).map(|resource| format!("{root}/lock-{resource}")).collect(),
    }
}

/// What each worker can be reached by: nothing, where no faults are to come.
async fn wires(target: &Target, settings: &WorkerSettings) -> io::Result<Vec<Wire>> {
    let mut wires = Vec::new();
    if !settings.precautions.faults {
        return Ok(wires);
    }
    let servers: Vec<String> = target.endpoints.split(',').map(str::to_owned).collect();
    for number in 0..settings.workers as usize {
        let relay = match settings.precautions.cut {
            true => Some(Arc::new(Relay::open(servers.clone(), number).await?)),
            false => None,
        };
        wires.push(Wire { relay, ..Wire::default() });
    }
    Ok(wires)
}

/// Waits until every worker has told whether it has a session.
async fn all_connected(
    mut reports: mpsc::UnboundedReceiver<Result<(), String>>,
    workers: u32,
) -> Result<(), FleetError> {
    let (mut told, mut failed, mut first) = (0, 0, None);
    while let Some(report) = reports.recv().await {
        told += 1;
        if let Err(error) = report {
            failed += 1;
            first.get_or_insert(error);
        }
    }
    // One that told nothing came to its end before: it panicked.
    failed += workers - told;
    match failed {
        0 => Ok(()),
        failed => Err(FleetError::Connect {
            failed,
            workers,
            first: first.unwrap_or_else(|| "the worker ended without a word".to_owned()),
        }),
    }
}
