//! Clients that stand still, as in a long pause of a process: nothing of them runs, and their timers run out meanwhile.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Until when a client stands still; clones are of the same client.
#[derive(Clone, Debug)]
pub(super) struct Pause(Arc<Mutex<Instant>>);

impl Pause {
    pub fn none() -> Self {
        Pause(Arc::new(Mutex::new(Instant::now())))
    }

    /// From now on, for so long.
    pub fn begin(&self, length: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + length;
    }

    pub fn until(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when the client does not stand still.
    pub async fn over(&self) {
        while self.until() > Instant::now() {
            sleep_until(self.until()).await;
        }
    }
}

/// A future of a client, of which nothing runs while the client stands still.
pub struct Frozen<F> {
    pause: Pause,
    thaws: Option<Pin<Box<Sleep>>>,
    inner: Pin<Box<F>>,
}

impl<F: Future> Frozen<F> {
    pub(super) fn new(pause: Pause, inner: F) -> Self {
        Frozen { pause, thaws: None, inner: Box::pin(inner) }
    }
}

impl<F: Future> Future for Frozen<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        loop {
            let until = self.pause.until();
            if until <= Instant::now() {
                self.thaws = None;
                return self.inner.as_mut().poll(context);
            }
            let thaws = self.thaws.get_or_insert_with(|| Box::pin(sleep_until(until)));
            if thaws.deadline() != until {
                thaws.as_mut().reset(until);
            }
            if thaws.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}
