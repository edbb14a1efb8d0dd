//! The keys of an ensemble, all revisions of them, and its leases: what etcd's `mvcc` and `lease` keep.
//!
//! Each change of the store is one revision, and so is all that a lease takes with it: its keys are deleted in the order of
//! their names, within one revision.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::etcd::session::{Found, Key, TxnOutcome};

/// What a request asks for, with its own copy of everything.
#[derive(Clone, Debug)]
pub(super) enum Request {
    /// Puts `key` under the lease if its create revision is `guard`, and reads it otherwise.
    TxnPut {
        key: Arc<str>,
        guard: i64,
        value: Vec<u8>,
        lease: i64,
    },
    /// Puts `lasting` without a lease if the create revision of `key` is `guard`.
    TxnPutLasting {
        key: Arc<str>,
        guard: i64,
        lasting: Arc<str>,
    },
    /// Deletes `key` if its create revision is `guard`.
    TxnDelete {
        key: Arc<str>,
        guard: i64,
    },
    /// Reads one key.
    Read {
        key: Arc<str>,
    },
    /// Of the keys with a prefix and a create revision of at most `most` (0: any), the newest.
    Newest {
        prefix: Arc<str>,
        most: i64,
    },
    /// Of the keys with a prefix, as they were at a revision, the oldest.
    Oldest {
        prefix: Arc<str>,
        at: i64,
    },
    /// How many keys have a prefix, at a revision.
    Count {
        prefix: Arc<str>,
        at: i64,
    },
    Put {
        key: Arc<str>,
        value: Vec<u8>,
        lease: i64,
    },
    DeleteAll {
        prefix: Arc<str>,
    },
    Grant {
        id: i64,
        ttl: i64,
    },
    Revoke {
        lease: i64,
    },
    Renew {
        lease: i64,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    Txn(TxnOutcome),
    Found(Found),
    Done,
    Granted { id: i64, ttl: i64 },
    Renewed(bool),
}

/// Why the store refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Compacted,
    Future,
    NoLease,
}

/// A change of one key.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub revision: i64,
    pub key: Arc<str>,
    /// The key as it is then; `None`: deleted.
    pub put: Option<Arc<Key>>,
}

#[derive(Debug)]
pub(super) struct Lease {
    pub ttl: Duration,
    pub deadline: Instant,
    keys: BTreeSet<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct Store {
    pub revision: i64,
    /// History before this revision is gone.
    pub compacted: i64,
    keys: BTreeMap<Arc<str>, Arc<Key>>,
    /// The keys by their create revision. Two keys have the same only where one revision created both, which nothing here does.
    by_creation: BTreeMap<i64, Arc<str>>,
    /// How many keys there are by what comes before their last segment, `/` included.
    folders: BTreeMap<String, u64>,
    history: Vec<Change>,
    /// Where in the history each key changes.
    changes: BTreeMap<Arc<str>, Vec<usize>>,
    pub leases: BTreeMap<i64, Lease>,
    /// The same, by when they run out.
    deadlines: BTreeSet<(Instant, i64)>,
    shortest_ttl: i64,
}

impl Store {
    /// An empty store; an empty etcd is at revision 1.
    pub fn new(shortest_ttl: i64) -> Self {
        Store {
            revision: 1,
            compacted: 0,
            keys: BTreeMap::new(),
            by_creation: BTreeMap::new(),
            folders: BTreeMap::new(),
            history: Vec::new(),
            changes: BTreeMap::new(),
            leases: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            shortest_ttl,
        }
    }

