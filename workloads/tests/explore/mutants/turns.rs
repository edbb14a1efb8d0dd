//! Leadership in turns, as a loop takes them whose last step is to queue for the next one.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// What happens to the last step when leadership was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// It is done in any case: a control.
    Always,
    /// It is left out.
    UnlessInterrupted,
}

/// A candidate who leads when the loop has queued for it.
pub struct Turns<L> {
    lock: L,
    requeue: Requeue,
    queued: bool,
    interrupted: AtomicBool,
}

impl<L: Lock> Turns<L> {
    pub fn new(lock: L, requeue: Requeue) -> Self {
        Turns { lock, requeue, queued: true, interrupted: AtomicBool::new(false) }
    }
}

impl<L: Lock> Lock for Turns<L> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        if !self.queued {
            // Nobody asks for it.
            return std::future::pending().await;
        }
        self.lock.acquire(observer).await
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        let interrupted = self.interrupted.swap(false, Relaxed);
        self.queued = self.requeue == Requeue::Always || !interrupted;
        self.lock.release(grant).await
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        let loss = self.lock.lost(grant).await;
        self.interrupted.store(true, Relaxed);
        loss
    }
}
