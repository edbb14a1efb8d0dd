//! `barrier/single`: etcd's recipe Barrier.
//!
//! One key without a lease is the barrier. Whoever waits watches for its deletion, and all of them go on: with N waiters one
//! removal costs N notifications, by design. Puts of the key are filtered at the server, so that none of them can use up the
//! watch (etcd PR #16223), and the watch is for the instance that was read: one set anew meanwhile is another barrier.

use super::members::wait;
use super::session::{Awaited, Range, Session, Txn, repeat};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Witness};

/// The single barrier as one worker sees it.
pub struct SingleBarrier<S: Session> {
    session: S,
    key: String,
}

impl<S: Session> SingleBarrier<S> {
    /// A barrier that is the key `key`.
    pub fn new(session: S, key: &str) -> Self {
        SingleBarrier { session, key: key.to_owned() }
    }
}

impl<S: Session> barrier::SingleBarrier for SingleBarrier<S> {
    async fn set(&mut self) -> Result<(), RecipeError> {
        // Where the guard does not hold it stands already.
        repeat(|| self.session.txn(Txn::put_while(&self.key, 0, &self.key))).await?;
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), RecipeError> {
        let found = repeat(|| self.session.range(Range::Key(&self.key))).await?;
        if let Some(key) = found.first {
            // Where the guard does not hold somebody else has removed it.
            repeat(|| self.session.txn(Txn::delete(&self.key, key.create_revision))).await?;
        }
        Ok(())
    }

    async fn wait(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        let mut waited_for = None;
        loop {
            let found = Box::pin(repeat(|| self.session.range(Range::Key(&self.key)))).await?;
            let instance = match found.first {
                Some(key) if waited_for.is_none_or(|instance| instance == key.create_revision) => key.create_revision,
                _ => return Ok(self.session.check()?),
            };
            waited_for = Some(instance);
            let watching = self.session.watch(Awaited::Deletion { key: &self.key, instance }, found.revision + 1);
            wait(watching, witness).await?;
        }
    }
}
