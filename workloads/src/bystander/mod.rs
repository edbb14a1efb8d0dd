//! Bystanders: sessions that have nothing to do with the lock, and suffer from it.
//!
//! Each writes and reads a znode or key of its own in turn at a steady rate. Every operation is timed from the moment it was due, so
//! a service that stalls is seen to stall for all that fell due meanwhile.

mod etcd;
mod zookeeper;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use self::etcd::EtcdBystander;
use self::zookeeper::ZookeeperBystander;
use crate::fleet::Target;
use crate::settings::Service;

/// The bystanders got no session, or no znode or key of their own; what the first of them was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BystanderError(String);

/// Why an operation of a bystander failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// The session is over: so is the bystander.
    SessionLost,
    /// This one alone failed.
    Other,
}

/// What a bystander does, on one service.
trait Bystander: Send + Sync + 'static {
    /// Overwrites its znode or key.
    fn write(&self, value: &[u8]) -> impl Future<Output = Result<(), Failure>> + Send;
    /// Reads it.
    fn read(&self) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// What the workers are doing while a bystander looks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// They connect or disconnect: not measured.
    Between = 0,
    /// They are connected and idle.
    Rest = 1,
    /// They contend.
    Contention = 2,
}

/// Latencies of all bystanders in nanoseconds, from due to answered, in no particular order.
#[derive(Clone, Debug, Default)]
pub struct BystanderLatencies {
    /// While the workers were idle.
    pub rest: Vec<u64>,
    /// While they contended.
    pub contention: Vec<u64>,
    /// Operations that failed.
    pub failed: u64,
}

/// A few sessions that look on.
pub struct Bystanders {
    phase: Arc<AtomicU8>,
    tasks: JoinSet<BystanderLatencies>,
}

impl Bystanders {
    /// Opens `sessions` sessions that do `rate` operations a second each.
    ///
    /// # Errors
    ///
    /// What connecting or creating the znodes or keys answers.
    pub async fn start(
        target: &Target,
        sessions: u32,
        rate: f64,
        session_timeout: Duration,
    ) -> Result<Bystanders, BystanderError> {
        let phase = Arc::new(AtomicU8::new(Phase::Between as u8));
        let mut tasks = JoinSet::new();
        for number in 0..sessions {
            // Spread over the interval, so that they do not knock together.
            let offset = Duration::from_secs_f64(f64::from(number) / f64::from(sessions) / rate);
            let phase = Arc::clone(&phase);
            match target.service {
                Service::Zookeeper => {
                    let bystander = ZookeeperBystander::open(target, number, session_timeout).await?;
                    tasks.spawn(look_on(bystander, rate, offset, phase));
                }
                Service::Etcd => {
                    let bystander = EtcdBystander::open(target, number, session_timeout).await?;
                    tasks.spawn(look_on(bystander, rate, offset, phase));
                }
            }
        }
        Ok(Bystanders { phase, tasks })
    }

    /// Says what the workers are doing from now on.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Ends them and hands over what they saw.
    pub async fn finish(mut self) -> BystanderLatencies {
        self.phase.store(LEAVE, Ordering::Release);
        let mut all = BystanderLatencies::default();
        while let Some(outcome) = self.tasks.join_next().await {
            // A task that panicked saw nothing that could be told.
            let Ok(one) = outcome else { continue };
            all.rest.extend(one.rest);
            all.contention.extend(one.contention);
            all.failed += one.failed;
        }
        all
    }
}

/// One more than the phases: the bystander leaves.
const LEAVE: u8 = 3;

async fn look_on(bystander: impl Bystander, rate: f64, offset: Duration, phase: Arc<AtomicU8>) -> BystanderLatencies {
    let interval = Duration::from_secs_f64(1.0 / rate);
    let mut latencies = BystanderLatencies::default();
    let mut due = Instant::now() + offset;
    let mut write = true;
    loop {
        tokio::time::sleep_until(due).await;
        let at_due = phase.load(Ordering::Acquire);
        if at_due == LEAVE {
            return latencies;
        }
        let outcome = if write { bystander.write(b"looking on").await } else { bystander.read().await };
        let latency = due.elapsed().as_nanos() as u64;
        match outcome {
            Ok(()) if at_due == Phase::Rest as u8 => latencies.rest.push(latency),
            Ok(()) if at_due == Phase::Contention as u8 => latencies.contention.push(latency),
            Ok(()) => {}
            Err(Failure::SessionLost) => {
                latencies.failed += 1;
                return latencies;
            }
            Err(Failure::Other) => latencies.failed += 1,
        }
        write = !write;
        due += interval;
    }
}
