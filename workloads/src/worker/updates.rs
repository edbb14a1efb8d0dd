//! What a holder does with its grant where a shared counter is kept: it updates it, again and again.

use std::pin::pin;

use rand::rngs::SmallRng;
use tokio::time::Instant;

use super::attempt::Attempt;
use super::{Plan, rest};
use crate::recipe::{Grant, Lock, Loss};
use crate::settings::Delay;
use crate::shared_counter::SharedCounters;

/// A counter that holders update, and how long each update takes.
pub(crate) struct Counting {
    pub counters: SharedCounters,
    /// From the read to the write.
    pub length: Delay,
}

/// Who updates, and under which grant.
pub(super) struct Holder<'a, L> {
    pub worker: u32,
    pub resource: u32,
    pub lock: &'a L,
    pub grant: &'a Grant,
}

impl<L: Lock> Holder<'_, L> {
    /// Updates the counter until the hold is over, at least once, or until the grant is lost.
    ///
    /// An update is not broken off: from its read to its write the holder does not look whether the grant is still its own, as a
    /// program does not between two statements. One that stands still in between writes first when it wakes, and looks then.
    pub async fn update(
        &self,
        plan: &Plan,
        counting: &Counting,
        until: Option<Instant>,
        attempt: &mut Attempt<'_>,
        rng: &mut SmallRng,
    ) -> Option<Loss> {
        let Holder { worker, resource, lock, grant } = self;
        let now = || plan.recorder.now();
        let mut lost = pin!(lock.lost(grant));
        loop {
            let reading = counting.counters.read(*worker, *resource, grant.token, now);
            if reading.is_refused() {
                return Some(Loss::Overtaken);
            }
            rest(counting.length.draw(rng)).await;
            if !counting.counters.write(*resource, grant.token, reading, now) {
                attempt.stale_write();
                return Some(Loss::Overtaken);
            }
            let loss = tokio::select! {
                biased;
                loss = &mut lost => Some(loss),
                () = std::future::ready(()) => None,
            };
            if loss.is_some() || plan.is_stopping() || until.is_some_and(|until| Instant::now() >= until) {
                return loss;
            }
            // An update that takes no time at all must not keep others from their turn.
            tokio::task::yield_now().await;
        }
    }
}
