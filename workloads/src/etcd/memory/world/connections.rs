//! Connections: whether a client reaches the servers, and how that ends.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::frozen::Pause;
use super::{Event, NOTICED, Outcome, World, unavailable};

/// The longest until a server notices.
const CLOSED: Duration = Duration::from_millis(2000);

/// The servers' and the network's side of a client.
pub(super) struct Side {
    pub(super) pause: Pause,
    /// Counts the connections.
    pub(super) epoch: u64,
    /// The connection is broken; in silence, if so.
    pub(super) broken: Option<bool>,
    /// No connection can be made before.
    pub(super) down_until: Instant,
    /// Sent over this connection, and neither answered nor given up.
    pub(super) under_way: BTreeMap<u64, oneshot::Sender<Outcome>>,
    pub(super) stream: Option<u64>,
    /// Nothing is sent any more.
    pub(super) dead: bool,
}

impl World {
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

    pub fn pause_of(&self, way: usize) -> Pause {
        self.sides[way].pause.clone()
    }

    /// Whether a client can reach the servers over this connection; if not, whether it is told so.
    pub(super) fn reach(&self, way: usize, epoch: u64) -> Result<(), bool> {
        let side = &self.sides[way];
        match side.broken {
            _ if side.dead || side.epoch != epoch => Err(false),
            Some(silent) => Err(!silent),
            None if Instant::now() < side.down_until => Err(true),
            None => Ok(()),
        }
    }

    /// The connection of a client breaks, for a while or, as the weather is, for longer than its lease lasts.
    pub(super) fn break_connection(&mut self, way: usize) {
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

    pub(super) fn notice(&mut self, way: usize, epoch: u64) {
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
}
