//! What one worker can be told from outside: the faults that strike it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use crate::worker::Fate;

/// A fault that strikes one worker itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// Its session is closed, in good order, and it does not come back.
    Close,
    /// It dies without closing its session, right after a last sign of life, and does not come back.
    Crash,
    /// It stands still for so long, right after a last sign of life, with everything that belongs to it, and wakes as if nothing had happened.
    Pause(Duration),
}

/// An order, and whom to tell when it is carried out: the moment, in nanoseconds since the start of the trial.
pub(super) struct Order {
    pub strike: Strike,
    pub done: oneshot::Sender<u64>,
}

/// The orders for one worker, one at a time.
#[derive(Default)]
pub(super) struct Orders {
    next: Mutex<Option<Order>>,
    given: Notify,
    /// What they did to it.
    pub fate: Fate,
}

impl Orders {
    /// Gives an order. One that was not taken up yet is replaced: whoever waits for it learns that it was not carried out.
    pub fn give(&self, order: Order) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
        self.given.notify_one();
    }

    /// Waits for the next order.
    pub async fn next(&self) -> Order {
        loop {
            let order = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
            match order {
                Some(order) => return order,
                None => self.given.notified().await,
            }
        }
    }
}
