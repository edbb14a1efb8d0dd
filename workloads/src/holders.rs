//! Who holds what at the moment, noted for those who pick the victim of a fault.
//!
//! Workers do not read it: they meet in the ensemble alone. It is kept only where faults are to come.

use std::sync::{Mutex, PoisonError};

use crate::recipe::Grant;

/// A grant that a worker has at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The worker.
    pub worker: u32,
    /// The lock or election.
    pub resource: u32,
    /// Its fencing token.
    pub token: i64,
    /// The znode or key that stands for it.
    pub path: String,
}

/// The grants of all locks. A holder that dies stays noted until the next grant.
#[derive(Debug)]
pub(crate) struct Holders {
    slots: Box<[Mutex<Option<Held>>]>,
}

impl Holders {
    pub fn new(resources: u32) -> Self {
        Holders { slots: (0..resources).map(|_| Mutex::new(None)).collect() }
    }

    fn slot(&self, resource: u32) -> Option<std::sync::MutexGuard<'_, Option<Held>>> {
        self.slots.get(resource as usize).map(|slot| slot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `worker` has been granted this. An older grant than the one that is noted changes nothing: its holder slept.
    pub fn granted(&self, worker: u32, resource: u32, grant: &Grant) {
        let Some(mut slot) = self.slot(resource) else { return };
        if slot.as_ref().is_none_or(|held| held.token <= grant.token) {
            *slot = Some(Held { worker, resource, token: grant.token, path: grant.path.clone() });
        }
    }

    /// Nobody acts on this grant any more.
    pub fn over(&self, resource: u32, token: i64) {
        let Some(mut slot) = self.slot(resource) else { return };
        if slot.as_ref().is_some_and(|held| held.token == token) {
            *slot = None;
        }
    }

    /// All of them, in the order of the locks.
    pub fn all(&self) -> Vec<Held> {
        (0..self.slots.len() as u32).filter_map(|resource| self.slot(resource)?.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_grant_is_the_one_that_counts() {
        let holders = Holders::new(2);
        let grant = |token| Grant { token, path: format!("/lock/{token}") };
        holders.granted(3, 0, &grant(7));
        holders.granted(4, 0, &grant(9));
        holders.granted(3, 0, &grant(7));
        holders.over(0, 7);
        let held = Held { worker: 4, resource: 0, token: 9, path: "/lock/9".to_owned() };
        assert_eq!(holders.all(), [held]);
        holders.over(0, 9);
        assert_eq!(holders.all(), []);
    }
}
