//! `lock/sequential`: Apache Curator's InterProcessMutex, the lock that does not herd.
//!
//! Every contender creates an ephemeral sequential znode under the lock's own; the lowest number holds the lock, and each
//! other watches the one just before its own. One release notifies one waiter, which lists the children again: one
//! notification and one answer of O(N) bytes. In a settled drain of N workers that makes N − 1 notifications in all.
//!
//! Layout and names are Curator's, so that a Java client can stand in the same queue.

use super::names::{self, Position};
use super::parents;
use super::session::{CreateMode, Session, SessionError, Watch, insist, repeat};
use crate::recipe::{Grant, Lock, Loss, Observer, RecipeError};

/// The name of a queue entry between the protected prefix and the sequence number, as Curator has it.
const NAME: &str = "lock-";

/// The sequential lock of one worker.
pub struct SequentialLock<S: Session> {
    session: S,
    base: String,
}

impl<S: Session> SequentialLock<S> {
    /// A lock whose queue is the children of `base`.
    pub fn new(session: S, base: &str) -> Self {
        SequentialLock { session, base: base.to_owned() }
    }

    /// Creates this worker's entry. A create whose reply was lost is looked for by its UUID instead of being repeated.
    async fn enqueue(&self, entry: &mut Entry<S>) -> Result<i64, RecipeError> {
        let prefix = format!("{}/{}", self.base, entry.protected);
        loop {
            match self.session.create(&prefix, CreateMode::EphemeralSequential, b"").await {
                Ok(created) => {
                    entry.path = Some(created.path);
                    return Ok(created.stat.czxid);
                }
                Err(SessionError::NoNode) => parents::make(&self.session, &self.base).await?,
                Err(SessionError::Unknown(_)) => {
                    if let Some(path) = find(&self.session, &self.base, &entry.protected).await? {
                        match repeat(|| self.session.data(&path)).await {
                            Ok((_, stat)) if stat.ephemeral_owner == self.session.id() => {
                                entry.path = Some(path);
                                return Ok(stat.czxid);
                            }
                            // CURATOR-498: an entry of another session dies with that session. Remove it, create anew.
                            Ok(_) => remove(&self.session, &path).await?,
                            Err(SessionError::NoNode) => {}
                            Err(error) => return Err(error.into()),
                        }
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<S: Session> Lock for SequentialLock<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut entry = Entry::new(&self.session, &self.base);
        let token = self.enqueue(&mut entry).await?;
        observer.enqueued();
        let path = entry.path.clone().unwrap_or_default();
        let own = names::last_segment(&path);
        loop {
            let children = match repeat(|| self.session.children(&self.base)).await {
                Ok(children) => children,
                // The container went, so the entry in it had gone before.
                Err(SessionError::NoNode) => return Err(RecipeError::EntryVanished(path)),
                Err(error) => return Err(error.into()),
            };
            match names::position(children, own, NAME) {
                // The list proves that the own entry still exists, so the session that owns it is alive: a grant.
                Position::First => {
                    entry.keep();
                    return Ok(Grant { token, path });
                }
                Position::Missing => return Err(RecipeError::EntryVanished(path)),
                Position::Behind(predecessor) => {
                    let predecessor = format!("{}/{predecessor}", self.base);
                    // The data watch, not `exists`: where the predecessor has just vanished it leaves no watch behind.
                    match repeat(|| self.session.data_watched(&predecessor)).await {
                        Ok((_, _, watch)) => {
                            watch.fired().await?;
                            observer.woken();
                        }
                        // Vanished between listing and watching: list again at once.
                        Err(SessionError::NoNode) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        // The name is unique, so deleting it twice harms nobody.
        Ok(remove(&self.session, &grant.path).await?)
    }

    async fn lost(&self, _: &Grant) -> Loss {
        self.session.broken().await.into()
    }
}

/// The entry of `protected` in the queue, if it is there. The answer is final: a create that was under way is decided.
async fn find<S: Session>(session: &S, base: &str, protected: &str) -> Result<Option<String>, SessionError> {
    insist(|| session.sync(base)).await?;
    match insist(|| session.children(base)).await {
        Ok(children) => {
            Ok(children.into_iter().find(|child| child.starts_with(protected)).map(|child| format!("{base}/{child}")))
        }
        Err(SessionError::NoNode) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Deletes an entry, which may be gone already.
async fn remove<S: Session>(session: &S, path: &str) -> Result<(), SessionError> {
    match insist(|| session.delete(path)).await {
        Ok(()) | Err(SessionError::NoNode) => Ok(()),
        Err(error) => Err(error),
    }
}

/// This worker's place in the queue. Unless it is [kept](Entry::keep) it is removed in the background when dropped, so that
/// an acquire that fails, times out or is cancelled leaves nothing behind, not even a create whose reply is still under way.
struct Entry<S: Session> {
    session: S,
    base: String,
    protected: String,
    /// Known once the create was answered.
    path: Option<String>,
    kept: bool,
}

impl<S: Session> Entry<S> {
    fn new(session: &S, base: &str) -> Self {
        Entry {
            session: session.clone(),
            base: base.to_owned(),
            protected: names::protected(NAME),
            path: None,
            kept: false,
        }
    }

    /// The grant takes over: release deletes the entry from here on.
    fn keep(&mut self) {
        self.kept = true;
    }
}

impl<S: Session> Drop for Entry<S> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let session = self.session.clone();
        let base = std::mem::take(&mut self.base);
        let protected = std::mem::take(&mut self.protected);
        let path = self.path.take();
        runtime.spawn(async move {
            // An error in here means that the session is over, and the entry with it.
            let path = match path {
                Some(path) => Some(path),
                None => find(&session, &base, &protected).await.ok().flatten(),
            };
            if let Some(path) = path {
                let _ = remove(&session, &path).await;
            }
        });
    }
}
