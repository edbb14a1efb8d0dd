//! Entries that are still being removed in the background.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::task::JoinHandle;

/// What one worker's attempts left to be removed. The next attempt waits for it first: the late removal of an entry of the
/// same name would take the new one instead, and an entry that still stands would be counted as somebody else's.
#[derive(Clone, Default)]
pub(crate) struct Removals {
    under_way: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Removals {
    fn under_way(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `removal` run in the background; nothing happens where there is no runtime any more, as the sessions end with it.
    pub fn begin(&self, removal: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        self.under_way().push(runtime.spawn(removal));
    }

    /// Waits until nothing is being removed any more. Dropped before, it forgets nothing: an attempt that is given up while
    /// it waits here leaves the wait to the next one.
    pub async fn done(&self) {
        std::future::poll_fn(|context| {
            let mut under_way = self.under_way();
            // An error means that it was aborted with the runtime.
            under_way.retain_mut(|removal| Pin::new(removal).poll(context).is_pending());
            if under_way.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use tokio::sync::oneshot;

    use super::*;

    /// The second attempt is given up while it waits for the removal of the first; the third has to wait all the same.
    #[tokio::test]
    async fn a_wait_that_is_dropped_leaves_the_wait_to_the_next_one() {
        let removals = Removals::default();
        let mut finish = Vec::new();
        for _ in 0..2 {
            let (end, ends) = oneshot::channel();
            finish.push(end);
            removals.begin(async move { drop(ends.await) });
        }
        let is_done = || {
            let mut done = pin!(removals.done());
            done.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        assert!(!is_done() && !is_done());
        // Of several, all are waited for.
        finish.pop().unwrap().send(()).unwrap();
        tokio::task::yield_now().await;
        assert!(!is_done());
        finish.pop().unwrap().send(()).unwrap();
        removals.done().await;
        assert!(is_done());
    }
}