    /// Carries a request out. What it changes is the end of the history from then on.
    pub fn carry_out(&mut self, request: Request) -> Result<Reply, Refusal> {
        Ok(match request {
            Request::TxnPut { key, guard, value, lease } => {
                let succeeded = self.created(&key) == guard;
                if succeeded {
                    self.check_lease(lease)?;
                    self.advance();
                    self.put(&key, value, lease);
                }
                let found = if succeeded { None } else { self.keys.get(&key).map(|found| (**found).clone()) };
                Reply::Txn(TxnOutcome { succeeded, revision: self.revision, found })
            }
            Request::TxnPutLasting { key, guard, lasting } => {
                let succeeded = self.created(&key) == guard;
                if succeeded {
                    self.advance();
                    self.put(&lasting, Vec::new(), 0);
                }
                Reply::Txn(TxnOutcome { succeeded, revision: self.revision, found: None })
            }
            Request::TxnDelete { key, guard } => {
                let succeeded = self.created(&key) == guard;
                // A guard of 0 holds where there is nothing to delete.
                if succeeded && guard != 0 {
                    self.advance();
                    self.delete(&key);
                }
                Reply::Txn(TxnOutcome { succeeded, revision: self.revision, found: None })
            }
            Request::Read { key } => {
                let first = self.keys.get(&key).map(|found| (**found).clone());
                self.found(u64::from(first.is_some()), first)
            }
            Request::Newest { prefix, most } => {
                let most = if most == 0 { i64::MAX } else { most };
                // A negative limit leaves nothing.
                let newest = (most > 0)
                    .then(|| self.by_creation.range(..=most).rev().find(|(_, key)| key.starts_with(&*prefix)))
                    .flatten();
                let first = newest.and_then(|(_, key)| self.keys.get(key)).map(|found| (**found).clone());
                self.found(self.count(&prefix), first)
            }
            Request::Oldest { prefix, at } => {
                self.check_revision(at)?;
                if at == 0 || at == self.revision {
                    let oldest = self.by_creation.values().find(|key| key.starts_with(&*prefix));
                    let first = oldest.and_then(|key| self.keys.get(key)).map(|found| (**found).clone());
                    self.found(self.count(&prefix), first)
                } else {
                    let then = self.as_of(&prefix, at);
                    let first = then.values().min_by_key(|key| key.create_revision).map(|found| Key::clone(found));
                    self.found(then.len() as u64, first)
                }
            }
            Request::Count { prefix, at } => {
                self.check_revision(at)?;
                let count = if at == 0 || at == self.revision {
                    self.count(&prefix)
                } else {
                    self.as_of(&prefix, at).len() as u64
                };
                self.found(count, None)
            }
            Request::Put { key, value, lease } => {
                self.check_lease(lease)?;
                self.advance();
                self.put(&key, value, lease);
                Reply::Done
            }
            Request::DeleteAll { prefix } => {
                let keys: Vec<Arc<str>> = self.with_prefix(&prefix).map(|(key, _)| Arc::clone(key)).collect();
                self.delete_together(keys);
                Reply::Done
            }
            Request::Grant { id, ttl } => {
                let ttl = ttl.max(self.shortest_ttl);
                let length = Duration::from_secs(ttl.unsigned_abs());
                let deadline = Instant::now() + length;
                self.leases.insert(id, Lease { ttl: length, deadline, keys: BTreeSet::new() });
                self.deadlines.insert((deadline, id));
                Reply::Granted { id, ttl }
            }
            Request::Revoke { lease } => {
                if !self.revoke(lease) {
                    return Err(Refusal::NoLease);
                }
                Reply::Done
            }
            Request::Renew { lease } => Reply::Renewed(self.renew(lease)),
        })
    }

    fn found(&self, count: u64, first: Option<Key>) -> Reply {
        Reply::Found(Found { first, count, revision: self.revision })
    }

    fn created(&self, key: &str) -> i64 {
        self.keys.get(key).map_or(0, |found| found.create_revision)
    }

    fn advance(&mut self) {
        self.revision += 1;
    }

    fn check_lease(&self, lease: i64) -> Result<(), Refusal> {
        if lease == 0 || self.leases.contains_key(&lease) { Ok(()) } else { Err(Refusal::NoLease) }
    }

    fn check_revision(&self, at: i64) -> Result<(), Refusal> {
        match at {
            0 => Ok(()),
            at if at > self.revision => Err(Refusal::Future),
            at if at < self.compacted => Err(Refusal::Compacted),
            _ => Ok(()),
        }
    }

    /// Puts a key, at the revision that the store has got to.
    fn put(&mut self, key: &Arc<str>, value: Vec<u8>, lease: i64) {
        let before = self.keys.get(key).map(|before| (before.create_revision, before.lease));
        let create_revision = before.map_or(self.revision, |(created, _)| created);
        match before {
            Some((_, lease)) => self.detach(lease, key),
            None => {
                self.by_creation.insert(create_revision, Arc::clone(key));
                *self.folders.entry(folder(key).to_owned()).or_insert(0) += 1;
            }
        }
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.keys.insert(Arc::clone(key));
        }
        let put = Key { key: key.to_string(), create_revision, mod_revision: self.revision, lease, value };
        let put = Arc::new(put);
        self.keys.insert(Arc::clone(key), Arc::clone(&put));
        self.changed(key, Some(put));
    }

    /// Deletes a key, at the revision that the store has got to.
    fn delete(&mut self, key: &Arc<str>) {
        let Some(gone) = self.keys.remove(key) else { return };
        self.by_creation.remove(&gone.create_revision);
        if let Some(count) = self.folders.get_mut(folder(key)) {
            *count -= 1;
            if *count == 0 {
                self.folders.remove(folder(key));
            }
        }
        self.detach(gone.lease, key);
        self.changed(key, None);
    }

    /// Deletes several keys in one revision, if there are any.
    fn delete_together(&mut self, keys: Vec<Arc<str>>) {
        if keys.is_empty() {
            return;
        }
        self.advance();
        for key in keys {
            self.delete(&key);
        }
    }

