//! Connections break and are made again; sessions end.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::client::{Client, Delivery, Outcome, Request, UnderWay, View};
use super::tree::Change;
use super::world::{Event, Hold, Member, World};
use crate::chaos::Fate;
use crate::zookeeper::session::SessionError;

/// The longest until a client notices a connection that was closed.
const NOTICED: Duration = Duration::from_millis(50);
/// The pause of a client whose next server lags behind what it has seen.
const RETRY: Duration = Duration::from_millis(20);

/// A request's number, and where its reply comes.
type Sent = (u64, oneshot::Receiver<Outcome>);

impl World {
    /// Opens a session, with any of the servers.
    pub fn open(&mut self) -> i64 {
        let server = self.dice.below(self.servers.len());
        let now = Instant::now();
        let hold = Hold {
            alive: true,
            epoch: 0,
            attached: Some(server),
            owner: server,
            pipeline: std::collections::VecDeque::new(),
            busy: false,
            decided_at: now,
            arrives_at: now,
            delivered_at: now,
        };
        let client = Client::new(self.servers[server].zxid);
        self.sessions.push(Member { client, hold });
        let session = self.sessions.len() as i64;
        self.trace.note(|| format!("s{session} opens at server {server}"));
        session
    }

    /// A client sends a request, or keeps it until it is connected again.
    pub fn send(&mut self, session: i64, request: Request) -> Result<Sent, SessionError> {
        let client = &mut self.member(session).client;
        if client.abandoned {
            return Err(SessionError::Lost("it was abandoned".to_owned()));
        }
        if let View::Over(why) = &client.view {
            return Err(SessionError::Lost(why.clone()));
        }
        client.next_xid += 1;
        let xid = client.next_xid;
        let (reply, replied) = oneshot::channel();
        let under_way = UnderWay { xid, request, reply };
        if client.view == View::Down {
            client.queued.push_back(under_way);
        } else {
            self.transmit(session, under_way);
        }
        Ok((xid, replied))
    }

    fn transmit(&mut self, session: i64, under_way: UnderWay) {
        self.counters.requests += 1;
        let fate = if self.is_rough() { self.settings.weather.fate(&mut self.dice) } else { Fate::Answered };
        let delay = self.delay();
        let Member { client, hold } = self.member(session);
        let (xid, request) = (under_way.xid, under_way.request.clone());
        client.under_way.push_back(under_way);
        let sent = client.paused_until.max(Instant::now());
        hold.arrives_at = hold.arrives_at.max(sent + delay);
        let (at, epoch, is_attached) = (hold.arrives_at, hold.epoch, hold.attached.is_some());
        if !is_attached {
            return;
        }
        if fate == Fate::LostRequest {
            self.break_connection(session);
        } else {
            self.agenda.at(at, Event::Arrive { session, epoch, xid, request, fate });
        }
    }

    /// The connection breaks, for a while or, as the weather is, for longer than the session lasts.
    pub fn break_connection(&mut self, session: i64) {
        let timeout = self.settings.timeout;
        let is_long = self.is_rough() && self.dice.happens(self.settings.weather.long_outages);
        let outage = match is_long {
            true => timeout + self.dice.delay(timeout),
            false => self.dice.delay(timeout / 2),
        };
        let is_silent = self.dice.happens(self.settings.weather.silent);
        self.break_for(session, outage, is_silent);
    }

    /// As [`break_connection`](World::break_connection), for so long after the client has noticed; in silence, neither side is told.
    pub fn break_for(&mut self, session: i64, outage: Duration, silent: bool) {
        let timeout = self.settings.timeout;
        // When the servers heard from the client last, and it from them: it sends a sign of life every 3/20 of the timeout.
        let heard = self.dice.delay(timeout * 3 / 20);
        let notice = if silent { timeout * 2 / 5 - heard } else { self.dice.delay(NOTICED) };
        let Some(epoch) = self.detach(session) else { return };
        self.trace.note(|| format!("s{session} loses its connection{}", if silent { ", in silence" } else { "" }));
        let now = Instant::now();
        self.agenda.at(now + notice, Event::Notice { session, epoch, outage });
        self.agenda.at(now + timeout * 7 / 5, Event::GiveUp { session, epoch });
        self.agenda.at(now + self.to_tick(timeout - heard), Event::Expire { session, epoch });
    }

