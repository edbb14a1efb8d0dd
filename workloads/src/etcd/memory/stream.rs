//! A client's end of a watch stream.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;

use super::way::{Path, lock};
use super::world::{Ask, World};
use crate::etcd::session::line::{Heard, LineError, Stream, Wanted};

/// A stream of watches with the ensemble in memory.
pub struct WayStream {
    world: Arc<Mutex<World>>,
    id: u64,
    heard: mpsc::UnboundedReceiver<Result<Heard, LineError>>,
}

impl WayStream {
    /// Opens one over this connection, with its first watch.
    pub(super) async fn open(path: &Path, first: Wanted<'_>) -> Result<WayStream, LineError> {
        let opened = lock(&path.world).open_stream(path.way, path.epoch);
        let (id, heard) = match opened {
            Ok(opened) => opened,
            Err(failing) => match failing.await {
                Ok(error) => return Err(error),
                // Nobody will ever answer.
                Err(_) => std::future::pending().await,
            },
        };
        let mut stream = WayStream { world: Arc::clone(&path.world), id, heard };
        stream.set(first).await?;
        Ok(stream)
    }
}

impl Stream for WayStream {
    async fn set(&mut self, wanted: Wanted<'_>) -> Result<(), LineError> {
        lock(&self.world).ask(self.id, Ask::Set(wanted.id, wanted.into()));
        Ok(())
    }

    async fn cancel(&mut self, id: i64) -> Result<(), LineError> {
        lock(&self.world).ask(self.id, Ask::Cancel(id));
        Ok(())
    }

    async fn heard(&mut self) -> Result<Option<Heard>, LineError> {
        self.heard.recv().await.transpose()
    }
}

impl Drop for WayStream {
    fn drop(&mut self) {
        lock(&self.world).close_stream(self.id);
    }
}
