//! A counter that the holders of a lock update, kept in two stores side by side: a plain one, which takes every write, and a
//! fenced one, which asks for the token of the grant.
//!
//! An update is a read and, some time later, a write of one more. A lock with a lease cannot keep a holder that stood still between
//! the two from writing when it wakes; what others wrote meanwhile is lost then. The fenced store remembers the highest token that it
//! has seen, *in a read or a write*, and refuses a lower one (M. Kleppmann, "How to do distributed locking", 2016). That reads count
//! is no detail: a store that remembered writers alone would take the late write of an old holder while the new one stands between
//! its read and its write, and the new one's write would then undo it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many updates are written down one by one; what goes beyond is counted alone.
const MOST_UPDATES: usize = 1 << 21;

/// What a holder read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// From the plain store.
    plain: u64,
    /// From the fenced store; `None` where it refused, since it has seen a later grant.
    fenced: Option<u64>,
    /// Its place in the log, where there was room.
    place: Option<usize>,
}

impl Reading {
    /// Whether the fenced store refused the read.
    pub fn is_refused(&self) -> bool {
        self.fenced.is_none()
    }
}

/// One update of one holder, as the stores saw it. Moments are nanoseconds since the start of the trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The worker.
    pub worker: u32,
    /// The lock or election.
    pub resource: u32,
    /// The token of its grant.
    pub token: i64,
    /// When it read.
    pub read_at: u64,
    /// When it wrote; 0 for a read that no write followed: its holder was told of a loss, or the trial ended.
    pub written_at: u64,
    /// What it read from the plain store; it wrote one more, which was acknowledged.
    pub read: u64,
    /// The same of the fenced store.
    pub read_fenced: u64,
    /// Whether the fenced store acknowledged the write, and did not refuse it.
    pub fenced: bool,
}

/// What one store holds of one counter, and what it said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Writes that it acknowledged.
    pub acknowledged: u64,
    /// Writes that it refused.
    pub refused: u64,
    /// Reads that it refused.
    pub refused_reads: u64,
    /// What stands in the counter.
    pub counter: u64,
}

impl Book {
    /// Updates that were acknowledged and of which nothing is left.
    pub fn lost(&self) -> u64 {
        self.acknowledged.saturating_sub(self.counter)
    }
}

/// The counter of one lock in both stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// The store that takes every write.
    pub plain: Book,
    /// The store that asks for the token.
    pub fenced: Book,
}

/// Everything that was written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Updates {
    /// The counter of each lock, in their order; empty where no counters were kept.
    pub books: Vec<Books>,
    /// The updates in the order in which they were written, and before them the reads that no write followed.
    pub log: Vec<Update>,
    /// Reads for which there was no room in the log, and their writes.
    pub dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    books: Books,
    /// The highest token that the fenced store has seen.
    highest: i64,
}

/// One counter for each lock.
#[derive(Debug)]
pub struct SharedCounters {
    slots: Box<[Mutex<Slot>]>,
    log: Mutex<(Vec<Update>, u64)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedCounters {
    /// Counters for so many locks or elections, all at 0.
    pub fn new(resources: u32) -> Self {
        let slot = Slot { books: Books::default(), highest: i64::MIN };
        SharedCounters { slots: (0..resources).map(|_| Mutex::new(slot)).collect(), log: Mutex::default() }
    }

    fn slot(&self, resource: u32) -> MutexGuard<'_, Slot> {
        locked(&self.slots[resource as usize])
    }

    /// Reads the counter of a lock from both stores, under the grant with this token. `now` tells the time when it is this one's turn.
    ///
    /// # Panics
    ///
    /// Where there is no such lock.
    pub fn read(&self, worker: u32, resource: u32, token: i64, now: impl FnOnce() -> u64) -> Reading {
        let mut slot = self.slot(resource);
        slot.highest = slot.highest.max(token);
        let current = slot.highest == token;
        if !current {
            slot.books.fenced.refused_reads += 1;
        }
        let fenced = current.then_some(slot.books.fenced.counter);
        let plain = slot.books.plain.counter;
        let mut log = locked(&self.log);
        let place = (log.0.len() < MOST_UPDATES).then_some(log.0.len());
        match place {
            // A read is written down as well: whoever reads overtakes all earlier holders, whether or not it comes to write.
            Some(_) => log.0.push(Update {
                worker,
                resource,
                token,
                read_at: now(),
                written_at: 0,
                read: plain,
                read_fenced: fenced.unwrap_or(0),
                fenced: false,
            }),
            None => log.1 += 1,
        }
        Reading { plain, fenced, place }
    }

