//! What can happen between clients and the ensemble, and what goes wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tonic::Status;

use super::ensemble::{Counters, Settings};
use super::frozen::Pause;
use super::store::{Refusal, Reply, Request, Store};
use super::watchers::{Watcher, Watchers};
use crate::chaos::{self, Agenda, Dice, Fate, Trace, Weather};
use crate::etcd::session::line::{Happened, Heard, LineError, News};

/// How often the servers look for leases that have run out.
const LOOK: Duration = Duration::from_millis(500);
/// The least that a write of the servers' own takes.
const QUORUM: Duration = Duration::from_millis(1);
/// The longest until a client notices a connection that was closed.
const NOTICED: Duration = Duration::from_millis(50);
/// The longest until a server notices.
const CLOSED: Duration = Duration::from_millis(2000);
/// Of a thousand gusts, how many are an election among the servers.
const ELECTIONS: u32 = 100;
/// The longest that one takes.
const ELECTION: Duration = Duration::from_millis(1000);
/// Of a thousand gusts, in weather in which workers die, how many end the lease of somebody who waits.
const REVOCATIONS: u32 = 300;

type Outcome = Result<Reply, LineError>;

/// What a client asks on a stream.
#[derive(Debug)]
pub(super) enum Ask {
    Set(i64, Watcher),
    Cancel(i64),
}

/// What can happen.
#[derive(Debug)]
pub(super) enum Event {
    /// A request reaches the servers, over this connection.
    Arrive { way: usize, epoch: u64, id: u64, request: Request, fate: Fate },
    /// What became of it reaches the client, if the connection stands.
    Answer { way: usize, epoch: u64, id: u64, outcome: Box<Outcome> },
    /// A client that tries to connect is told that it cannot.
    Refuse { failing: oneshot::Sender<LineError> },
    /// What is asked on a stream reaches the servers.
    Asked { stream: u64, ask: Ask },
    /// What is told on a stream reaches the client.
    Tell { stream: u64, heard: Heard },
    /// A client learns that its connection is broken.
    Notice { way: usize, epoch: u64 },
    /// The servers learn that a stream is gone.
    Closed { stream: u64 },
    /// The servers look for leases that have run out.
    Look,
    /// They revoke one of them.
    Revoke { lease: i64 },
    /// Something breaks.
    Gust,
}

/// The servers' and the network's side of a client.
struct Side {
    pause: Pause,
    /// Counts the connections.
    epoch: u64,
    /// The connection is broken; in silence, if so.
    broken: Option<bool>,
    /// No connection can be made before.
    down_until: Instant,
    /// Sent over this connection, and neither answered nor given up.
    under_way: BTreeMap<u64, oneshot::Sender<Outcome>>,
    stream: Option<u64>,
    /// Nothing is sent any more.
    dead: bool,
}

/// A stream, by what both sides have still to hear.
struct Flow {
    way: usize,
    to_client: Option<mpsc::UnboundedSender<Result<Heard, LineError>>>,
    /// What was asked last arrives then.
    asked_at: Instant,
    /// What was told last arrives then.
    told_at: Instant,
}

pub(super) struct World {
    pub settings: Settings,
    pub dice: Dice,
    pub trace: Trace,
    pub store: Store,
    pub counters: Counters,
    agenda: Agenda<Event>,
    watchers: Watchers,
    sides: Vec<Side>,
    /// The client that asked for a lease.
    of_lease: BTreeMap<i64, usize>,
    flows: BTreeMap<u64, Flow>,
    numbered: u64,
    no_leader_until: Instant,
    start: Instant,
    /// Renewals of leases that have run out, and that are answered when those are revoked.
    waiting: BTreeMap<i64, Vec<(usize, u64, u64)>>,
    looks: bool,
}

fn unavailable(message: &str) -> LineError {
    LineError::GRpcStatus(Status::unavailable(message))
}

