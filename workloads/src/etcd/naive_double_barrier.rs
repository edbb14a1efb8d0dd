//! `barrier/double-naive`: the double barrier that herds.
//!
//! A member puts `<base>/waiters/<lease id in hex>` under its lease. Everybody watches the prefix and counts, on the way in
//! until the quantity is there and on the way out until nobody is; every member that comes or goes wakes all who wait, and
//! each of them counts again: O(N²) notifications and counts. (A count is O(1) bytes; ZooKeeper's members have to list.)
//!
//! **Notifications of a settled enter of N members: N(N − 1)/2**; settled means that each member comes when all who came before
//! wait: the k-th put notifies k − 1 watches. (In one that is not, whoever wakes late is told out of the history of each put that
//! came meanwhile, one after the other, until it finds the barrier open.) **Of a settled leave: N(N − 1)/2**, in the same way.
//! Watches of the way in are for puts alone and those of the way out for deletions alone, so that neither costs anything on the
//! other.
//!
//! By counting alone it could not be left in peace: whoever wakes late finds fewer than the quantity because some have left
//! again, and waits for ever. So whoever counts the quantity puts `<base>/ready`, and whoever does not reads it, as the
//! herd-free double barrier does; see there for what that proves. It costs one small request for each count. And each counts
//! as of the put that woke it: where the one that completed the quantity has given up since, nobody comes any more to wake
//! those who count later. Members beyond the quantity are let in.

use super::entry::Entry;
use super::members::{Members, wait};
use super::session::{Awaited, Range, Session};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Entered, Witness, not_inside};

/// One member of a naive double barrier.
pub struct NaiveDoubleBarrier<S: Session> {
    members: Members<S>,
    /// The member while it is inside, and the instance of `ready` that let it in.
    inside: Option<(Entry<S>, i64)>,
}

impl<S: Session> NaiveDoubleBarrier<S> {
    /// A member of the barrier at `base`, which opens for `quantity` members.
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        NaiveDoubleBarrier { members: Members::new(session, base, quantity), inside: None }
    }
}

impl<S: Session> barrier::DoubleBarrier for NaiveDoubleBarrier<S> {
    async fn enter(&mut self, witness: &mut impl Witness) -> Result<Entered, RecipeError> {
        self.inside = None;
        let members = &self.members;
        let (entry, own) = members.join().await?;
        // As they were just after each of them came, and not as they are by now: where one has given up since, nobody is left
        // to wake those who missed that the quantity was there.
        let mut at = Some(own);
        let ready = loop {
            let (count, counted) = members.count(at).await?;
            match members.ready.since(&members.session, own).await? {
                (Some(ready), _) => break ready,
                (None, _) if count >= members.quantity => members.open(own).await?,
                (None, _) => {
                    let awaited = Awaited::Put { prefix: &members.prefix };
                    at = wait(members.session.watch(awaited, counted + 1), witness).await?;
                }
            }
        };
        let entered = members.entered(own).await?;
        self.inside = Some((entry, ready));
        Ok(entered)
    }

    async fn leave(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        let (mut entry, ready) = self.inside.take().ok_or_else(not_inside)?;
        let members = &self.members;
        entry.remove().await?;
        loop {
            let found = members.ask(Range::Count { prefix: &members.prefix, at: 0 }).await?;
            if found.count == 0 {
                return Ok(members.ready.delete(&members.session, ready).await?);
            }
            if !members.ready.is(&members.session, ready).await? {
                return Ok(());
            }
            let awaited = Awaited::AnyDeletion { prefix: &members.prefix };
            wait(members.session.watch(awaited, found.revision + 1), witness).await?;
        }
    }
}
