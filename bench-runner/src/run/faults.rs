//! Carries out the faults of a scenario while a trial is measured, and writes down what was done, and when.
//!
//! Faults are carried out one after the other in the order in which they fall due; what they break heals meanwhile, and all
//! of it at the end of the trial. A fault of the holder waits until somebody holds and everybody else stands in the queue
//! with its watch armed, so that the fan-out of a failover is the recipe's and not the moment's; where that does not come
//! about in time (as under a lock that goes round quickly) it strikes all the same, and the record says so.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use workloads::fleet::Fleet;
use workloads::fleet::orders::Strike;
use workloads::holders::Held;
use workloads::record::Recorder;

use super::recording::{FaultRecord, HeldRecord};
use crate::ensemble::{Ensemble, Role};
use crate::scenario::{FaultKind, FaultSettings, NodeFault, NodeTarget, WorkerFault, WorkerTarget};

/// How long a fault of the holder waits for somebody to hold, and for the others to have armed their watches.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);
/// How often it looks.
const SETTLE_PACE: Duration = Duration::from_millis(2);
/// How often it is looked which node leads, after the leader was struck: the resolution of what is told of it.
const LEADER_PACE: Duration = Duration::from_millis(20);
/// How long the nodes may take to be whole again after the last fault of a trial has healed.
const HEAL_LIMIT: Duration = Duration::from_secs(60);

/// What of one fault happens after it has struck: its healing, and what is watched.
type Aftermath<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The faults of one trial.
pub(super) struct Faults<'a> {
    settings: &'a [FaultSettings],
    ensemble: &'a Ensemble,
    recorder: &'a Recorder,
    seed: u64,
    /// What was done. The lock is held for moments, by this task alone.
    records: Mutex<Vec<FaultRecord>>,
    /// Nodes that are struck and have not healed.
    broken: Mutex<Vec<(usize, NodeFault)>>,
}

impl<'a> Faults<'a> {
    pub fn new(settings: &'a [FaultSettings], ensemble: &'a Ensemble, recorder: &'a Recorder, seed: u64) -> Self {
        Faults { settings, ensemble, recorder, seed, records: Mutex::default(), broken: Mutex::default() }
    }

    /// Carries all of them out, and never returns: the trial's end ends it. `begun` is the start of the trial, and `length`
    /// its planned length.
    pub async fn carry_out(&self, fleet: &Fleet, begun: Instant, length: Duration) {
        let mut rng = SmallRng::seed_from_u64(self.seed);
        let mut due: Vec<(Duration, FaultKind)> =
            self.settings.iter().flat_map(|fault| fault.due(length).into_iter().map(|at| (at, fault.kind))).collect();
        due.sort_by_key(|(at, _)| *at);
        let mut aftermaths: FuturesUnordered<Aftermath<'_>> = FuturesUnordered::new();
        for (at, kind) in due {
            let striking = async {
                sleep_until(begun + at).await;
                match kind {
                    FaultKind::Worker { fault, target } => {
                        self.strike_workers(fleet, kind, fault, target, &mut rng).await
                    }
                    FaultKind::Node { fault, target } => self.strike_node(kind, fault, target, &mut rng).await,
                }
            };
            tokio::pin!(striking);
            let new = loop {
                tokio::select! {
                    new = &mut striking => break new,
                    Some(()) = aftermaths.next() => {}
                }
            };
            aftermaths.extend(new);
        }
        while aftermaths.next().await.is_some() {}
        std::future::pending::<()>().await;
    }

    /// Heals what has not healed, and hands over what was done.
    pub async fn heal(self, fleet: &Fleet) -> Vec<FaultRecord> {
        let mut records = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        for record in &mut records {
            if matches!(record.kind, FaultKind::Worker { fault: WorkerFault::Cut { .. }, .. })
                && record.healed.is_none()
            {
                record.healed = mend_all(fleet, &record.victims);
            }
        }
        let broken = self.broken.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (node, fault) in &broken {
            // What does not heal here is found when the counters are read, and told then.
            let _ = heal_node(self.ensemble, *node, *fault).await;
        }
        if records.iter().any(|record| record.node.is_some()) {
            let _ = self.ensemble.wait_until_whole(HEAL_LIMIT).await;
        }
        records
    }

    /// Adds a record; its place.
    fn note(&self, record: FaultRecord) -> usize {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(record);
        records.len() - 1
    }