fn refused(refusal: Refusal) -> LineError {
    LineError::GRpcStatus(match refusal {
        Refusal::Compacted => Status::out_of_range("etcdserver: mvcc: required revision has been compacted"),
        Refusal::Future => Status::out_of_range("etcdserver: mvcc: required revision is a future revision"),
        Refusal::NoLease => Status::not_found("etcdserver: requested lease not found"),
    })
}

impl World {
    pub fn new(seed: u64, settings: Settings, trace: Trace) -> Self {
        let start = Instant::now();
        let mut world = World {
            dice: Dice::new(seed, "etcd"),
            trace,
            store: Store::new(i64::try_from(settings.shortest_ttl.as_secs()).unwrap_or(i64::MAX)),
            counters: Counters::default(),
            agenda: Agenda::default(),
            watchers: Watchers::default(),
            sides: Vec::new(),
            of_lease: BTreeMap::new(),
            flows: BTreeMap::new(),
            numbered: 0,
            no_leader_until: start,
            start,
            waiting: BTreeMap::new(),
            looks: false,
            settings,
        };
        world.next_gust();
        world
    }

    pub fn add_way(&mut self, pause: Pause) -> usize {
        self.sides.push(Side {
            pause,
            epoch: 0,
            broken: None,
            down_until: self.start,
            under_way: BTreeMap::new(),
            stream: None,
            dead: false,
        });
        self.sides.len() - 1
    }

    /// An id for a lease that this client asks for.
    pub fn new_lease(&mut self, way: usize) -> i64 {
        // As etcd's own: positive, and in no order.
        let id = (self.dice.bits() as i64 & i64::MAX).max(1);
        self.of_lease.insert(id, way);
        id
    }

    /// The client that a lease is of.
    pub fn way_of(&self, lease: i64) -> Option<usize> {
        self.of_lease.get(&lease).copied()
    }

    pub fn pause_of(&self, way: usize) -> Pause {
        self.sides[way].pause.clone()
    }

    pub fn watches(&self) -> usize {
        self.watchers.count()
    }

    fn is_rough(&self) -> bool {
        self.start.elapsed() < self.settings.weather.calm_after
    }

    fn soon(&mut self) -> Instant {
        Instant::now() + self.dice.delay(self.settings.weather.delay)
    }

    fn number(&mut self) -> u64 {
        self.numbered += 1;
        self.numbered
    }

    /// Whether a client can reach the servers over this connection; if not, whether it is told so.
    fn reach(&self, way: usize, epoch: u64) -> Result<(), bool> {
        let side = &self.sides[way];
        match side.broken {
            _ if side.dead || side.epoch != epoch => Err(false),
            Some(silent) => Err(!silent),
            None if Instant::now() < side.down_until => Err(true),
            None => Ok(()),
        }
    }

    /// A client sends a request.
    pub fn send(&mut self, way: usize, epoch: u64, request: Request) -> oneshot::Receiver<Outcome> {
        self.counters.requests += 1;
        let (sender, receiver) = oneshot::channel();
        let id = self.number();
        let reach = self.reach(way, epoch);
        if reach != Err(false) {
            self.sides[way].under_way.insert(id, sender);
        }
        match reach {
            Ok(()) => {}
            Err(false) => return receiver,
            Err(true) => {
                let outcome = Box::new(Err(unavailable("connection refused")));
                let at = Instant::now() + self.dice.delay(NOTICED);
                self.agenda.at(at, Event::Answer { way, epoch, id, outcome });
                return receiver;
            }
        }
        let fate = if self.is_rough() { self.settings.weather.fate(&mut self.dice) } else { Fate::Answered };
        let mut at = self.soon();
        if matches!(fate, Fate::LostRequest | Fate::Late) {
            self.break_connection(way);
        }
        if fate == Fate::Late {
            at += self.dice.delay(self.settings.weather.late_by);
        }
        if fate != Fate::LostRequest {
            self.agenda.at(at, Event::Arrive { way, epoch, id, request, fate });
        }
        receiver
    }

