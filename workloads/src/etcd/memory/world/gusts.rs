//! What breaks by itself, as the weather is.

use std::time::Duration;

use tokio::time::Instant;

use super::{Event, World};
use crate::chaos::Weather;

/// Of a thousand gusts, how many are an election among the servers.
const ELECTIONS: u32 = 100;
/// The longest that one takes.
const ELECTION: Duration = Duration::from_millis(1000);
/// Of a thousand gusts, in weather in which workers die, how many end the lease of somebody who waits.
const REVOCATIONS: u32 = 300;

impl World {
    pub(super) fn next_gust(&mut self) {
        if let Some(gap) = Weather::gap(self.settings.weather.breaks_every, &mut self.dice) {
            self.agenda.at(Instant::now() + gap, Event::Gust);
        }
    }

    pub(super) fn gust(&mut self) {
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
