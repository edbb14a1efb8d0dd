//! A worker's entry in a queue of ephemeral sequential znodes: what the lock, the elections and their selectors share.
//!
//! An entry is *protected* (Curator's word): it carries a UUID, by which a create whose reply was lost is found again instead
//! of being repeated. The recipes differ in whom they watch while they wait, and in what they do once they are first.

use super::names::{self, Position};
use super::parents;
use super::session::{CreateMode, Session, SessionError, Watch, insist, repeat};
use crate::recipe::{Grant, Observer, RecipeError};

/// Whom a waiter watches: the position of an entry among the children of its queue, as [`names::position`] or
/// [`names::position_by_smallest`] tells it.
pub type Rule = fn(Vec<String>, &str, &str) -> Position;

/// A worker's place in a queue. Unless it is [kept](Entry::keep) it is removed in the background when dropped, so that an
/// acquire that fails, times out or is cancelled leaves nothing behind, not even a create whose reply is still under way.
pub struct Entry<S: Session> {
    session: S,
    base: String,
    /// The recipe's name between the protected prefix and the sequence number.
    name: &'static str,
    protected: String,
    /// A create was sent of which the outcome is not known.
    undecided: bool,
    /// Known once the create was answered.
    grant: Option<Grant>,
    kept: bool,
}

impl<S: Session> Entry<S> {
    /// An entry that is yet to [join](Entry::join) the queue below `base`.
    pub fn new(session: &S, base: &str, name: &'static str) -> Self {
        Entry {
            session: session.clone(),
            base: base.to_owned(),
            name,
            protected: names::protected(name),
            undecided: false,
            grant: None,
            kept: false,
        }
    }

    /// Creates the znode, and tells what it will be granted with. May be called again, also where an earlier call was
    /// dropped in the middle: the queue holds one znode of this entry whatever became of the replies.
    ///
    /// # Errors
    ///
    /// [`RecipeError`], other than [`RecipeError::EntryVanished`].
    pub async fn join(&mut self, data: &[u8]) -> Result<Grant, RecipeError> {
        if let Some(grant) = &self.grant {
            return Ok(grant.clone());
        }
        let grant = loop {
            if self.undecided
                && let Some(found) = self.find_own().await?
            {
                break found;
            }
            self.undecided = true;
            let prefix = format!("{}/{}", self.base, self.protected);
            match self.session.create(&prefix, CreateMode::EphemeralSequential, data).await {
                Ok(created) => break Grant { token: created.stat.czxid, path: created.path },
                Err(SessionError::Unknown(_)) => {}
                Err(error) => {
                    self.undecided = false;
                    match error {
                        SessionError::NoNode => parents::make(&self.session, &self.base).await?,
                        error => return Err(error.into()),
                    }
                }
            }
        };
        self.grant = Some(grant.clone());
        Ok(grant)
    }

    /// What an undecided create has made, if this session owns it.
    async fn find_own(&self) -> Result<Option<Grant>, SessionError> {
        let Some(path) = find(&self.session, &self.base, &self.protected).await? else { return Ok(None) };
        match repeat(|| self.session.data(&path)).await {
            Ok((_, stat)) if stat.ephemeral_owner == self.session.id() => Ok(Some(Grant { token: stat.czxid, path })),
            // CURATOR-498: an entry of another session dies with that session. Remove it, create anew.
            Ok(_) => {
                remove(&self.session, &path).await?;
                Ok(None)
            }
            Err(SessionError::NoNode) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until nobody is before this entry, which has joined, watching whom `rule` names. `false` when the entry is not
    /// in the queue any more.
    ///
    /// The answer comes from a list that follows the last wake-up. It holds the entry, so the session that owns it was alive.
    ///
    /// # Errors
    ///
    /// [`RecipeError`], other than [`RecipeError::EntryVanished`].
    pub async fn until_first(&self, rule: Rule, observer: &mut impl Observer) -> Result<bool, RecipeError> {
        let Some(Grant { path, .. }) = &self.grant else { return Ok(false) };
        let own = names::last_segment(path);
        loop {
            let children = match repeat(|| self.session.children(&self.base)).await {
                Ok(children) => children,
                // The container went, so the entry in it had gone before.
                Err(SessionError::NoNode) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            let other = match rule(children, own, self.name) {
                Position::First => return Ok(true),
                Position::Missing => return Ok(false),
                Position::Behind(other) => format!("{}/{other}", self.base),
            };
            // The data watch, not `exists`: where the other has just vanished it leaves no watch behind.
            match repeat(|| self.session.data_watched(&other)).await {
                Ok((_, _, watch)) => {
                    watch.fired().await?;
                    observer.woken();
                }
                // Vanished between listing and watching: list again at once, with the same entry.
                Err(SessionError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the znode is still the one that joined, and this session owns it.
    ///
    /// # Errors
    ///
    /// What reading it answers, except that a znode which is gone is none.
    pub async fn is_own(&self) -> Result<bool, RecipeError> {
        let Some(Grant { path, token }) = &self.grant else { return Ok(false) };
        match repeat(|| self.session.data(path)).await {
            Ok((_, stat)) => Ok(stat.ephemeral_owner == self.session.id() && stat.czxid == *token),
            Err(SessionError::NoNode) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Stands for a grant from here on: dropping it leaves the znode where it is, to be deleted by a release or to go with
    /// the session, as it does with a leader that dies.
    pub fn keep(mut self) -> Self {
        self.kept = true;
        self
    }

    /// Takes [`keep`](Entry::keep) back: dropped now, it is removed.
    pub fn unkeep(mut self) -> Self {
        self.kept = false;
        self
    }

    /// Deletes the znode, which may be gone already. Dropped in the middle, it goes on in the background.
    ///
    /// # Errors
    ///
    /// What the delete answers, never an unknown outcome.
    pub async fn leave(self) -> Result<(), SessionError> {
        let mut leaving = self.unkeep();
        if let Some(grant) = &leaving.grant {
            remove(&leaving.session, &grant.path).await?;
            leaving.kept = true;
        }
        Ok(())
    }
}

impl<S: Session> Drop for Entry<S> {
    fn drop(&mut self) {
        let path = self.grant.take().map(|grant| grant.path);
        if self.kept || (path.is_none() && !self.undecided) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let session = self.session.clone();
        let base = std::mem::take(&mut self.base);
        let protected = std::mem::take(&mut self.protected);
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

/// Deletes an entry, which may be gone already. Its name is unique, so that deleting it twice harms nobody.
pub async fn remove<S: Session>(session: &S, path: &str) -> Result<(), SessionError> {
    match insist(|| session.delete(path)).await {
        Ok(()) | Err(SessionError::NoNode) => Ok(()),
        Err(error) => Err(error),
    }
}
