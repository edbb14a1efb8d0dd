//! `lock/naive`: the lock that herds.
//!
//! One ephemeral znode is the lock. Whoever creates it holds the lock; everybody else watches it, and on its deletion all of
//! them try to create it again. One release with N waiters costs N notifications and N creates through the quorum, of which
//! N − 1 fail (and are logged as error transactions all the same), and N − 1 reads to watch again.
//!
//! In a settled drain of N workers the k-th release notifies the N − k who still wait: N(N − 1)/2 notifications in all.

use tokio::task::JoinHandle;

use super::session::{CreateMode, Session, SessionError, Watch, insist, repeat};
use super::{names, parents};
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The naive lock of one worker.
pub struct NaiveLock<S: Session> {
    session: S,
    path: String,
    /// Removes what an acquire that was dropped may have created. The next acquire waits for it: its own znode would have
    /// the same name and the same owner, and be removed in its stead.
    undoing: Option<JoinHandle<()>>,
}

impl<S: Session> NaiveLock<S> {
    /// A lock under `base`: the contended znode is `<base>/lock`.
    pub fn new(session: S, base: &str) -> Self {
        NaiveLock { session, path: format!("{base}/lock"), undoing: None }
    }
}

impl<S: Session> Lock for NaiveLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        if let Some(undoing) = &mut self.undoing {
            // An error means that it was cut off, with the runtime and its sessions.
            let _ = undoing.await;
        }
        self.undoing = None;

        let NaiveLock { session, path, undoing } = self;
        let grant = |token| Grant { token, path: path.clone() };
        let mut undo = Undo { session, path, undoing, armed: false };
        let mut enqueued = false;
        let mut enqueue = |observer: &mut _| {
            if !std::mem::replace(&mut enqueued, true) {
                Observer::enqueued(observer);
            }
        };
        loop {
            undo.armed = true;
            let created = session.create(path, CreateMode::Ephemeral, b"").await;
            let own = match &created {
                // The create may have happened: look who owns the znode.
                Err(SessionError::Unknown(_)) => own(session, path).await?,
                _ => None,
            };
            undo.armed = false;
            match (created, own) {
                (Ok(created), _) => {
                    enqueue(observer);
                    return Ok(grant(created.stat.czxid));
                }
                (_, Some(token)) => {
                    enqueue(observer);
                    return Ok(grant(token));
                }
                (Err(SessionError::NodeExists), None) => enqueue(observer),
                (Err(SessionError::NoNode), None) => {
                    parents::make(session, names::parent(path)).await?;
                    continue;
                }
                (Err(SessionError::Unknown(_)), None) => continue,
                (Err(error), None) => return Err(error.into()),
            }
            // The data watch, not `exists`: on a znode that has just vanished it leaves no watch behind.
            match repeat(|| session.data_watched(path)).await {
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
        Ok(give_back(&self.session, &self.path, grant.token).await?)
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}

/// Deletes the znode of the grant `token`, and no other: by the time a reply is found to be lost, the znode of that name
/// may be somebody else's lock.
async fn give_back<S: Session>(session: &S, path: &str, token: i64) -> Result<(), SessionError> {
    loop {
        match session.delete(path).await {
            Ok(()) | Err(SessionError::NoNode) => return Ok(()),
            Err(SessionError::Unknown(_)) => {
                if own(session, path).await? != Some(token) {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// The token of the znode if it is this session's; ownership goes by session, which only this worker uses. The answer is
/// final: a create or delete that was under way is decided.
async fn own<S: Session>(session: &S, path: &str) -> Result<Option<i64>, SessionError> {
    insist(|| session.sync(path)).await?;
    match insist(|| session.data(path)).await {
        Ok((_, stat)) => Ok((stat.ephemeral_owner == session.id()).then_some(stat.czxid)),
        Err(SessionError::NoNode) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Deletes the znode in the background if an acquire is dropped, or fails, while its create is under way.
struct Undo<'a, S: Session> {
    session: &'a S,
    path: &'a str,
    undoing: &'a mut Option<JoinHandle<()>>,
    armed: bool,
}

impl<S: Session> Drop for Undo<'_, S> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let session = self.session.clone();
        let path = self.path.to_owned();
        *self.undoing = Some(runtime.spawn(async move {
            // An error in here means that the session is over, and the znode with it.
            if let Ok(Some(token)) = own(&session, &path).await {
                let _ = give_back(&session, &path, token).await;
            }
        }));
    }
}