    fn arrive(&mut self, way: usize, epoch: u64, id: u64, request: Request, fate: Fate) {
        let stands = self.reach(way, epoch).is_ok();
        // It was on its way when its connection broke.
        if !stands && fate != Fate::Late && self.dice.below(2) == 0 {
            return;
        }
        if Instant::now() < self.no_leader_until {
            let outcome = Box::new(Err(unavailable("etcdserver: no leader")));
            let at = self.soon();
            return self.agenda.at(at, Event::Answer { way, epoch, id, outcome });
        }
        if let Request::Renew { lease } = request
            && self.store.has_run_out(lease)
        {
            self.waiting.entry(lease).or_default().push((way, epoch, id));
            return;
        }
        if matches!(request, Request::Grant { .. }) {
            self.look_from_now_on();
        }
        let late = if fate == Fate::Late { ", late" } else { "" };
        self.trace.note(|| format!("c{way} {id}: {request:?}{late}"));
        let outcome = self.change(|store| store.carry_out(request));
        self.trace.note(|| format!("c{way} {id}: {outcome:?}"));
        if fate == Fate::LostReply && stands {
            return self.break_connection(way);
        }
        let at = self.soon();
        self.agenda.at(at, Event::Answer { way, epoch, id, outcome: Box::new(outcome.map_err(refused)) });
    }

    fn answer(&mut self, way: usize, epoch: u64, id: u64, outcome: Outcome) {
        let side = &mut self.sides[way];
        if side.epoch != epoch || side.dead || side.broken.is_some() && outcome.is_ok() {
            return;
        }
        if let Some(reply) = side.under_way.remove(&id) {
            // An error means that nobody waits for it any more.
            let _ = reply.send(outcome);
        }
    }

