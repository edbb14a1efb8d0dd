//! The naive lock with one flaw.
use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use workloads::zookeeper::session::{CreateMode, Session, SessionError, Watch, insist, repeat};

use super::make_parents;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveFlaw {
    /// Takes any znode for its own when the reply to its create is lost.
    AnyOwner,
    /// Deletes until it is told that there is nothing to delete.
    UnlocksByName,
}

pub struct Naive<S: Session> {
    session: S,
    path: String,
    flaw: NaiveFlaw,
}

impl<S: Session> Naive<S> {
    pub fn new(session: S, base: &str, flaw: NaiveFlaw) -> Self {
        Naive { session, path: format!("{base}/lock"), flaw }
    }

    /// The token of the znode, if it is this session's, or taken to be.
    async fn own(&self) -> Result<Option<i64>, SessionError> {
        insist(|| self.session.sync(&self.path)).await?;
        match insist(|| self.session.data(&self.path)).await {
            Ok((_, stat)) => {
                let is_own = stat.ephemeral_owner == self.session.id() || self.flaw == NaiveFlaw::AnyOwner;
                Ok(is_own.then_some(stat.czxid))
            }
            Err(SessionError::NoNode) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<S: Session> Lock for Naive<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        loop {
            let token = match self.session.create(&self.path, CreateMode::Ephemeral, b"").await {
                Ok(created) => Some(created.stat.czxid),
                Err(SessionError::Unknown(_)) => self.own().await?,
                Err(SessionError::NodeExists) => None,
                Err(SessionError::NoNode) => {
                    make_parents(&self.session).await?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            observer.enqueued();
            if let Some(token) = token {
                return Ok(Grant { token, path: self.path.clone() });
            }
            match repeat(|| self.session.data_watched(&self.path)).await {
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
            match self.session.delete(&self.path).await {
                Ok(()) | Err(SessionError::NoNode) => return Ok(()),
                Err(SessionError::Unknown(_)) if self.flaw == NaiveFlaw::UnlocksByName => {}
                Err(SessionError::Unknown(_)) => {
                    if self.own().await? != Some(grant.token) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}
