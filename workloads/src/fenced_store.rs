//! A store that refuses the writes of whoever has been overtaken.
//!
//! A lock with a lease cannot keep a holder that stood still from writing once more when it wakes: only the store itself
//! can, by the *fencing token* that comes with each write (M. Kleppmann, "How to do distributed locking", 2016). The token
//! of a grant rises from grant to grant, so a write with a token below the highest seen is a stale one.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// One register for each lock, which remembers the highest token that has written.
#[derive(Debug)]
pub struct FencedStore {
    highest: Box<[AtomicI64]>,
    accepted: AtomicU64,
    refused: AtomicU64,
}

impl FencedStore {
    /// A store for this many locks or elections.
    pub fn new(resources: u32) -> Self {
        FencedStore {
            highest: (0..resources).map(|_| AtomicI64::new(i64::MIN)).collect(),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Writes on behalf of the grant with this token; `false` where it was refused, since a later grant has written already.
    /// A store without the check would have taken it.
    pub fn write(&self, resource: u32, token: i64) -> bool {
        let Some(highest) = self.highest.get(resource as usize) else { return false };
        let taken = highest.fetch_max(token, Ordering::AcqRel) <= token;
        let book = if taken { &self.accepted } else { &self.refused };
        book.fetch_add(1, Ordering::Relaxed);
        taken
    }

    /// Writes that were taken.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Writes that were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_token_is_refused_and_a_current_one_is_not() {
        let store = FencedStore::new(2);
        assert!(store.write(0, 5) && store.write(0, 5) && store.write(0, 9));
        assert!(!store.write(0, 5));
        assert!(store.write(1, 5), "each lock has its own register");
        assert!(store.write(0, 9));
        assert_eq!((store.accepted(), store.refused()), (5, 1));
    }
}