    /// Completes the record at this place.
    fn complete(&self, place: usize, complete: impl FnOnce(&mut FaultRecord)) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = records.get_mut(place) {
            complete(record);
        }
    }

    async fn strike_workers<'f>(
        &'f self,
        fleet: &'f Fleet,
        kind: FaultKind,
        fault: WorkerFault,
        target: WorkerTarget,
        rng: &mut SmallRng,
    ) -> Vec<Aftermath<'f>> {
        let settled = settle(fleet, target).await;
        let holders = fleet.holders();
        let victims = victims(&holders, fleet.living(), target, rng);
        let held: Vec<Held> = holders.into_iter().filter(|held| victims.contains(&held.worker)).collect();
        let mut record = FaultRecord { settled, ..FaultRecord::new(kind, self.recorder.now()) };
        if victims.is_empty() {
            record.skipped = Some(match target {
                WorkerTarget::Holder => format!("nobody held anything for {} s", SETTLE_LIMIT.as_secs()),
                WorkerTarget::Waiter | WorkerTarget::Share(_) => "no such worker was left".to_owned(),
            });
            self.note(record);
            return Vec::new();
        }
        // All at once: each worker carries its order out by itself.
        let mut struck: FuturesUnordered<_> =
            victims.iter().map(|worker| async move { (*worker, strike(fleet, *worker, fault).await) }).collect();
        let mut first = u64::MAX;
        while let Some((worker, moment)) = struck.next().await {
            if let Some(moment) = moment {
                record.victims.push(worker);
                first = first.min(moment);
            }
        }
        drop(struck);
        if first != u64::MAX {
            record.issued = first;
        }
        record.victims.sort_unstable();
        record.held = held
            .iter()
            .map(|held| HeldRecord { worker: held.worker, resource: held.resource, token: held.token, gone: None })
            .collect();
        let place = self.note(record);
        let mut aftermaths: Vec<Aftermath<'f>> = Vec::new();
        for (number, held) in held.into_iter().enumerate() {
            aftermaths.push(Box::pin(async move {
                let gone = fleet.gone(&held).await;
                self.complete(place, |record| record.held[number].gone = Some(gone));
            }));
        }
        match fault {
            WorkerFault::Cut { length: Some(length), .. } => aftermaths.push(Box::pin(async move {
                sleep(length).await;
                let healed = mend_all(fleet, &victims);
                self.complete(place, |record| record.healed = healed);
            })),
            WorkerFault::Pause(length) => aftermaths.push(Box::pin(async move {
                sleep(length).await;
                let healed = self.recorder.now();
                self.complete(place, |record| record.healed = Some(healed));
            })),
            WorkerFault::Close | WorkerFault::Crash | WorkerFault::Cut { length: None, .. } => {}
        }
        aftermaths
    }

    async fn strike_node<'f>(
        &'f self,
        kind: FaultKind,
        fault: NodeFault,
        target: NodeTarget,
        rng: &mut SmallRng,
    ) -> Vec<Aftermath<'f>> {
        let roles = self.ensemble.roles().await;
        let candidates: Vec<usize> = (0..roles.len())
            .filter(|node| match target {
                NodeTarget::Leader => roles[*node].leads(),
                NodeTarget::Follower => roles[*node] != Role::Out && !roles[*node].leads(),
                NodeTarget::Random => roles[*node] != Role::Out,
            })
            .collect();
        let mut record = FaultRecord::new(kind, self.recorder.now());
        let Some(node) = candidates.choose(rng).copied() else {
            record.skipped = Some("no such node was up".to_owned());
            self.note(record);
            return Vec::new();
        };
        record.node = Some(self.ensemble.name_of(node).to_owned());
        record.issued = self.recorder.now();
        // First, so that it is mended also where the trial ends in the middle of a command of the user's.
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).push((node, fault));
        let struck = match fault {
            NodeFault::Kill { .. } | NodeFault::Restart => self.ensemble.kill_node(node).await,
            NodeFault::Pause { .. } => self.ensemble.pause_node(node).await,
            NodeFault::Disconnect { .. } => self.ensemble.disconnect_node(node).await,
        };
        if let Err(error) = struck {
            self.broken.lock().unwrap_or_else(PoisonError::into_inner).retain(|(broken, _)| *broken != node);
            record.skipped = Some(error.to_string());
            self.note(record);
            return Vec::new();
        }
        let place = self.note(record);
        let mut aftermaths: Vec<Aftermath<'f>> = Vec::new();
        if roles[node].leads() {
            aftermaths.push(Box::pin(async move {
                let moment = self.another_leads(node).await;
                self.complete(place, |record| record.new_leader = Some(moment));
            }));
        }
        let length = match fault {
            NodeFault::Kill { length } | NodeFault::Pause { length } | NodeFault::Disconnect { length } => length,
            NodeFault::Restart => Some(Duration::ZERO),
        };
        if let Some(length) = length {
            aftermaths.push(Box::pin(async move {
                sleep(length).await;
                // Taken off first: what fails here is not to be tried a second time at the end, but found by whoever asks the
                // nodes next.
                self.broken.lock().unwrap_or_else(PoisonError::into_inner).retain(|(broken, _)| *broken != node);
                let _ = heal_node(self.ensemble, node, fault).await;
                let healed = self.recorder.now();
                self.complete(place, |record| record.healed = Some(healed));
            }));
        }
        aftermaths
    }

    /// Waits until a node other than `old` leads; the moment at which that was seen.
    async fn another_leads(&self, old: usize) -> u64 {
        loop {
            let roles = self.ensemble.roles().await;
            if roles.iter().enumerate().any(|(node, role)| node != old && role.leads()) {
                return self.recorder.now();
            }
            sleep(LEADER_PACE).await;
        }
    }
}

