//! What can happen between clients and the ensemble, one event after the other.
//!
//! | module | what it holds |
//! |---|---|
//! | `requests` | requests on their way, and their answers |
//! | `streams` | streams of watches |
//! | `connections` | whether a client reaches the servers, and how that ends |
//! | `leases` | whose leases are, and how they end |
//! | `gusts` | what breaks by itself |

mod connections;
mod gusts;
mod leases;
mod requests;
mod streams;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tonic::Status;

use super::ensemble::{Counters, Settings};
use super::store::{Reply, Request, Store};
use super::watchers::{Watcher, Watchers};
use crate::chaos::{self, Agenda, Dice, Fate, Trace};
use crate::etcd::session::line::{Heard, LineError};
use connections::Side;
use streams::Flow;

/// The longest until a client notices a connection that was closed.
const NOTICED: Duration = Duration::from_millis(50);

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
            Event::Tell { stream, heard } => self.hears(stream, heard),
            Event::Notice { way, epoch } => self.notice(way, epoch),
            Event::Closed { stream } => self.closed(stream),
            Event::Look => self.look(),
            // Whether it was renewed meanwhile does not matter: the decision has gone through the quorum.
            Event::Revoke { lease } => self.revoke(lease),
            Event::Gust => self.gust(),
        }
    }
}
