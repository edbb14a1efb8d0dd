//! Requests on their way, what the servers make of them, and their answers.

use tokio::sync::oneshot;
use tokio::time::Instant;
use tonic::Status;

use super::super::store::{Refusal, Request};
use super::{Event, NOTICED, Outcome, World, unavailable};
use crate::chaos::Fate;
use crate::etcd::session::line::LineError;

fn refused(refusal: Refusal) -> LineError {
    LineError::GRpcStatus(match refusal {
        Refusal::Compacted => Status::out_of_range("etcdserver: mvcc: required revision has been compacted"),
        Refusal::Future => Status::out_of_range("etcdserver: mvcc: required revision is a future revision"),
        Refusal::NoLease => Status::not_found("etcdserver: requested lease not found"),
    })
}

impl World {
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

    pub(super) fn arrive(&mut self, way: usize, epoch: u64, id: u64, request: Request, fate: Fate) {
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

    pub(super) fn answer(&mut self, way: usize, epoch: u64, id: u64, outcome: Outcome) {
        let side = &mut self.sides[way];
        if side.epoch != epoch || side.dead || side.broken.is_some() && outcome.is_ok() {
            return;
        }
        if let Some(reply) = side.under_way.remove(&id) {
            // An error means that nobody waits for it any more.
            let _ = reply.send(outcome);
        }
    }
}