    /// The servers look once a tick.
    fn to_tick(&self, length: Duration) -> Duration {
        let tick = self.settings.tick.as_millis().max(1);
        let ticks = length.as_millis().div_ceil(tick);
        self.settings.tick * u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    /// The servers have no connection of the session any more. Tells the epoch that begins; `None` where there was none.
    fn detach(&mut self, session: i64) -> Option<u64> {
        let Member { client, hold } = self.member(session);
        let server = hold.attached.take()?;
        hold.epoch += 1;
        hold.busy = false;
        hold.pipeline.clear();
        client.inbox.clear();
        let epoch = hold.epoch;
        self.servers[server].watches.take_all_back(session);
        Some(epoch)
    }

    /// Whether this is the session's connection, or the lack of one, still; and its client goes on. One that stands still
    /// will look at the event when it goes on.
    fn concerns(&mut self, session: i64, epoch: u64, event: impl FnOnce() -> Event) -> bool {
        let Member { client, hold } = self.member(session);
        if hold.epoch != epoch {
            return false;
        }
        if client.is_paused() {
            let at = client.paused_until;
            self.agenda.at(at, event());
            return false;
        }
        true
    }

    pub fn deliver(&mut self, session: i64, epoch: u64) {
        if !self.concerns(session, epoch, || Event::Deliver { session, epoch }) {
            return;
        }
        let client = &mut self.member(session).client;
        let Some((zxid, delivery)) = client.inbox.pop_front() else { return };
        client.seen = client.seen.max(zxid);
        let dangling = match delivery {
            Delivery::Reply { xid, outcome } => client.replied(xid, outcome),
            Delivery::Event { path, kind } => {
                client.notified(&path, kind);
                self.trace.note(|| format!("s{session} is notified: {kind:?} {path}"));
                None
            }
        };
        if let Some(dangling) = dangling {
            self.send_take_back(session, dangling);
        }
    }

    pub fn notice(&mut self, session: i64, epoch: u64, outage: Duration) {
        if !self.concerns(session, epoch, || Event::Notice { session, epoch, outage }) {
            return;
        }
        self.member(session).client.disconnected();
        self.trace.note(|| format!("s{session} knows that its connection is lost"));
        self.agenda.at(Instant::now() + outage, Event::Reconnect { session, epoch });
    }

    pub fn reconnect(&mut self, session: i64, epoch: u64) {
        if !self.concerns(session, epoch, || Event::Reconnect { session, epoch }) {
            return;
        }
        let server = self.dice.below(self.servers.len());
        let zxid = self.servers[server].zxid;
        let Member { client, hold } = self.member(session);
        if client.abandoned || matches!(client.view, View::Over(_)) {
            return;
        }
        if !hold.alive {
            client.over("it has expired");
            self.trace.note(|| format!("s{session} knows that it has expired"));
            return;
        }
        if zxid < client.seen {
            // The server would send it away.
            self.agenda.at(Instant::now() + RETRY, Event::Reconnect { session, epoch });
            return;
        }
        hold.epoch += 1;
        hold.attached = Some(server);
        hold.owner = server;
        client.view = View::Up;
        let (seen, queued) = (client.seen, std::mem::take(&mut client.queued));
        self.trace.note(|| format!("s{session} is connected again, to server {server}"));
        self.set_again(session, server, seen);
        for under_way in queued {
            self.transmit(session, under_way);
        }
    }

    pub fn expire(&mut self, session: i64, epoch: u64) {
        let Member { client, hold } = self.member(session);
        if !hold.alive || hold.epoch != epoch {
            return;
        }
        let (was_attached, until) = (hold.attached.is_some(), client.paused_until);
        self.trace.note(|| format!("s{session} expires"));
        self.end_session(session);
        if was_attached {
            // Its server closes the connection, which the client sees when it goes on.
            let (epoch, at) = (self.member(session).hold.epoch, until.max(Instant::now()));
            self.agenda.at(at, Event::Notice { session, epoch, outage: Duration::ZERO });
        }
    }

    pub fn give_up(&mut self, session: i64, epoch: u64) {
        if self.concerns(session, epoch, || Event::GiveUp { session, epoch }) {
            self.member(session).client.over("no server could be reached within its timeout");
        }
    }

    /// The session is over for the servers, whoever knows.
    pub fn end_session(&mut self, session: i64) {
        self.member(session).hold.alive = false;
        // Its client, if it still has a connection, learns of it when that breaks.
        self.decide(Change::Close { session });
        self.detach(session);
    }

    /// The client stands still for so long. If that is longer than the session lasts, the servers give it up meanwhile.
    pub fn pause(&mut self, session: i64, length: Duration) {
        let timeout = self.settings.timeout;
        let heard = self.dice.delay(timeout * 3 / 20);
        let starved = self.to_tick(timeout - heard);
        let now = Instant::now();
        let Member { client, hold } = self.member(session);
        client.paused_until = client.paused_until.max(now + length);
        let (epoch, until) = (hold.epoch, client.paused_until);
        self.trace.note(|| format!("s{session} stands still for {} ms", length.as_millis()));
        if self.member(session).hold.attached.is_none() {
            return;
        }
        if now + starved < until {
            self.agenda.at(now + starved, Event::Expire { session, epoch });
        }
        if length > timeout * 2 / 5 {
            self.agenda.at(until, Event::Resume { session, epoch });
        }
    }

    /// It finds that it has heard nothing for too long, and drops its connection, if that is still there.
    pub fn resume(&mut self, session: i64, epoch: u64) {
        if !self.concerns(session, epoch, || Event::Resume { session, epoch }) {
            return;
        }
        self.detach(session);
        let epoch = self.member(session).hold.epoch;
        self.notice(session, epoch, Duration::ZERO);
        let until = Instant::now() + self.settings.timeout;
        self.agenda.at(until, Event::Expire { session, epoch });
    }

    /// The last handle of the session is gone. Without a connection it is left to expire.
    pub fn close(&mut self, session: i64) {
        // An error means that it is over.
        if self.member(session).client.view == View::Up {
            let _ = self.send(session, Request::Close);
        }
        self.member(session).client.over("it was closed");
    }

    /// The worker dies, and its connection with it.
    pub fn crash(&mut self, session: i64) {
        self.trace.note(|| format!("s{session} dies"));
        self.break_for(session, Duration::ZERO, false);
        self.member(session).client.abandoned = true;
    }
}
