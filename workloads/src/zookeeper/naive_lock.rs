//! `lock/naive`: the lock that herds.
//!
//! One ephemeral znode is the lock. Whoever creates it holds the lock; everybody else watches it, and on its deletion all of
//! them try to create it again. One release with N waiters costs N notifications and N creates through the quorum, of which
//! N − 1 fail (and are logged as error transactions all the same), and N − 1 reads to watch again.
//!
//! In a settled drain of N workers the k-th release notifies the N − k who still wait: N(N − 1)/2 notifications in all.

use super::session::{CreateMode, Session, SessionError, Watch, repeat};
use super::{names, parents};
use crate::recipe::{Grant, Lock, Observer, RecipeError};

/// The naive lock of one worker.
pub struct NaiveLock<S: Session> {
    session: S,
    path: String,
}

impl<S: Session> NaiveLock<S> {
    /// A lock under `base`: the contended znode is `<base>/lock`.
    pub fn new(session: S, base: &str) -> Self {
        NaiveLock { session, path: format!("{base}/lock") }
    }

    fn grant(&self, token: i64) -> Grant {
        Grant { token, path: self.path.clone() }
    }

    /// Whether the znode is this session's. Ownership goes by session: only this worker uses it.
    async fn is_own(&self) -> Result<Option<i64>, SessionError> {
        match repeat(|| self.session.data(&self.path)).await {
            Ok((_, stat)) => Ok((stat.ephemeral_owner == self.session.id()).then_some(stat.czxid)),
            Err(SessionError::NoNode) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<S: Session> Lock for NaiveLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut enqueued = false;
        loop {
            let undo = UndoCreate::new(&self.session, &self.path);
            let outcome = self.session.create(&self.path, CreateMode::Ephemeral, b"").await;
            match outcome {
                Ok(created) => {
                    undo.disarm();
                    if !enqueued {
                        observer.enqueued();
                    }
                    return Ok(self.grant(created.stat.czxid));
                }
                Err(SessionError::NodeExists) => {
                    undo.disarm();
                    if !enqueued {
                        observer.enqueued();
                        enqueued = true;
                    }
                }
                Err(SessionError::NoNode) => {
                    undo.disarm();
                    parents::make(&self.session, names::parent(&self.path)).await?;
                    continue;
                }
                // The create may have happened: look who owns the znode.
                Err(SessionError::Unknown(_)) => {
                    let own = self.is_own().await?;
                    undo.disarm();
                    match own {
                        Some(token) => return Ok(self.grant(token)),
                        None => continue,
                    }
                }
                Err(error) => {
                    undo.disarm();
                    return Err(error.into());
                }
            }
            // The data watch, not `exists`: on a znode that has just vanished it leaves no watch behind.
            match repeat(|| self.session.data_watched(&self.path)).await {
                // A create whose reply was lost arrived after all.
                Ok((_, stat, _watch)) if stat.ephemeral_owner == self.session.id() => return Ok(self.grant(stat.czxid)),
                Ok((_, _, watch)) => {
                    watch.fired().await?;
                    observer.woken();
                }
                Err(SessionError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        loop {
            match self.session.delete(&grant.path).await {
                Ok(()) | Err(SessionError::NoNode) => return Ok(()),
                // Delete again only while the znode is still this very grant's: by now it may be somebody else's lock.
                Err(SessionError::Unknown(_)) => {
                    if self.is_own().await? != Some(grant.token) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Deletes the znode in the background if an acquire is dropped while its create is under way.
struct UndoCreate<S: Session> {
    pending: Option<(S, String)>,
}

impl<S: Session> UndoCreate<S> {
    fn new(session: &S, path: &str) -> Self {
        UndoCreate { pending: Some((session.clone(), path.to_owned())) }
    }

    fn disarm(mut self) {
        self.pending = None;
    }
}

impl<S: Session> Drop for UndoCreate<S> {
    fn drop(&mut self) {
        let Some((session, path)) = self.pending.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            // Requests of one session are answered in order, so the create has been decided when this read is answered.
            if let Ok((_, stat)) = repeat(|| session.data(&path)).await
                && stat.ephemeral_owner == session.id()
            {
                // An error means that the session is over, and the znode with it.
                let _ = repeat(|| session.delete(&path)).await;
            }
        });
    }
}
