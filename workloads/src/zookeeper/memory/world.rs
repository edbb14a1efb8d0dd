//! Servers, sessions, and what can happen.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::time::Instant;

use super::Settings;
use super::client::{Client, Delivery, Outcome, Request};
use super::ensemble::Counters;
use super::tree::{Change, Touched, Tree, parent};
use super::watches::{Fired, Watches};
use crate::chaos::{self, Agenda, Dice, Fate, Trace, Weather};

/// The one that decides.
pub(super) const LEADER: usize = 0;

/// What can happen. `epoch` is the connection that it belongs to: once that is gone, it does not happen.
#[derive(Debug)]
pub(super) enum Event {
    /// A request reaches the session's server.
    Arrive { session: i64, epoch: u64, xid: u64, request: Request, fate: Fate },
    /// A write reaches the leader, through this server.
    Decide { session: i64, epoch: u64, server: usize, xid: u64, request: Request, fate: Fate },
    /// A server applies what was decided, so far.
    Apply { server: usize, upto: usize },
    /// The first that is in a client's inbox reaches it.
    Deliver { session: i64, epoch: u64 },
    /// A client learns that its connection is broken, and tries to connect again after this time.
    Notice { session: i64, epoch: u64, outage: std::time::Duration },
    /// A client tries to connect again.
    Reconnect { session: i64, epoch: u64 },
    /// The servers give a session up that they have not heard of.
    Expire { session: i64, epoch: u64 },
    /// A client that has not heard of the servers gives its session up.
    GiveUp { session: i64, epoch: u64 },
    /// A client goes on that stood still.
    Resume { session: i64, epoch: u64 },
    /// Some connection breaks.
    Gust,
    /// A container without children is removed.
    Reap { path: Arc<str> },
}

/// A server's half of a session.
#[derive(Debug)]
pub(super) struct Hold {
    pub alive: bool,
    /// Counts connections made and lost.
    pub epoch: u64,
    /// The server that has its connection.
    pub attached: Option<usize>,
    /// The server whose requests the leader takes for it: the last one that had its connection.
    pub owner: usize,
    /// Asked and not yet answered.
    pub pipeline: VecDeque<(u64, Request, Fate)>,
    /// The first in the pipeline is at the leader.
    pub busy: bool,
    /// The session's writes reach the leader in order.
    pub decided_at: Instant,
    /// Its requests reach its server in order.
    pub arrives_at: Instant,
    /// What its server sends reaches it in order.
    pub delivered_at: Instant,
}

pub(super) struct Member {
    pub client: Client,
    pub hold: Hold,
}

/// A reply to a write that waits until the session's server has applied it.
struct Waiting {
    zxid: i64,
    session: i64,
    epoch: u64,
    xid: u64,
    outcome: Outcome,
    fate: Fate,
}

pub(super) struct Server {
    pub tree: Tree,
    pub watches: Watches,
    /// How many of the decided changes it has applied, and the last one.
    applied: usize,
    pub zxid: i64,
    /// When the last of those that are on their way to it is applied.
    applies_at: Instant,
    waiting: VecDeque<Waiting>,
}

pub(super) struct World {
    pub settings: Settings,
    pub dice: Dice,
    pub trace: Trace,
    pub agenda: Agenda<Event>,
    pub servers: Vec<Server>,
    /// All that was decided. A change's zxid is its place in here, plus one.
    log: Vec<Change>,
    /// A session's id is its place in here, plus one.
    pub sessions: Vec<Member>,
    pub counters: Counters,
    start: Instant,
}

impl World {
    pub fn new(seed: u64, settings: Settings, trace: Trace) -> Self {
        let start = Instant::now();
        let server = |_| Server {
            tree: Tree::new(),
            watches: Watches::default(),
            applied: 0,
            zxid: 0,
            applies_at: start,
            waiting: VecDeque::new(),
        };
        let servers = (0..settings.servers.max(1)).map(server).collect();
        let mut world = World {
            dice: Dice::new(seed, "zookeeper"),
            trace,
            agenda: Agenda::default(),
            servers,
            log: Vec::new(),
            sessions: Vec::new(),
            counters: Counters::default(),
            start,
            settings,
        };
        world.next_gust();
        world
    }

    pub fn member(&mut self, session: i64) -> &mut Member {
        &mut self.sessions[session as usize - 1]
    }

    /// Whether things still go wrong.
    pub fn is_rough(&self) -> bool {
        self.start.elapsed() < self.settings.weather.calm_after
    }

    pub fn delay(&mut self) -> std::time::Duration {
        self.dice.delay(self.settings.weather.delay)
    }

    fn next_gust(&mut self) {
        if let Some(gap) = Weather::gap(self.settings.weather.breaks_every, &mut self.dice) {
            self.agenda.at(Instant::now() + gap, Event::Gust);
        }
    }