/// Waits until a fault of this target finds what it is after; whether the queue had settled then.
async fn settle(fleet: &Fleet, target: WorkerTarget) -> bool {
    if target != WorkerTarget::Holder {
        return fleet.is_settled();
    }
    let settling = async {
        while !fleet.is_settled() {
            sleep(SETTLE_PACE).await;
        }
    };
    if timeout(SETTLE_LIMIT, settling).await.is_ok() {
        return true;
    }
    let held = async {
        while fleet.holders().is_empty() {
            sleep(SETTLE_PACE).await;
        }
    };
    let _ = timeout(SETTLE_LIMIT, held).await;
    false
}

/// Whom a fault strikes.
fn victims(holders: &[Held], mut living: Vec<u32>, target: WorkerTarget, rng: &mut impl Rng) -> Vec<u32> {
    match target {
        WorkerTarget::Holder => holders.choose(rng).map(|held| held.worker).into_iter().collect(),
        WorkerTarget::Waiter => {
            living.retain(|worker| !holders.iter().any(|held| held.worker == *worker));
            living.choose(rng).copied().into_iter().collect()
        }
        WorkerTarget::Share(share) => {
            living.shuffle(rng);
            // Rounded, and one at the least, so that a share of few workers is not none.
            let count = (living.len() as f64 * share).round().max(1.0) as usize;
            living.truncate(count);
            living.sort_unstable();
            living
        }
    }
}

/// Strikes one worker; the moment.
async fn strike(fleet: &Fleet, worker: u32, fault: WorkerFault) -> Option<u64> {
    match fault {
        WorkerFault::Close => fleet.strike(worker, Strike::Close).await,
        WorkerFault::Crash => fleet.strike(worker, Strike::Crash).await,
        WorkerFault::Pause(length) => fleet.strike(worker, Strike::Pause(length)).await,
        WorkerFault::Cut { how, .. } => fleet.cut(worker, how),
    }
}

/// Mends the lines of all of them; the moment of the last.
fn mend_all(fleet: &Fleet, victims: &[u32]) -> Option<u64> {
    victims.iter().fold(None, |last, worker| fleet.mend(*worker).or(last))
}

async fn heal_node(ensemble: &Ensemble, node: usize, fault: NodeFault) -> Result<(), crate::ensemble::EnsembleError> {
    match fault {
        NodeFault::Kill { .. } | NodeFault::Restart => ensemble.start_node(node).await,
        NodeFault::Pause { .. } => ensemble.resume_node(node).await,
        NodeFault::Disconnect { .. } => ensemble.connect_node(node).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(worker: u32) -> Held {
        Held { worker, resource: 0, token: 1, path: String::new() }
    }

    #[test]
    fn a_waiter_is_nobody_who_holds() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..50 {
            let waiters = victims(&[held(1)], vec![0, 1, 2], WorkerTarget::Waiter, &mut rng);
            assert!(waiters == [0] || waiters == [2], "{waiters:?}");
        }
        assert_eq!(victims(&[held(1)], vec![0, 1, 2], WorkerTarget::Holder, &mut rng), [1]);
        assert!(victims(&[], vec![0, 1, 2], WorkerTarget::Holder, &mut rng).is_empty());
    }

    #[test]
    fn a_share_is_of_those_that_live() {
        let mut rng = SmallRng::seed_from_u64(1);
        assert_eq!(victims(&[], (0..10).collect(), WorkerTarget::Share(0.5), &mut rng).len(), 5);
        assert_eq!(victims(&[], (0..10).collect(), WorkerTarget::Share(1.0), &mut rng), (0..10).collect::<Vec<_>>());
        assert_eq!(victims(&[], vec![7], WorkerTarget::Share(0.1), &mut rng), [7]);
        assert!(victims(&[], vec![], WorkerTarget::Share(0.5), &mut rng).is_empty());
    }
}
