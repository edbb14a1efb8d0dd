//! Entries that are still being removed in the background.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;

/// What one worker's attempts left to be removed. The next attempt waits for it first: the late removal of an entry of the
/// same name would take the new one instead, and an entry that still stands would be counted as somebody else's.
#[derive(Clone, Default)]
pub(crate) struct Removals {
    last: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Removals {
    /// Lets `removal` run in the background; nothing happens where there is no runtime any more, as the sessions end with it.
    pub fn begin(&self, removal: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(runtime.spawn(removal));
    }

    /// Waits until nothing is being removed any more.
    pub async fn done(&self) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(removal) = last {
            // An error means that it was aborted with the runtime.
            let _ = removal.await;
        }
    }
}
