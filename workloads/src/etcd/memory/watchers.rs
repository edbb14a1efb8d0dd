//! The watches that stand on the servers, and who is to be told of a change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::store::Change;
use crate::etcd::session::line::{Happened, Wanted};

/// A watch: its stream, and its number there.
pub(super) type Place = (u64, i64);

#[derive(Clone, Debug)]
pub(super) struct Watcher {
    pub key: Arc<str>,
    pub prefix: bool,
    puts: bool,
    deletions: bool,
    pub from: i64,
}

impl From<Wanted<'_>> for Watcher {
    fn from(wanted: Wanted<'_>) -> Self {
        let Wanted { key, prefix, puts, deletions, from, .. } = wanted;
        Watcher { key: key.into(), prefix, puts, deletions, from }
    }
}

impl Watcher {
    /// The event that the change is to this watch, whose key it concerns; `None` where it is none.
    pub fn event(&self, change: &Change) -> Option<Happened> {
        let deleted = change.put.is_none();
        let wanted = change.revision >= self.from && if deleted { self.deletions } else { self.puts };
        let create_revision = change.put.as_ref().map_or(0, |key| key.create_revision);
        wanted.then_some(Happened { deleted, create_revision, revision: change.revision })
    }
}

#[derive(Debug, Default)]
pub(super) struct Watchers {
    all: BTreeMap<Place, Watcher>,
    on_key: BTreeMap<Arc<str>, BTreeSet<Place>>,
    on_prefix: BTreeSet<Place>,
}

impl Watchers {
    pub fn set(&mut self, place: Place, watcher: Watcher) {
        if watcher.prefix {
            self.on_prefix.insert(place);
        } else {
            self.on_key.entry(Arc::clone(&watcher.key)).or_default().insert(place);
        }
        self.all.insert(place, watcher);
    }

    /// Whether there was one.
    pub fn remove(&mut self, place: Place) -> bool {
        let Some(watcher) = self.all.remove(&place) else { return false };
        self.on_prefix.remove(&place);
        if let Some(places) = self.on_key.get_mut(&watcher.key) {
            places.remove(&place);
            if places.is_empty() {
                self.on_key.remove(&watcher.key);
            }
        }
        true
    }

    /// The stream is gone, and its watches with it.
    pub fn close(&mut self, stream: u64) {
        let of_it: Vec<Place> =
            self.all.range((stream, i64::MIN)..=(stream, i64::MAX)).map(|(place, _)| *place).collect();
        for place in of_it {
            self.remove(place);
        }
    }

    /// Who is told what of a change.
    pub fn told(&self, change: &Change) -> Vec<(Place, Happened)> {
        let on_key = self.on_key.get(&change.key).into_iter().flatten();
        let concerned =
            |place: &&Place| self.all.get(place).is_some_and(|watcher| change.key.starts_with(&*watcher.key));
        let on_prefix = self.on_prefix.iter().filter(concerned);
        let event = |place: &Place| Some((*place, self.all.get(place)?.event(change)?));
        on_key.chain(on_prefix).filter_map(event).collect()
    }

    /// How many stand.
    pub fn count(&self) -> usize {
        self.all.len()
    }
}
