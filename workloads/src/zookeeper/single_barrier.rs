//! `barrier/single`: Apache Curator's DistributedBarrier.
//!
//! One persistent znode is the barrier. Whoever waits watches it, and all of them go on when it is removed: with N waiters
//! one removal costs N notifications, by design, since all N are to go on. Each waiter sends three requests, of which none
//! writes: a sync, one that sets the watch, and one that looks again.
//!
//! Three things differ from Curator's own. A wait begins with a sync: whoever has been told that the barrier stands, by
//! whoever has set it, may ask a server that lags behind and has not seen it, and would pass a barrier that stands. The watch
//! is the data watch, so that a wait at a barrier that does not stand leaves none behind. And a waiter who looks again finds
//! another instance where the barrier was set anew meanwhile, and goes on, where Curator's would wait for the next removal.

use super::session::{CreateMode, Session, SessionError, Watch, insist, repeat};
use super::{names, parents};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Witness};

/// The single barrier as one worker sees it.
pub struct SingleBarrier<S: Session> {
    session: S,
    path: String,
}

impl<S: Session> SingleBarrier<S> {
    /// A barrier that is the znode at `path`.
    pub fn new(session: S, path: &str) -> Self {
        SingleBarrier { session, path: path.to_owned() }
    }
}

impl<S: Session> barrier::SingleBarrier for SingleBarrier<S> {
    async fn set(&mut self) -> Result<(), RecipeError> {
        loop {
            match repeat(|| self.session.create(&self.path, CreateMode::Persistent, b"")).await {
                Ok(_) | Err(SessionError::NodeExists) => return Ok(()),
                Err(SessionError::NoNode) => parents::make(&self.session, names::parent(&self.path)).await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn remove(&mut self) -> Result<(), RecipeError> {
        match insist(|| self.session.delete(&self.path)).await {
            Ok(()) | Err(SessionError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn wait(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        repeat(|| self.session.sync(&self.path)).await?;
        let mut waited_for = None;
        loop {
            match repeat(|| self.session.data_watched(&self.path)).await {
                Err(SessionError::NoNode) => return Ok(()),
                // The watch that was set on the new one is taken back.
                Ok((_, stat, _)) if waited_for.is_some_and(|instance| instance != stat.czxid) => return Ok(()),
                Ok((_, stat, watch)) => {
                    waited_for = Some(stat.czxid);
                    witness.armed();
                    watch.fired().await?;
                    witness.woken();
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