    /// Lets the store change, and whoever watches be told.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Store) -> T) -> T {
        let before = self.store.length();
        let outcome = change(&mut self.store);
        let mut told = BTreeMap::<_, Vec<Happened>>::new();
        for change in self.store.since(before) {
            for (place, event) in self.watchers.told(change) {
                told.entry(place).or_default().push(event);
            }
        }
        for ((stream, id), events) in told {
            self.counters.notifications += events.len() as u64;
            self.tell(stream, Heard { id, news: News::Events, events, bytes: 0 }, true);
        }
        outcome
    }

    /// Tells something on a stream, behind all that was told before; `late`: where servers lag and clients are slow, later.
    fn tell(&mut self, stream: u64, heard: Heard, late: bool) {
        let mut at = self.soon();
        if late {
            at += self.dice.delay(self.settings.weather.lag);
            if self.is_rough() && self.dice.happens(self.settings.weather.late_wakers) {
                at += self.dice.delay(self.settings.weather.late_by);
            }
        }
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        flow.told_at = flow.told_at.max(at);
        let at = flow.told_at;
        self.agenda.at(at, Event::Tell { stream, heard });
    }

    /// A client opens a stream; or it is told later why it cannot, or never.
    #[expect(clippy::type_complexity, reason = "said once")]
    pub fn open_stream(
        &mut self,
        way: usize,
        epoch: u64,
    ) -> Result<(u64, mpsc::UnboundedReceiver<Result<Heard, LineError>>), oneshot::Receiver<LineError>> {
        if let Err(told) = self.reach(way, epoch) {
            let (failing, fails) = oneshot::channel();
            if told {
                let at = Instant::now() + self.dice.delay(NOTICED);
                self.agenda.at(at, Event::Refuse { failing });
            }
            return Err(fails);
        }
        let (to_client, heard) = mpsc::unbounded_channel();
        let (stream, now) = (self.number(), Instant::now());
        self.flows.insert(stream, Flow { way, to_client: Some(to_client), asked_at: now, told_at: now });
        self.sides[way].stream = Some(stream);
        Ok((stream, heard))
    }

    /// A client asks something on a stream.
    pub fn ask(&mut self, stream: u64, ask: Ask) {
        self.counters.requests += 1;
        let at = self.soon();
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        // What is sent over a broken connection is lost.
        if flow.to_client.is_none() {
            return;
        }
        flow.asked_at = flow.asked_at.max(at);
        let at = flow.asked_at;
        self.agenda.at(at, Event::Asked { stream, ask });
    }

    fn asked(&mut self, stream: u64, ask: Ask) {
        if self.flows.get(&stream).is_none_or(|flow| flow.to_client.is_none()) {
            return;
        }
        match ask {
            Ask::Set(id, watcher) => {
                self.trace.note(|| format!("stream {stream} watches {watcher:?} as {id}"));
                let heard = |news, events| Heard { id, news, events, bytes: 0 };
                self.tell(stream, heard(News::Stands, Vec::new()), false);
                let compacted = self.store.compacted;
                if watcher.from < compacted {
                    return self.tell(
                        stream,
                        heard(News::Over { reason: String::new(), compacted }, Vec::new()),
                        false,
                    );
                }
                let happened = self.store.happened(&watcher.key, watcher.prefix, watcher.from);
                let events: Vec<Happened> = happened.filter_map(|change| watcher.event(change)).collect();
                if !events.is_empty() {
                    self.counters.notifications += events.len() as u64;
                    self.tell(stream, heard(News::Events, events), true);
                }
                self.watchers.set((stream, id), watcher);
            }
            Ask::Cancel(id) => {
                if self.watchers.remove((stream, id)) {
                    let news = News::Over { reason: String::new(), compacted: 0 };
                    self.tell(stream, Heard { id, news, events: Vec::new(), bytes: 0 }, false);
                }
            }
        }
    }

    /// A client drops a stream.
    pub fn close_stream(&mut self, stream: u64) {
        let at = self.soon();
        let Some(flow) = self.flows.get_mut(&stream) else { return };
        if flow.to_client.take().is_some() {
            self.agenda.at(at, Event::Closed { stream });
        }
    }

    /// The connection of a client breaks, for a while or, as the weather is, for longer than its lease lasts.
    fn break_connection(&mut self, way: usize) {
        let (ttl, weather) = (self.settings.ttl, self.settings.weather.clone());
        let outage = match self.is_rough() && self.dice.happens(weather.long_outages) {
            true => ttl + self.dice.delay(ttl),
            false => self.dice.delay(ttl / 2),
        };
        let silent = self.dice.happens(weather.silent);
        self.break_for(way, outage, silent);
    }

    /// The connection of a client breaks, and none can be made for so long; in silence, neither side is told.
    pub fn break_for(&mut self, way: usize, outage: Duration, silent: bool) {
        let now = Instant::now();
        let notice = now + self.dice.delay(NOTICED);
        let side = &mut self.sides[way];
        side.down_until = side.down_until.max(now + outage);
        if side.broken.is_some() {
            return;
        }
        side.broken = Some(silent);
        let (epoch, stream) = (side.epoch, side.stream.take());
        if !silent {
            self.agenda.at(notice, Event::Notice { way, epoch });
        }
        self.trace
            .note(|| format!("c{way} loses its connection for {outage:?}{}", if silent { ", in silence" } else { "" }));
        if let Some(stream) = stream {
            let closed = now + self.dice.delay(CLOSED);
            self.agenda.at(closed, Event::Closed { stream });
        }
    }

    fn notice(&mut self, way: usize, epoch: u64) {
        let side = &mut self.sides[way];
        if side.epoch != epoch || side.dead {
            return;
        }
        for (_, reply) in std::mem::take(&mut side.under_way) {
            let _ = reply.send(Err(unavailable("the connection broke")));
        }
        for flow in self.flows.values_mut().filter(|flow| flow.way == way) {
            if let Some(to_client) = flow.to_client.take() {
                let _ = to_client.send(Err(unavailable("the connection broke")));
            }
        }
    }

    /// A client gives its connection up and makes another one.
    pub fn connect_again(&mut self, way: usize) -> u64 {
        let side = &mut self.sides[way];
        side.epoch += 1;
        side.broken = None;
        side.under_way.clear();
        let (epoch, stream) = (side.epoch, side.stream.take());
        if let Some(stream) = stream {
            self.close_stream(stream);
        }
        epoch
    }

    /// A client dies.
    pub fn crash(&mut self, way: usize) {
        let side = &mut self.sides[way];
        side.dead = true;
        side.under_way.clear();
        if let Some(stream) = side.stream.take() {
            self.close_stream(stream);
        }
    }

    fn look_from_now_on(&mut self) {
        if !std::mem::replace(&mut self.looks, true) {
            self.agenda.at(Instant::now() + LOOK, Event::Look);
        }
    }

    fn look(&mut self) {
        if Instant::now() >= self.no_leader_until {
            for lease in self.store.run_out() {
                // It is a write, which takes its time to get through the quorum.
                let at = self.soon() + QUORUM;
                self.agenda.at(at, Event::Revoke { lease });
            }
        }
        self.agenda.at(Instant::now() + LOOK, Event::Look);
    }

    /// Revokes a lease, if it is there still.
    pub fn revoke(&mut self, lease: i64) {
        let gone = self.change(|store| store.revoke(lease));
        if gone {
            self.counters.expired += 1;
            self.trace.note(|| format!("the lease {lease:x} is revoked"));
        }
        for (way, epoch, id) in self.waiting.remove(&lease).unwrap_or_default() {
            let at = self.soon();
            self.agenda.at(at, Event::Answer { way, epoch, id, outcome: Box::new(Ok(Reply::Renewed(false))) });
        }
    }

    fn next_gust(&mut self) {
        if let Some(gap) = Weather::gap(self.settings.weather.breaks_every, &mut self.dice) {
            self.agenda.at(Instant::now() + gap, Event::Gust);
        }
    }

    fn gust(&mut self) {
        if !self.is_rough() {
            return;
        }
        if self.dice.happens(ELECTIONS) {
            self.no_leader_until = Instant::now() + self.dice.delay(ELECTION);
            self.store.extend_all();
            self.trace.note(|| "the servers elect a leader".to_owned());
        } else if !self.settings.weather.deaths_every.is_zero() && self.dice.happens(REVOCATIONS) {
            let waiting = self.store.waiting();
            if let Some(lease) = waiting.get(self.dice.below(waiting.len())) {
                self.revoke(*lease);
            }
        } else if !self.sides.is_empty() {
            let way = self.dice.below(self.sides.len());
            if !self.sides[way].dead {
                self.break_connection(way);
            }
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
            Event::Arrive { way, epoch, id, request, fate } => self.arrive(way, epoch, id, request, fate),
            Event::Answer { way, epoch, id, outcome } => self.answer(way, epoch, id, *outcome),
            Event::Refuse { failing } => {
                // An error means that nobody tries any more.
                let _ = failing.send(unavailable("connection refused"));
            }
            Event::Asked { stream, ask } => self.asked(stream, ask),
            Event::Tell { stream, heard } => {
                let Some(flow) = self.flows.get(&stream) else { return };
                if self.sides[flow.way].broken.is_none()
                    && let Some(to_client) = &flow.to_client
                {
                    let _ = to_client.send(Ok(heard));
                }
            }
            Event::Notice { way, epoch } => self.notice(way, epoch),
            Event::Closed { stream } => {
                self.watchers.close(stream);
                self.flows.remove(&stream);
            }
            Event::Look => self.look(),
            // Whether it was renewed meanwhile does not matter: the decision has gone through the quorum.
            Event::Revoke { lease } => self.revoke(lease),
            Event::Gust => self.gust(),
        }
    }
}
