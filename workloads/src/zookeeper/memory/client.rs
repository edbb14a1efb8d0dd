//! The client library's half of a session: what is under way, what is watched, and what it knows of its connection.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::watches::Kind;
use crate::record::EventKind;
use crate::zookeeper::session::{CreateMode, Created, SessionError, Stat};

#[derive(Clone, Debug)]
pub(super) enum Request {
    Create { path: Arc<str>, mode: CreateMode, data: Arc<[u8]> },
    Delete { path: Arc<str> },
    SetData { path: Arc<str>, data: Arc<[u8]> },
    Sync,
    Exists { path: Arc<str>, watch: bool },
    Data { path: Arc<str>, watch: bool },
    Children { path: Arc<str>, watch: bool },
    TakeBack { path: Arc<str>, kind: Kind },
    Close,
}

impl Request {
    /// What it watches.
    pub fn watches(&self) -> Option<(&Arc<str>, Kind)> {
        match self {
            Request::Exists { path, watch: true } | Request::Data { path, watch: true } => Some((path, Kind::Node)),
            Request::Children { path, watch: true } => Some((path, Kind::Children)),
            _ => None,
        }
    }

    /// Whether it goes through the leader, and holds up what the session asks after it until it is decided.
    pub fn is_write(&self) -> bool {
        match self {
            Request::Create { .. } | Request::Delete { .. } | Request::SetData { .. } => true,
            Request::Sync | Request::Close => true,
            Request::Exists { .. } | Request::Data { .. } | Request::Children { .. } | Request::TakeBack { .. } => {
                false
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Done,
    Created(Created),
    Stat(Option<Stat>),
    Data(Vec<u8>, Stat),
    Children(Vec<String>),
}

pub(super) type Outcome = Result<Answer, SessionError>;

/// A request of which the client does not know the outcome yet.
#[derive(Debug)]
pub(super) struct UnderWay {
    /// Counts up; also the watch's number, if it sets one.
    pub xid: u64,
    pub request: Request,
    pub reply: oneshot::Sender<Outcome>,
}

/// What a watcher waits for, which decides how it is set again on a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A change or the end of a znode that exists.
    Data,
    /// Whether a znode comes into being that does not exist.
    Absence,
    Children,
}

impl Role {
    pub fn kind(self) -> Kind {
        match self {
            Role::Data | Role::Absence => Kind::Node,
            Role::Children => Kind::Children,
        }
    }

    fn is_interested_in(self, event: EventKind) -> bool {
        match event {
            EventKind::Created | EventKind::Changed => self.kind() == Kind::Node,
            EventKind::Children => self.kind() == Kind::Children,
            EventKind::Deleted => true,
        }
    }
}

#[derive(Debug)]
pub(super) struct Watcher {
    pub path: Arc<str>,
    pub role: Role,
    fired: oneshot::Sender<Result<EventKind, SessionError>>,
}

/// What a server sends to a client.
#[derive(Debug)]
pub(super) enum Delivery {
    Reply { xid: u64, outcome: Outcome },
    Event { path: Arc<str>, kind: EventKind },
}

/// What a client knows of its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum View {
    Up,
    Down,
    Over(String),
}

#[derive(Debug)]
pub(super) struct Client {
    pub view: View,
    /// Told when that has changed. Not tokio's `watch`, which wakes those who wait in a random order.
    pub viewed: Arc<Notify>,
    /// Sent, in this order.
    pub under_way: VecDeque<UnderWay>,
    /// To be sent when there is a connection again.
    pub queued: VecDeque<UnderWay>,
    watchers: BTreeMap<u64, Watcher>,
    /// Watches that nobody waits for any more, and that could not be taken back while one of the same was being set.
    dangling: BTreeSet<(Arc<str>, Kind)>,
    /// Where the receiver of a watch is kept until its setter takes it.
    set: BTreeMap<u64, oneshot::Receiver<Result<EventKind, SessionError>>>,
    /// The latest change that it has seen the effect of.
    pub seen: i64,
    /// On its way, each with the change up to which its server had got.
    pub inbox: VecDeque<(i64, Delivery)>,
    /// Stands still until then, with the worker that it belongs to.
    pub paused_until: Instant,
    /// The worker is dead: nothing is sent any more.
    pub abandoned: bool,
    pub next_xid: u64,
}

impl Client {
    pub fn new(seen: i64) -> Self {
        Client {
            view: View::Up,
            viewed: Arc::default(),
            under_way: VecDeque::new(),
            queued: VecDeque::new(),
            watchers: BTreeMap::new(),
            dangling: BTreeSet::new(),
            set: BTreeMap::new(),
            seen,
            inbox: VecDeque::new(),
            paused_until: Instant::now(),
            abandoned: false,
            next_xid: 0,
        }
    }

