//! Whom a fault strikes, and how: what the runner needs to carry out a scenario's faults on workers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Fleet;
use super::orders::{Order, Strike};
use crate::fenced_store::FencedStore;
use crate::holders::Held;
use crate::settings::CutHow;
use crate::shared_counter::Books;

/// How often it is looked whether the entry of a holder is gone: the resolution of what is told of it.
pub const WITNESS_PACE: Duration = Duration::from_millis(5);

/// What writes under the workers' grants came to, at a store that checks the fencing token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FencedWrites {
    /// Taken.
    pub accepted: u64,
    /// Refused, since a later grant had written: a store without the check would have taken them.
    pub refused: u64,
}

/// Faults. All of it is for fleets with [`Precautions`](crate::settings::Precautions); on others nothing is held, and nobody
/// can be struck.
impl Fleet {
    /// Who holds what at the moment, of those who live.
    pub fn holders(&self) -> Vec<Held> {
        let held = self.plan.under_faults.as_ref().map(|under_faults| under_faults.holders.all()).unwrap_or_default();
        held.into_iter().filter(|held| self.lives(held.worker)).collect()
    }

    /// The workers that no fault has ended.
    pub fn living(&self) -> Vec<u32> {
        (0..self.wires.len() as u32).filter(|worker| self.lives(*worker)).collect()
    }

    fn lives(&self, worker: u32) -> bool {
        self.wires.get(worker as usize).is_some_and(|wire| wire.orders.fate.lives())
    }

    /// Whether somebody holds, and all others that live stand in the queue with their watches armed: what an end of the
    /// holder causes now is what the recipe's closed form says.
    pub fn is_settled(&self) -> bool {
        let held = self.holders().len();
        let waiting = self.living().len() - held;
        held > 0 && self.recorder.standing_watches() == i64::try_from(waiting).unwrap_or(i64::MAX)
    }

    /// Strikes a worker; the moment, in nanoseconds since the start of the trial, or `None` where the worker is gone already.
    pub async fn strike(&self, worker: u32, strike: Strike) -> Option<u64> {
        let wire = self.wires.get(worker as usize)?;
        let (done, moment) = oneshot::channel();
        wire.orders.give(Order { strike, done });
        moment.await.ok()
    }

    /// Cuts a worker's line; the moment, or `None` where it has none that can be cut.
    pub fn cut(&self, worker: u32, how: CutHow) -> Option<u64> {
        let wire = self.wires.get(worker as usize)?;
        let relay = wire.relay.as_ref()?;
        wire.orders.fate.strike();
        relay.cut(how);
        Some(self.recorder.now())
    }

    /// Mends a worker's line; the moment.
    pub fn mend(&self, worker: u32) -> Option<u64> {
        self.wires.get(worker as usize)?.relay.as_ref()?.mend();
        Some(self.recorder.now())
    }

    /// Waits until the entry of a grant is gone from the servers; the moment at which that was seen, with a resolution of
    /// [`WITNESS_PACE`]. Looks without a watch, so that the books of notifications are not touched.
    pub async fn gone(&self, held: &Held) -> u64 {
        loop {
            if self.steward.is_there(held).await == Some(false) {
                return self.recorder.now();
            }
            tokio::time::sleep(WITNESS_PACE).await;
        }
    }

    /// Sessions that were lost, and that another one followed.
    pub fn sessions_lost(&self) -> u64 {
        let under_faults = self.plan.under_faults.as_ref();
        under_faults.map_or(0, |under_faults| under_faults.sessions_lost.load(Ordering::Relaxed))
    }

    /// What became of the holders' writes.
    pub fn fenced_writes(&self) -> FencedWrites {
        let store = self.plan.under_faults.as_ref().map(|under_faults| &under_faults.store);
        // Where a shared counter is kept, it is what they write to.
        let books = self.plan.updates().books;
        let counted = |of: fn(&Books) -> u64| books.iter().map(of).sum::<u64>();
        FencedWrites {
            accepted: store.map_or(0, FencedStore::accepted) + counted(|books| books.fenced.acknowledged),
            refused: store.map_or(0, FencedStore::refused) + counted(|books| books.fenced.refused),
        }
    }
}
