//! Streams of watches: what is asked on them, and what is told.

use std::collections::BTreeMap;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::super::store::Store;
use super::{Ask, Event, NOTICED, World};
use crate::etcd::session::line::{Happened, Heard, LineError, News};

/// A stream, by what both sides have still to hear.
pub(super) struct Flow {
    pub(super) way: usize,
    pub(super) to_client: Option<mpsc::UnboundedSender<Result<Heard, LineError>>>,
    /// What was asked last arrives then.
    pub(super) asked_at: Instant,
    /// What was told last arrives then.
    pub(super) told_at: Instant,
}

impl World {
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
    pub(super) fn tell(&mut self, stream: u64, heard: Heard, late: bool) {
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

    pub(super) fn asked(&mut self, stream: u64, ask: Ask) {
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

    /// What is told on a stream reaches the client, if the connection stands.
    pub(super) fn hears(&self, stream: u64, heard: Heard) {
        let Some(flow) = self.flows.get(&stream) else { return };
        if self.sides[flow.way].broken.is_none()
            && let Some(to_client) = &flow.to_client
        {
            let _ = to_client.send(Ok(heard));
        }
    }

    /// The servers learn that a stream is gone.
    pub(super) fn closed(&mut self, stream: u64) {
        self.watchers.close(stream);
        self.flows.remove(&stream);
    }
}
