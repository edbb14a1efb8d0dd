//! A server answers requests: reads from what it has, writes once the leader has decided them and it has applied that.

use std::sync::Arc;

use tokio::time::Instant;

use super::client::{Answer, Delivery, Outcome, Request};
use super::tree::Change;
use super::watches::Kind;
use super::world::{Event, LEADER, Member, World};
use crate::chaos::Fate;
use crate::zookeeper::session::{Created, SessionError, Stat};

/// Lists up to this long come in any order; longer ones would cost more than they could show.
const SHUFFLED: usize = 64;

impl World {
    /// A request has come to its server.
    pub fn arrive(&mut self, session: i64, epoch: u64, xid: u64, request: Request, fate: Fate) {
        let hold = &mut self.member(session).hold;
        if hold.epoch != epoch {
            return;
        }
        hold.pipeline.push_back((xid, request, fate));
        self.go_on(session);
    }

    /// Answers what the session has asked, up to the first write that is to be decided.
    fn go_on(&mut self, session: i64) {
        loop {
            let late = self.dice.delay(self.settings.timeout / 8);
            let delay = self.delay();
            let Member { hold, .. } = self.member(session);
            let Some(server) = hold.attached else { return };
            if hold.busy {
                return;
            }
            let Some((xid, request, fate)) = hold.pipeline.pop_front() else { return };
            let epoch = hold.epoch;
            if request.is_write() {
                hold.busy = true;
                let delay = match (fate, server) {
                    (Fate::Late, _) => late,
                    (_, LEADER) => std::time::Duration::ZERO,
                    _ => delay,
                };
                hold.decided_at = hold.decided_at.max(Instant::now() + delay);
                let at = hold.decided_at;
                self.agenda.at(at, Event::Decide { session, epoch, server, xid, request, fate });
                if fate == Fate::Late {
                    self.break_connection(session);
                }
                return;
            }
            let outcome = self.read(session, server, &request);
            self.send_answer(session, server, xid, outcome, fate);
        }
    }

    /// A write has come to the leader. From a server that has the session's connection no longer it is still taken, unless
    /// another one has it now.
    pub fn decide_for(&mut self, (session, epoch, server): (i64, u64, usize), xid: u64, request: Request, fate: Fate) {
        let hold = &self.member(session).hold;
        if !hold.alive || hold.owner != server {
            self.trace.note(|| format!("s{session} {request:?} comes too late"));
            return;
        }
        self.counters.writes += 1;
        if matches!(request, Request::Close) {
            self.end_session(session);
            return;
        }
        let tree = &self.servers[LEADER].tree;
        let decided = match &request {
            Request::Create { path, mode, data } => tree.create(path, *mode, data, session),
            Request::Delete { path } => tree.delete(path),
            Request::SetData { path, data } => tree.set_data(path, data),
            _ => Ok(Change::Nothing),
        };
        // A sync changes nothing and has no place of its own in the order: it waits for all that has been decided.
        let is_sync = matches!(request, Request::Sync);
        let (zxid, outcome) = match decided {
            Ok(_) if is_sync => (self.servers[LEADER].zxid, Ok(Answer::Done)),
            Ok(change) => {
                let created = match &change {
                    Change::Create { path, owner, .. } => Some((path.to_string(), *owner)),
                    _ => None,
                };
                let zxid = self.decide(change);
                let answer = created.map_or(Answer::Done, |(path, ephemeral_owner)| {
                    Answer::Created(Created { path, stat: Stat { czxid: zxid, ephemeral_owner } })
                });
                (zxid, Ok(answer))
            }
            Err(error) => (self.decide(Change::Nothing), Err(error)),
        };
        self.trace.note(|| format!("s{session} {request:?} is decided as {zxid}: {outcome:?}"));
        self.answer_at(zxid, (session, epoch, server), xid, outcome, fate);
    }

    /// The session's server has applied its write.
    pub fn answered(&mut self, session: i64, epoch: u64, server: usize, xid: u64, outcome: Outcome, fate: Fate) {
        let hold = &mut self.member(session).hold;
        if hold.epoch != epoch {
            return;
        }
        hold.busy = false;
        self.send_answer(session, server, xid, outcome, fate);
        self.go_on(session);
    }

    fn send_answer(&mut self, session: i64, server: usize, xid: u64, outcome: Outcome, fate: Fate) {
        if fate == Fate::Answered {
            self.post(session, server, Delivery::Reply { xid, outcome });
        } else {
            self.break_connection(session);
        }
    }

    fn read(&mut self, session: i64, server: usize, request: &Request) -> Outcome {
        self.counters.reads += 1;
        let at = &mut self.servers[server];
        let outcome = match request {
            Request::Exists { path, .. } => Ok(Answer::Stat(at.tree.get(path).map(|node| node.stat()))),
            Request::Data { path, .. } => match at.tree.get(path) {
                Some(node) => Ok(Answer::Data(node.data.to_vec(), node.stat())),
                None => Err(SessionError::NoNode),
            },
            Request::Children { path, .. } => match at.tree.get(path) {
                Some(node) => Ok(Answer::Children(node.children.iter().map(ToString::to_string).collect())),
                None => Err(SessionError::NoNode),
            },
            Request::TakeBack { path, kind } => {
                at.watches.take_back(session, path, *kind);
                Ok(Answer::Done)
            }
            _ => Ok(Answer::Done),
        };
        if let (Some((path, kind)), Ok(_)) = (request.watches(), &outcome) {
            at.watches.set(session, path, kind);
        }
        let mut outcome = outcome;
        if let Ok(Answer::Children(names)) = &mut outcome
            && names.len() <= SHUFFLED
        {
            self.dice.shuffle(names);
        }
        self.trace.note(|| format!("s{session} {request:?} at server {server}: {outcome:?}"));
        outcome
    }

    /// A new connection sets the session's watches again, and tells at once what they have missed since `seen`.
    pub fn set_again(&mut self, session: i64, server: usize, seen: i64) {
        use super::client::Role;
        use crate::record::EventKind;
        for (path, role) in self.member(session).client.watched() {
            let at = &mut self.servers[server];
            let missed = match (at.tree.get(&path), role) {
                (Some(_), Role::Absence) => Some(EventKind::Created),
                (None, Role::Absence) => None,
                (None, Role::Data | Role::Children) => Some(EventKind::Deleted),
                (Some(node), Role::Data) => (node.mzxid > seen).then_some(EventKind::Changed),
                (Some(node), Role::Children) => (node.pzxid > seen).then_some(EventKind::Children),
            };
            match missed {
                Some(kind) => {
                    self.counters.notifications += 1;
                    self.post(session, server, Delivery::Event { path, kind });
                }
                None => at.watches.set(session, &path, role.kind()),
            }
        }
    }

    /// Takes a watch back that nobody waits for any more.
    pub fn send_take_back(&mut self, session: i64, (path, kind): (Arc<str>, Kind)) {
        // Nobody waits for the answer.
        let _ = self.send(session, Request::TakeBack { path, kind });
    }
}