    /// Writes one more than was read to both stores; whether the fenced one took it.
    ///
    /// # Panics
    ///
    /// Where there is no such lock.
    pub fn write(&self, resource: u32, token: i64, reading: Reading, now: impl FnOnce() -> u64) -> bool {
        let mut slot = self.slot(resource);
        let plain = &mut slot.books.plain;
        plain.counter = reading.plain + 1;
        plain.acknowledged += 1;
        slot.highest = slot.highest.max(token);
        let is_current = slot.highest == token;
        let fenced = &mut slot.books.fenced;
        let taken = match reading.fenced.filter(|_| is_current) {
            Some(read) => {
                fenced.counter = read + 1;
                fenced.acknowledged += 1;
                true
            }
            None => {
                fenced.refused += 1;
                false
            }
        };
        // Before the slot is let go, so that moments are in the order of what happened.
        let mut log = locked(&self.log);
        if let Some(update) = reading.place.and_then(|place| log.0.get_mut(place)) {
            update.written_at = now();
            update.fenced = taken;
        }
        taken
    }

    /// Copies everything out.
    pub fn copy(&self) -> Updates {
        let books = self.slots.iter().map(|slot| locked(slot).books).collect();
        let (mut log, dropped) = locked(&self.log).clone();
        log.sort_by_key(|update| update.written_at);
        Updates { books, log, dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> u64 {
        1
    }

    /// One update in one go.
    fn update(counters: &SharedCounters, token: i64) -> bool {
        let reading = counters.read(0, 0, token, now);
        counters.write(0, token, reading, now)
    }

    #[test]
    fn nothing_is_lost_among_holders_that_take_turns() {
        let counters = SharedCounters::new(1);
        assert!((1..=5).all(|token| update(&counters, token) && update(&counters, token)));
        let books = counters.copy().books[0];
        let ten = Book { acknowledged: 10, counter: 10, ..Book::default() };
        assert_eq!((books.plain, books.fenced), (ten, ten));
    }

    #[test]
    fn a_late_write_undoes_what_the_plain_store_took_meanwhile_and_the_fenced_one_refuses_it() {
        let counters = SharedCounters::new(1);
        let old = counters.read(0, 0, 1, now);
        assert!((0..3).all(|_| update(&counters, 2)));
        assert!(!counters.write(0, 1, old, now));
        let books = counters.copy().books[0];
        assert_eq!((books.plain.acknowledged, books.plain.counter, books.plain.lost()), (4, 1, 3));
        let fenced = Book { acknowledged: 3, refused: 1, refused_reads: 0, counter: 3 };
        assert_eq!((books.fenced, books.fenced.lost()), (fenced, 0));
    }

    /// The old holder writes while the new one stands between its read and its write.
    #[test]
    fn a_read_fences_too() {
        let counters = SharedCounters::new(1);
        let old = counters.read(0, 0, 1, now);
        let new = counters.read(1, 0, 2, now);
        assert!(!counters.write(0, 1, old, now));
        assert!(counters.write(0, 2, new, now));
        let books = counters.copy().books[0];
        assert_eq!((books.plain.lost(), books.fenced.lost()), (1, 0));
        assert!(counters.read(0, 0, 1, now).is_refused());
        assert_eq!(counters.copy().books[0].fenced.refused_reads, 1);
    }

    #[test]
    fn updates_are_written_down_as_they_were() {
        let counters = SharedCounters::new(2);
        let reading = counters.read(3, 1, 5, || 10);
        counters.write(1, 5, reading, || 20);
        counters.read(4, 1, 6, || 30);
        let copy = counters.copy();
        let expected = Update {
            worker: 3,
            resource: 1,
            token: 5,
            read_at: 10,
            written_at: 20,
            read: 0,
            read_fenced: 0,
            fenced: true,
        };
        let unwritten = Update {
            worker: 4,
            token: 6,
            read_at: 30,
            written_at: 0,
            read: 1,
            read_fenced: 1,
            fenced: false,
            ..expected
        };
        assert_eq!((copy.log, copy.dropped), (vec![unwritten, expected], 0));
        assert_eq!(copy.books[0], Books::default(), "each lock has its own");
    }
}