    fn detach(&mut self, lease: i64, key: &str) {
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.keys.remove(key);
        }
    }

    fn changed(&mut self, key: &Arc<str>, put: Option<Arc<Key>>) {
        self.changes.entry(Arc::clone(key)).or_default().push(self.history.len());
        self.history.push(Change { revision: self.revision, key: Arc::clone(key), put });
    }

    /// The keys with a prefix.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<Key>)> {
        self.keys.range::<str, _>((Included(prefix), Unbounded)).take_while(move |(key, _)| key.starts_with(prefix))
    }

    fn count(&self, prefix: &str) -> u64 {
        if prefix.ends_with('/') {
            let from = self.folders.range::<str, _>((Included(prefix), Unbounded));
            let below = from.take_while(|(folder, _)| folder.starts_with(prefix));
            return below.map(|(_, count)| count).sum();
        }
        self.with_prefix(prefix).count() as u64
    }

    /// The keys with a prefix as they were at a revision.
    fn as_of(&self, prefix: &str, at: i64) -> BTreeMap<&str, &Arc<Key>> {
        let mut then = BTreeMap::new();
        for change in self.history.iter().take_while(|change| change.revision <= at) {
            if change.key.starts_with(prefix) {
                match &change.put {
                    Some(key) => then.insert(&*change.key, key),
                    None => then.remove(&*change.key),
                };
            }
        }
        then
    }

    /// The history from a place on.
    pub fn since(&self, place: usize) -> &[Change] {
        &self.history[place..]
    }

    /// How long the history is.
    pub fn length(&self) -> usize {
        self.history.len()
    }

    /// What happened to a key, or to those with a prefix, from a revision on.
    pub fn happened<'a>(
        &'a self,
        key: &'a str,
        is_prefix: bool,
        from: i64,
    ) -> Box<dyn Iterator<Item = &'a Change> + 'a> {
        if is_prefix {
            let start = self.history.partition_point(|change| change.revision < from);
            return Box::new(self.history[start..].iter().filter(move |change| change.key.starts_with(key)));
        }
        let changes = self.changes.get(key).map_or(&[][..], Vec::as_slice);
        let start = changes.partition_point(|place| self.history[*place].revision < from);
        Box::new(changes[start..].iter().map(|place| &self.history[*place]))
    }

    /// Forgets what was before this revision; of this revision itself, what is not there any more. What was forgotten stays
    /// so.
    pub fn compact(&mut self, revision: i64) {
        if revision <= self.compacted {
            return;
        }
        self.compacted = revision.min(self.revision);
        let mut last = BTreeMap::new();
        for change in self.history.iter().take_while(|change| change.revision <= self.compacted) {
            last.insert(Arc::clone(&change.key), change.clone());
        }
        let mut kept: Vec<Change> = last.into_values().filter(|change| change.put.is_some()).collect();
        kept.sort_by_key(|change| change.revision);
        kept.extend(self.history.drain(..).filter(|change| change.revision > self.compacted));
        self.changes.clear();
        for (place, change) in kept.iter().enumerate() {
            self.changes.entry(Arc::clone(&change.key)).or_default().push(place);
        }
        self.history = kept;
    }

    /// Ends a lease and deletes its keys, in one revision. `false`: there is none.
    pub fn revoke(&mut self, lease: i64) -> bool {
        let Some(gone) = self.leases.remove(&lease) else { return false };
        self.deadlines.remove(&(gone.deadline, lease));
        self.delete_together(gone.keys.into_iter().collect());
        true
    }

    fn renew(&mut self, id: i64) -> bool {
        let Some(lease) = self.leases.get_mut(&id) else { return false };
        self.deadlines.remove(&(lease.deadline, id));
        lease.deadline = Instant::now() + lease.ttl;
        self.deadlines.insert((lease.deadline, id));
        true
    }

    /// A new leader gives every lease its full ttl again.
    pub fn extend_all(&mut self) {
        for id in self.leases.keys().copied().collect::<Vec<_>>() {
            self.renew(id);
        }
    }

    /// Whether the lease has run out, and only waits to be revoked.
    pub fn has_run_out(&self, lease: i64) -> bool {
        self.leases.get(&lease).is_some_and(|lease| lease.deadline <= Instant::now())
    }

    /// The leases with keys of which each has an older one beside it: whose workers wait, and hold nothing.
    pub fn waiting(&self) -> Vec<i64> {
        let mut first = BTreeMap::new();
        for (created, key) in &self.by_creation {
            first.entry(folder(key)).or_insert(*created);
        }
        let waits = |key: &Arc<str>| first.get(folder(key)).is_some_and(|first| *first < self.created(key));
        let only_waits = |lease: &Lease| !lease.keys.is_empty() && lease.keys.iter().all(waits);
        self.leases.iter().filter(|(_, lease)| only_waits(lease)).map(|(id, _)| *id).collect()
    }

    /// The leases that have run out.
    pub fn run_out(&self) -> Vec<i64> {
        let now = Instant::now();
        self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, lease)| *lease).collect()
    }
}

/// What a key's name begins with, up to its last segment.
fn folder(key: &str) -> &str {
    &key[..key.rfind('/').map_or(0, |at| at + 1)]
}
