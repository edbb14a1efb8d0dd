//! What several workers share, each made when the first of them asks.

use std::sync::Arc;

use tokio::sync::OnceCell;

/// Things that workers share, worker by worker; empty where each has its own.
#[derive(Clone)]
pub(super) struct Pool<T>(Arc<[OnceCell<T>]>);

impl<T: Clone> Pool<T> {
    /// So many of them, or none.
    pub fn new(size: Option<u32>) -> Self {
        Pool((0..size.unwrap_or(0)).map(|_| OnceCell::new()).collect())
    }

    /// The one that this worker shares, or one of its own. `open` is told which of them it opens.
    pub async fn get<E>(&self, worker: u32, open: impl AsyncFnOnce(usize) -> Result<T, E>) -> Result<T, E> {
        let worker = worker as usize;
        let place = worker % self.0.len().max(1);
        match self.0.get(place) {
            None => open(worker).await,
            Some(shared) => shared.get_or_try_init(async || open(place).await).await.cloned(),
        }
    }
}