    /// Puts a change into the order of all. The leader applies it at once, the others when they get to it.
    pub fn decide(&mut self, change: Change) -> i64 {
        self.log.push(change);
        let upto = self.log.len();
        for server in 0..self.servers.len() {
            if server == LEADER {
                self.apply(server, upto);
                continue;
            }
            let lag = self.dice.delay(self.settings.weather.lag);
            let at = self.servers[server].applies_at.max(Instant::now() + lag);
            self.servers[server].applies_at = at;
            if at <= Instant::now() {
                self.apply(server, upto);
            } else {
                self.agenda.at(at, Event::Apply { server, upto });
            }
        }
        upto as i64
    }

    fn apply(&mut self, server: usize, upto: usize) {
        while self.servers[server].applied < upto {
            let at = &mut self.servers[server];
            let zxid = at.applied as i64 + 1;
            let touched = at.tree.apply(zxid, &self.log[at.applied]);
            at.applied += 1;
            at.zxid = zxid;
            for touched in &touched {
                for Fired { session, path, kind } in self.servers[server].watches.fire(touched) {
                    self.counters.notifications += 1;
                    self.post(session, server, Delivery::Event { path, kind });
                }
                if let (LEADER, Touched::Deleted(path)) = (server, touched) {
                    self.spend(parent(path).into());
                }
            }
            while self.servers[server].waiting.front().is_some_and(|waiting| waiting.zxid <= zxid) {
                if let Some(waiting) = self.servers[server].waiting.pop_front() {
                    let Waiting { session, epoch, xid, outcome, fate, .. } = waiting;
                    self.answered(session, epoch, server, xid, outcome, fate);
                }
            }
        }
    }

    /// Sends the outcome of a write once `server` has applied it.
    pub fn answer_at(
        &mut self,
        zxid: i64,
        (session, epoch, server): (i64, u64, usize),
        xid: u64,
        outcome: Outcome,
        fate: Fate,
    ) {
        if self.servers[server].zxid >= zxid {
            self.answered(session, epoch, server, xid, outcome, fate);
        } else {
            self.servers[server].waiting.push_back(Waiting { zxid, session, epoch, xid, outcome, fate });
        }
    }

    /// Sends something to a client, behind all that was sent to it before.
    pub fn post(&mut self, session: i64, server: usize, delivery: Delivery) {
        let (delay, zxid) = (self.delay(), self.servers[server].zxid);
        let Member { client, hold } = self.member(session);
        if hold.attached != Some(server) {
            return;
        }
        client.inbox.push_back((zxid, delivery));
        hold.delivered_at = hold.delivered_at.max(Instant::now() + delay);
        let (at, epoch) = (hold.delivered_at, hold.epoch);
        self.agenda.at(at, Event::Deliver { session, epoch });
    }

    /// If the container is left without children it is removed, some time later.
    fn spend(&mut self, path: Arc<str>) {
        if !self.settings.reap_after.is_zero() && self.servers[LEADER].tree.is_spent(&path) {
            let after = self.dice.delay(self.settings.reap_after);
            self.agenda.at(Instant::now() + after, Event::Reap { path });
        }
    }

    fn gust(&mut self) {
        if !self.is_rough() {
            return;
        }
        let exposed: Vec<i64> = (1..)
            .zip(&self.sessions)
            .filter(|(_, member)| member.hold.attached.is_some())
            .map(|(session, _)| session)
            .collect();
        if !exposed.is_empty() {
            let session = exposed[self.dice.below(exposed.len())];
            self.break_connection(session);
        }
        self.next_gust();
    }
}

impl chaos::World for World {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { session, epoch, xid, request, fate } => self.arrive(session, epoch, xid, request, fate),
            Event::Decide { session, epoch, server, xid, request, fate } => {
                self.decide_for((session, epoch, server), xid, request, fate);
            }
            Event::Apply { server, upto } => self.apply(server, upto),
            Event::Deliver { session, epoch } => self.deliver(session, epoch),
            Event::Notice { session, epoch, outage } => self.notice(session, epoch, outage),
            Event::Reconnect { session, epoch } => self.reconnect(session, epoch),
            Event::Expire { session, epoch } => self.expire(session, epoch),
            Event::GiveUp { session, epoch } => self.give_up(session, epoch),
            Event::Resume { session, epoch } => self.resume(session, epoch),
            Event::Gust => self.gust(),
            Event::Reap { path } => {
                if self.servers[LEADER].tree.is_spent(&path) {
                    self.trace.note(|| format!("the servers remove the container {path}"));
                    self.decide(Change::Delete { path });
                }
            }
        }
    }
}
