//! Leases: whose they are, and how they end.

use std::time::Duration;

use tokio::time::Instant;

use super::super::store::Reply;
use super::{Event, World};

/// How often the servers look for leases that have run out.
const LOOK: Duration = Duration::from_millis(500);
/// The least that a write of the servers' own takes.
const QUORUM: Duration = Duration::from_millis(1);

impl World {
    /// An id for a lease that this client asks for.
    pub fn new_lease(&mut self, way: usize) -> i64 {
        // As etcd's own: positive, and in no order.
        let id = (self.dice.bits() as i64 & i64::MAX).max(1);
        self.of_lease.insert(id, way);
        id
    }

    /// The client that a lease is of.
    pub fn way_of(&self, lease: i64) -> Option<usize> {
        self.of_lease.get(&lease).copied()
    }

    pub(super) fn look_from_now_on(&mut self) {
        if !std::mem::replace(&mut self.looks, true) {
            self.agenda.at(Instant::now() + LOOK, Event::Look);
        }
    }

    pub(super) fn look(&mut self) {
        if Instant::now() >= self.no_leader_until {
            for lease in self.store.run_out() {
                // It is a write, which takes its time to get through the quorum.
                let at = self.soon() + QUORUM;
                self.agenda.at(at, Event::Revoke { lease });
            }
        }
        self.agenda.at(Instant::now() + LOOK, Event::Look);
    }

    /// Revokes a lease, if it is there still.
    pub fn revoke(&mut self, lease: i64) {
        let gone = self.change(|store| store.revoke(lease));
        if gone {
            self.counters.expired += 1;
            self.trace.note(|| format!("the lease {lease:x} is revoked"));
        }
        for (way, epoch, id) in self.waiting.remove(&lease).unwrap_or_default() {
            let at = self.soon();
            self.agenda.at(at, Event::Answer { way, epoch, id, outcome: Box::new(Ok(Reply::Renewed(false))) });
        }
    }
}
