//! The watches that stand on one server, one-shot each. A session has one at most for each path and kind, however many of
//! its tasks wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::tree::{Touched, parent};
use crate::record::EventKind;

/// What a watch is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The znode itself: set by a read of its data, or of whether it exists.
    Node,
    /// The list of its children.
    Children,
}

/// An event on its way to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fired {
    pub session: i64,
    pub path: Arc<str>,
    pub kind: EventKind,
}

#[derive(Debug, Default)]
pub(super) struct Watches {
    on: BTreeMap<(Arc<str>, Kind), BTreeSet<i64>>,
    of: BTreeMap<i64, BTreeSet<(Arc<str>, Kind)>>,
}

impl Watches {
    pub fn set(&mut self, session: i64, path: &Arc<str>, kind: Kind) {
        let at = (Arc::clone(path), kind);
        self.on.entry(at.clone()).or_default().insert(session);
        self.of.entry(session).or_default().insert(at);
    }

    pub fn take_back(&mut self, session: i64, path: &Arc<str>, kind: Kind) {
        let at = (Arc::clone(path), kind);
        if let Some(of) = self.of.get_mut(&session) {
            of.remove(&at);
        }
        self.forget(session, &at);
    }

    /// The connection of the session is gone, and what it watched with it.
    pub fn take_all_back(&mut self, session: i64) {
        for at in self.of.remove(&session).unwrap_or_default() {
            self.forget(session, &at);
        }
    }

    fn forget(&mut self, session: i64, at: &(Arc<str>, Kind)) {
        if let Some(sessions) = self.on.get_mut(at) {
            sessions.remove(&session);
            if sessions.is_empty() {
                self.on.remove(at);
            }
        }
    }

    /// How many stand.
    pub fn count(&self) -> usize {
        self.on.values().map(BTreeSet::len).sum()
    }

    /// Fires what a change concerns. Whoever watches a znode and its list of children alike is told once that it is gone.
    pub fn fire(&mut self, touched: &Touched) -> Vec<Fired> {
        let mut fired = Vec::new();
        match touched {
            Touched::Created(path) => {
                self.trigger(path, Kind::Node, EventKind::Created, &mut fired);
                self.trigger(&parent(path).into(), Kind::Children, EventKind::Children, &mut fired);
            }
            Touched::Changed(path) => self.trigger(path, Kind::Node, EventKind::Changed, &mut fired),
            Touched::Deleted(path) => {
                self.trigger(path, Kind::Node, EventKind::Deleted, &mut fired);
                self.trigger(path, Kind::Children, EventKind::Deleted, &mut fired);
                self.trigger(&parent(path).into(), Kind::Children, EventKind::Children, &mut fired);
            }
        }
        fired
    }

    fn trigger(&mut self, path: &Arc<str>, on: Kind, kind: EventKind, fired: &mut Vec<Fired>) {
        let at = (Arc::clone(path), on);
        for session in self.on.remove(&at).unwrap_or_default() {
            if let Some(of) = self.of.get_mut(&session) {
                of.remove(&at);
            }
            let event = Fired { session, path: Arc::clone(path), kind };
            if !fired.contains(&event) {
                fired.push(event);
            }
        }
    }
}
