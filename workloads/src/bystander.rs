//! Bystanders: sessions that have nothing to do with the lock, and suffer from it.
//!
//! Each writes and reads a znode of its own in turn at a steady rate. Every operation is timed from the moment it was due, so
//! a service that stalls is seen to stall for all that fell due meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::fleet::Target;
use crate::zookeeper::parents;
use crate::zookeeper::session::{Client, CreateMode, Session, SessionError};

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
    /// What connecting or creating the znodes answers.
    pub async fn start(
        target: &Target,
        sessions: u32,
        rate: f64,
        session_timeout: Duration,
    ) -> Result<Bystanders, SessionError> {
        let phase = Arc::new(AtomicU8::new(Phase::Between as u8));
        let mut tasks = JoinSet::new();
        for number in 0..sessions {
            let client = Client::connect(&target.endpoints, session_timeout).await?;
            let base = format!("{}/bystanders", target.root);
            parents::make(&client, &base).await?;
            let path = format!("{base}/{number}");
            client.create(&path, CreateMode::Ephemeral, b"at rest").await?;
            // Spread over the interval, so that they do not knock together.
            let offset = Duration::from_secs_f64(f64::from(number) / f64::from(sessions) / rate);
            tasks.spawn(look_on(client, path, rate, offset, Arc::clone(&phase)));
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

async fn look_on(
    client: Client,
    path: String,
    rate: f64,
    offset: Duration,
    phase: Arc<AtomicU8>,
) -> BystanderLatencies {
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
        let outcome =
            if write { client.set_data(&path, b"looking on").await } else { client.data(&path).await.map(|_| ()) };
        let latency = due.elapsed().as_nanos() as u64;
        match outcome {
            Ok(()) if at_due == Phase::Rest as u8 => latencies.rest.push(latency),
            Ok(()) if at_due == Phase::Contention as u8 => latencies.contention.push(latency),
            Ok(()) => {}
            Err(SessionError::Lost(_)) => {
                latencies.failed += 1;
                return latencies;
            }
            Err(_) => latencies.failed += 1,
        }
        write = !write;
        due += interval;
    }
}
