//! The naive lock, with an unlock that deletes whatever has the name.
use workloads::etcd::NaiveLock;
use workloads::etcd::session::{Range, Session, Txn, repeat};
use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};

pub struct UnlocksByName<S: Session> {
    lock: NaiveLock<S>,
    session: S,
}

impl<S: Session> UnlocksByName<S> {
    pub fn new(session: S, base: &str) -> Self {
        UnlocksByName { lock: NaiveLock::new(session.clone(), base), session }
    }
}

impl<S: Session> Lock for UnlocksByName<S> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        self.lock.acquire(observer).await
    }

    /// As a delete without a guard, which is repeated when its answer is lost.
    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        let delete = async || {
            let found = self.session.range(Range::Key(&grant.path)).await?;
            match found.first {
                Some(key) => self.session.txn(Txn::delete(&grant.path, key.create_revision)).await.map(drop),
                None => Ok(()),
            }
        };
        Ok(repeat(delete).await?)
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        self.lock.lost(grant).await
    }
}
