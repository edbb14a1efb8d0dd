//! The sequential lock with one flaw.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use uuid::Uuid;
use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use workloads::zookeeper::names;
use workloads::zookeeper::session::{CreateMode, Session, SessionError, Watch, insist, repeat};

use super::make_parents;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// None: a control.
    None,
    /// Whoever is woken is first.
    TrustsWakeUp,
    /// Watches the predecessor by `exists`, and leaves the watch where there is none.
    WatchesByExists,
    /// Waits for the predecessor's end although it may have gone already.
    WaitsBlindly,
    /// Does not look for its entry when the reply is lost.
    CreatesAgain,
    /// Does not remove its entry when it gives up.
    StaysInQueue,
    /// Takes the names' order for the queue's.
    SortsByName,
    /// Does not tell its holder of a suspended connection.
    IsNotTold,
    /// After a suspended connection it joins anew twice at once, and knows of one entry afterwards.
    ResetsAtOnce,
}

pub struct Queue<S: Session> {
    session: S,
    base: String,
    flaw: Flaw,
    /// How many entries it has made.
    made: u64,
    /// The connection has been suspended since it joined.
    suspended: AtomicBool,
}

impl<S: Session> Queue<S> {
    pub fn new(session: S, base: &str, flaw: Flaw) -> Self {
        Queue { session, base: base.to_owned(), flaw, made: 0, suspended: AtomicBool::new(false) }
    }

    /// A name that nobody else makes, and that sorts anywhere.
    fn fresh(&mut self) -> String {
        self.made += 1;
        let any = (self.session.id() as u64 + 1000 * self.made).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("_c_{}-lock-", Uuid::from_u64_pair(any, self.made))
    }

    /// An entry that nobody has joined with.
    fn entry(&mut self, kept: bool) -> Entry<S> {
        Entry {
            session: self.session.clone(),
            base: self.base.clone(),
            protected: self.fresh(),
            path: None,
            kept: kept || self.flaw == Flaw::StaysInQueue,
        }
    }

    async fn join(&self, entry: &mut Entry<S>) -> Result<Grant, RecipeError> {
        let prefix = format!("{}/{}", self.base, entry.protected);
        loop {
            match self.session.create(&prefix, CreateMode::EphemeralSequential, b"").await {
                Ok(created) => {
                    entry.path = Some(created.path.clone());
                    return Ok(Grant { token: created.stat.czxid, path: created.path });
                }
                Err(SessionError::NoNode) => make_parents(&self.session).await?,
                Err(SessionError::Unknown(_)) if self.flaw == Flaw::CreatesAgain => {}
                Err(SessionError::Unknown(_)) => {
                    if let Some(path) = find(&self.session, &self.base, &entry.protected).await? {
                        let (_, stat) = repeat(|| self.session.data(&path)).await?;
                        entry.path = Some(path.clone());
                        return Ok(Grant { token: stat.czxid, path });
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whom to wait for; `None`: nobody is before the entry.
    async fn before(&self, own: &str) -> Result<Option<String>, RecipeError> {
        let children = repeat(|| self.session.children(&self.base)).await?;
        if !children.iter().any(|child| child == own) {
            return Err(RecipeError::EntryVanished(own.to_owned()));
        }
        let place = |child: &String| match self.flaw {
            Flaw::SortsByName => (None, child.clone()),
            _ => (names::sequence(child, "lock-"), String::new()),
        };
        let own = place(&own.to_owned());
        Ok(children.into_iter().filter(|child| place(child) < own).max_by_key(place))
    }
}

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

/// An entry, removed when it is dropped.
struct Entry<S: Session> {
    session: S,
    base: String,
    protected: String,
    path: Option<String>,
    kept: bool,
}

impl<S: Session> Drop for Entry<S> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let (session, base, protected) = (self.session.clone(), self.base.clone(), self.protected.clone());
        let path = self.path.take();
        tokio::spawn(async move {
            let path = match path {
                Some(path) => Some(path),
                None => find(&session, &base, &protected).await.ok().flatten(),
            };
            if let Some(path) = path {
                let _ = insist(|| session.delete(&path)).await;
            }
        });
    }
}

impl<S: Session> Lock for Queue<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut entry = self.entry(false);
        let grant = if self.flaw == Flaw::ResetsAtOnce && self.suspended.swap(false, Relaxed) {
            let mut overtaken = self.entry(true);
            let (overtaken, grant) = tokio::join!(self.join(&mut overtaken), self.join(&mut entry));
            overtaken?;
            grant?
        } else {
            self.join(&mut entry).await?
        };
        observer.enqueued();
        loop {
            let Some(before) = self.before(names::last_segment(&grant.path)).await? else { break };
            let before = format!("{}/{before}", self.base);
            let watch = match self.flaw {
                Flaw::WatchesByExists => match repeat(|| self.session.exists_watched(&before)).await? {
                    (Some(_), watch) => Some(watch),
                    (None, watch) => {
                        // As in a client that takes no watch back on its own.
                        std::mem::forget(watch);
                        None
                    }
                },
                Flaw::WaitsBlindly => Some(repeat(|| self.session.exists_watched(&before)).await?.1),
                _ => match repeat(|| self.session.data_watched(&before)).await {
                    Ok((_, _, watch)) => Some(watch),
                    Err(SessionError::NoNode) => None,
                    Err(error) => return Err(error.into()),
                },
            };
            if let Some(watch) = watch {
                watch.fired().await?;
                observer.woken();
                if self.flaw == Flaw::TrustsWakeUp {
                    break;
                }
            }
        }
        entry.kept = true;
        Ok(grant)
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        match insist(|| self.session.delete(&grant.path)).await {
            Ok(()) | Err(SessionError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn lost(&self, _: &Grant) -> Loss {
        if self.flaw == Flaw::IsNotTold {
            return std::future::pending().await;
        }
        let loss = self.session.broken().await;
        self.suspended.store(true, Relaxed);
        loss.into()
    }
}