    pub fn is_paused(&self) -> bool {
        self.paused_until > Instant::now()
    }

    /// A reply has come. Tells of a watch that nobody waits for, to be taken back.
    pub fn replied(&mut self, xid: u64, outcome: Outcome) -> Option<(Arc<str>, Kind)> {
        let at = self.under_way.iter().position(|under_way| under_way.xid == xid)?;
        let UnderWay { request, reply, .. } = self.under_way.remove(at)?;
        let watched = request.watches().map(|(path, kind)| (Arc::clone(path), kind));
        if let Some((path, kind)) = &watched
            && let Some(role) = role(&outcome, *kind)
        {
            if reply.is_closed() {
                self.dangling.insert((Arc::clone(path), *kind));
            } else {
                let (fired, set) = oneshot::channel();
                self.watchers.insert(xid, Watcher { path: Arc::clone(path), role, fired });
                self.set.insert(xid, set);
            }
        }
        // An error means that nobody waits for the reply any more.
        let _ = reply.send(outcome);
        watched
            .filter(|watched| self.dangling.contains(watched))
            .and_then(|(path, kind)| self.unless_needed(path, kind))
    }

    /// The watch that was set by this request.
    pub fn take_set(&mut self, xid: u64) -> Option<oneshot::Receiver<Result<EventKind, SessionError>>> {
        self.set.remove(&xid)
    }

    /// Nobody waits for this watch any more. Tells what to take back, if that is to be done now.
    pub fn take_back(&mut self, xid: u64) -> Option<(Arc<str>, Kind)> {
        self.set.remove(&xid);
        let watcher = self.watchers.remove(&xid)?;
        self.unless_needed(watcher.path, watcher.role.kind())
    }

    /// The watch, unless another of the session's tasks waits for the same, or is about to: the server has only one of them.
    fn unless_needed(&mut self, path: Arc<str>, kind: Kind) -> Option<(Arc<str>, Kind)> {
        self.dangling.remove(&(Arc::clone(&path), kind));
        if self.watchers.values().any(|watcher| watcher.path == path && watcher.role.kind() == kind) {
            return None;
        }
        if self.under_way.iter().any(|under_way| under_way.request.watches() == Some((&path, kind))) {
            self.dangling.insert((path, kind));
            return None;
        }
        Some((path, kind))
    }

    /// A notification has come.
    pub fn notified(&mut self, path: &str, kind: EventKind) {
        let concerns = |watcher: &Watcher| *watcher.path == *path && watcher.role.is_interested_in(kind);
        let concerned: Vec<u64> =
            self.watchers.iter().filter(|(_, watcher)| concerns(watcher)).map(|(xid, _)| *xid).collect();
        for watcher in concerned.iter().filter_map(|xid| self.watchers.remove(xid)) {
            // An error means that the watch is being taken back.
            let _ = watcher.fired.send(Ok(kind));
        }
    }

    /// What is watched, for a new connection.
    pub fn watched(&self) -> Vec<(Arc<str>, Role)> {
        self.watchers.values().map(|watcher| (Arc::clone(&watcher.path), watcher.role)).collect()
    }

    /// The connection is known to be broken: what was under way may or may not have happened.
    pub fn disconnected(&mut self) {
        self.dangling.clear();
        for under_way in std::mem::take(&mut self.under_way) {
            let _ = under_way.reply.send(Err(SessionError::Unknown("the connection is lost".to_owned())));
        }
        if self.view == View::Up {
            self.view = View::Down;
            self.viewed.notify_waiters();
        }
    }

    /// The session is known to be over.
    pub fn over(&mut self, why: &str) {
        if matches!(self.view, View::Over(_)) {
            return;
        }
        let lost = || SessionError::Lost(why.to_owned());
        for under_way in std::mem::take(&mut self.under_way).into_iter().chain(std::mem::take(&mut self.queued)) {
            let _ = under_way.reply.send(Err(lost()));
        }
        for (_, watcher) in std::mem::take(&mut self.watchers) {
            let _ = watcher.fired.send(Err(lost()));
        }
        self.inbox.clear();
        self.view = View::Over(why.to_owned());
        self.viewed.notify_waiters();
    }
}

/// What the watch of an answer waits for; `None` where the answer sets none.
fn role(outcome: &Outcome, kind: Kind) -> Option<Role> {
    match (outcome, kind) {
        (Ok(Answer::Stat(None)), _) => Some(Role::Absence),
        (Ok(_), Kind::Node) => Some(Role::Data),
        (Ok(_), Kind::Children) => Some(Role::Children),
        (Err(_), _) => None,
    }
}
