//! The sequential lock with one flaw.
use workloads::etcd::keys;
use workloads::etcd::session::{Awaited, Range, Session, SessionError, Txn, Watch, repeat};
use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// None.
    None,
    /// Whoever is woken is first.
    TrustsWakeUp,
    /// Does not look whether its own key is there still.
    NoLastLook,
    /// Its watch begins with what comes after it has looked a second time.
    WatchesFromNow,
    /// Does not tell its holder of the lease's end.
    IsNotTold,
    /// Does not remove its key when it gives up.
    StaysInQueue,
}

pub struct Queue<S: Session> {
    session: S,
    prefix: String,
    key: String,
    flaw: Flaw,
}

impl<S: Session> Queue<S> {
    pub fn new(session: S, base: &str, flaw: Flaw) -> Self {
        let key = keys::entry(base, session.lease());
        Queue { session, prefix: keys::prefix(base), key, flaw }
    }

    async fn look(&self, range: Range<'_>) -> Result<workloads::etcd::session::Found, SessionError> {
        repeat(|| self.session.range(range)).await
    }

    async fn wait(&self, own: i64, observer: &mut impl Observer) -> Result<(), RecipeError> {
        loop {
            let found = self.look(Range::NewestBelow { prefix: &self.prefix, own }).await?;
            let Some(before) = found.first else { return Ok(()) };
            let seen = match self.flaw {
                Flaw::WatchesFromNow => self.look(Range::Key(&before.key)).await?.revision,
                _ => found.revision,
            };
            let deletion = Awaited::Deletion { key: &before.key, instance: before.create_revision };
            self.session.watch(deletion, seen + 1).await?.fired().await?;
            observer.woken();
            if self.flaw == Flaw::TrustsWakeUp {
                return Ok(());
            }
        }
    }
}

/// A key, deleted when this is dropped.
struct Entry<S: Session> {
    session: S,
    key: String,
    own: Option<i64>,
}

impl<S: Session> Drop for Entry<S> {
    fn drop(&mut self) {
        let (session, key, Some(own)) = (self.session.clone(), std::mem::take(&mut self.key), self.own.take()) else {
            return;
        };
        tokio::spawn(async move {
            let _ = repeat(|| session.txn(Txn::delete(&key, own))).await;
        });
    }
}

impl<S: Session> Lock for Queue<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let created = repeat(|| self.session.txn(Txn::create(&self.key, b""))).await?;
        let token = created.found.map_or(created.revision, |found| found.create_revision);
        let own = (self.flaw != Flaw::StaysInQueue).then_some(token);
        let mut entry = Entry { session: self.session.clone(), key: self.key.clone(), own };
        observer.enqueued();
        self.wait(token, observer).await?;
        if self.flaw != Flaw::NoLastLook {
            let found = self.look(Range::Key(&self.key)).await?;
            self.session.check()?;
            if found.first.is_none_or(|own| own.create_revision != token) {
                return Err(RecipeError::EntryVanished(self.key.clone()));
            }
        }
        entry.own = None;
        Ok(Grant { token, path: self.key.clone() })
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        repeat(|| self.session.txn(Txn::delete(&grant.path, grant.token))).await?;
        Ok(())
    }

    async fn lost(&self, _: &Grant) -> Loss {
        if self.flaw == Flaw::IsNotTold {
            return std::future::pending().await;
        }
        self.session.over().await.into()
    }
}
