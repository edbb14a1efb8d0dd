//! Judges the grants of one lock or election while they happen.
//!
//! A grant is *live* from the moment at which its worker is told that it has it, until the worker asks for its release, is
//! told that it is lost, or dies. At any moment one grant is live at most, and each has a higher token than all before it.
//!
//! One thing no lock can promise: a worker that stands still at the very moment at which its client gives the session up
//! cannot be told of it in time, and takes its grant to be live until it goes on. That is so whenever it stands still for
//! longer than its session lasts, and for less than that where an outage has kept the client from renewing. Such a grant is
//! *excused*: another may be live beside it, and only the store that checks its token keeps it from doing harm. A grant that
//! was under way to a worker while it stood still is excused in the same way. Nothing else is: not a session that expires, a
//! connection that breaks, a reply that is lost; nor a worker that stands still before or after that moment.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workloads::fenced_store::FencedStore;
use workloads::recipe::Grant;

use crate::story::Telling;

#[derive(Debug, Default)]
struct Worker {
    live: Option<i64>,
    excused: bool,
}

#[derive(Debug, Default)]
struct Book {
    workers: BTreeMap<usize, Worker>,
    highest: i64,
}

#[derive(Clone, Debug)]
pub struct Judge {
    book: Arc<Mutex<Book>>,
    store: Arc<FencedStore>,
    telling: Telling,
}

impl Judge {
    pub fn new(telling: &Telling) -> Self {
        Judge { book: Arc::default(), store: Arc::new(FencedStore::new(1)), telling: telling.clone() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker begins to acquire.
    pub fn acquires(&self, worker: usize) {
        self.telling.note(|| format!("worker {worker} acquires"));
        self.book().workers.insert(worker, Worker::default());
    }

    /// The worker stands still at the moment at which its client gives its session up.
    pub fn stands_still(&self, worker: usize) {
        self.book().workers.entry(worker).or_default().excused = true;
    }

    /// The worker is told that it has the grant.
    pub fn granted(&self, worker: usize, grant: &Grant) {
        let token = grant.token;
        self.telling.note(|| format!("worker {worker} is granted {token}"));
        self.telling.passed();
        let mut book = self.book();
        let excused = book.workers.entry(worker).or_default().excused;
        let other = book.workers.iter().find_map(|(number, other)| Some((*number, other.live?, other.excused)));
        if let Some((other, live, other_excused)) = other
            && !excused
            && !other_excused
        {
            self.telling.violation(|| {
                format!("two at once: worker {worker} is granted {token} while worker {other} has {live}")
            });
        }
        let highest = book.highest;
        if token <= highest && !excused {
            self.telling.violation(|| format!("worker {worker} is granted {token} after {highest} was granted"));
        }
        book.highest = highest.max(token);
        book.workers.entry(worker).or_default().live = Some(token);
        drop(book);
        self.writes(worker);
    }

    /// The worker writes under its grant, to a store that checks the token. `false` where the store refuses: then the
    /// worker knows that its grant is over.
    pub fn writes(&self, worker: usize) -> bool {
        let book = self.book();
        let highest = book.highest;
        let Some((live, excused)) = book.workers.get(&worker).and_then(|it| Some((it.live?, it.excused))) else {
            return false;
        };
        let taken = self.store.write(0, live);
        if !taken && !excused {
            self.telling.violation(|| format!("worker {worker} writes under {live}, which is live, and is refused"));
        }
        if taken && live < highest {
            self.telling
                .violation(|| format!("worker {worker} writes under {live} after {highest}, and is not refused"));
        }
        taken
    }

    /// The worker does not act on its grant any more.
    pub fn over(&self, worker: usize, why: &str) {
        self.telling.note(|| format!("worker {worker}: {why}"));
        self.book().workers.entry(worker).or_default().live = None;
    }
}
