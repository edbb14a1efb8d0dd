//! The znodes, as one server has them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::zookeeper::names;
use crate::zookeeper::session::{CreateMode, SessionError, Stat};

/// A decided change, in the order in which the leader decided it. All servers apply the same ones in the same order, so that
/// their trees are the same once they have.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Create {
        path: Arc<str>,
        data: Arc<[u8]>,
        owner: i64,
        container: bool,
    },
    Delete {
        path: Arc<str>,
    },
    SetData {
        path: Arc<str>,
        data: Arc<[u8]>,
    },
    /// The session is over, and its ephemeral znodes go.
    Close {
        session: i64,
    },
    /// A write that was refused: it takes a place in the order and changes nothing.
    Nothing,
}

/// What a change did to a znode, for those who watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    Created(Arc<str>),
    Deleted(Arc<str>),
    Changed(Arc<str>),
}

#[derive(Clone, Debug)]
pub(super) struct Znode {
    pub data: Arc<[u8]>,
    pub czxid: i64,
    /// The last change of the data.
    pub mzxid: i64,
    /// The last change of the list of children.
    pub pzxid: i64,
    /// The session that an ephemeral one belongs to; 0 for the others.
    pub owner: i64,
    pub container: bool,
    /// Children that were ever created: what a sequential child is numbered by.
    pub created: i64,
    pub children: BTreeSet<Arc<str>>,
}

impl Znode {
    fn new(zxid: i64, data: Arc<[u8]>, owner: i64, container: bool) -> Self {
        let children = BTreeSet::new();
        Znode { data, czxid: zxid, mzxid: zxid, pzxid: zxid, owner, container, created: 0, children }
    }

    pub fn stat(&self) -> Stat {
        Stat { czxid: self.czxid, ephemeral_owner: self.owner }
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<Arc<str>, Znode>,
    ephemerals: BTreeMap<i64, BTreeSet<Arc<str>>>,
}

impl Tree {
    /// The root alone.
    pub fn new() -> Self {
        let root = Znode::new(0, Arc::from([]), 0, false);
        Tree { nodes: BTreeMap::from([(Arc::from("/"), root)]), ephemerals: BTreeMap::new() }
    }

    pub fn get(&self, path: &str) -> Option<&Znode> {
        self.nodes.get(path)
    }

    /// What a create decides to, with the number appended where it is sequential.
    pub fn create(&self, path: &str, mode: CreateMode, data: &[u8], session: i64) -> Result<Change, SessionError> {
        let parent = self.get(parent(path)).ok_or(SessionError::NoNode)?;
        let path: Arc<str> = match mode {
            CreateMode::EphemeralSequential => format!("{path}{:010}", parent.created).into(),
            _ => path.into(),
        };
        if self.nodes.contains_key(&path) {
            return Err(SessionError::NodeExists);
        }
        if parent.owner != 0 {
            return Err(SessionError::Refused("ephemeral znodes have no children".to_owned()));
        }
        let owner = match mode {
            CreateMode::Ephemeral | CreateMode::EphemeralSequential => session,
            CreateMode::Persistent | CreateMode::Container => 0,
        };
        Ok(Change::Create { path, data: data.into(), owner, container: mode == CreateMode::Container })
    }

    /// What a delete decides to.
    pub fn delete(&self, path: &str) -> Result<Change, SessionError> {
        let (path, node) = self.nodes.get_key_value(path).ok_or(SessionError::NoNode)?;
        if node.children.is_empty() {
            Ok(Change::Delete { path: Arc::clone(path) })
        } else {
            Err(SessionError::NotEmpty)
        }
    }

    /// What an overwriting decides to.
    pub fn set_data(&self, path: &str, data: &[u8]) -> Result<Change, SessionError> {
        let (path, _) = self.nodes.get_key_value(path).ok_or(SessionError::NoNode)?;
        Ok(Change::SetData { path: Arc::clone(path), data: data.into() })
    }

    /// Whether it is a container that had children and has none any more: then it may be removed.
    pub fn is_spent(&self, path: &str) -> bool {
        self.get(path).is_some_and(|node| node.container && node.created > 0 && node.children.is_empty())
    }

    /// Carries a decided change out, and tells whom it concerns.
    pub fn apply(&mut self, zxid: i64, change: &Change) -> Vec<Touched> {
        match change {
            Change::Create { path, data, owner, container } => {
                let node = Znode::new(zxid, Arc::clone(data), *owner, *container);
                self.nodes.insert(Arc::clone(path), node);
                if *owner != 0 {
                    self.ephemerals.entry(*owner).or_default().insert(Arc::clone(path));
                }
                if let Some(above) = self.nodes.get_mut(parent(path)) {
                    above.created += 1;
                    above.pzxid = zxid;
                    above.children.insert(names::last_segment(path).into());
                }
                vec![Touched::Created(Arc::clone(path))]
            }
            Change::Delete { path } => self.remove(zxid, path).into_iter().collect(),
            Change::SetData { path, data } => match self.nodes.get_mut(path) {
                Some(node) => {
                    node.data = Arc::clone(data);
                    node.mzxid = zxid;
                    vec![Touched::Changed(Arc::clone(path))]
                }
                None => Vec::new(),
            },
            Change::Close { session } => {
                let paths = self.ephemerals.remove(session).unwrap_or_default();
                paths.iter().filter_map(|path| self.remove(zxid, path)).collect()
            }
            Change::Nothing => Vec::new(),
        }
    }

    fn remove(&mut self, zxid: i64, path: &Arc<str>) -> Option<Touched> {
        let node = self.nodes.remove(path)?;
        if let Some(paths) = self.ephemerals.get_mut(&node.owner) {
            paths.remove(path);
        }
        if let Some(above) = self.nodes.get_mut(parent(path)) {
            above.pzxid = zxid;
            above.children.remove(names::last_segment(path));
        }
        Some(Touched::Deleted(Arc::clone(path)))
    }

    /// The paths of all znodes that are below `path`, without the containers, which go by themselves.
    pub fn below(&self, path: &str) -> Vec<String> {
        let start = format!("{path}/");
        let below = self.nodes.iter().filter(|(path, node)| path.starts_with(&start) && !node.container);
        below.map(|(path, _)| path.to_string()).collect()
    }
}

/// The path above; of a path right below the root, the root.
pub(super) fn parent(path: &str) -> &str {
    match names::parent(path) {
        "" => "/",
        parent => parent,
    }
}
