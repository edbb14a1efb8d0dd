//! `barrier/double`: the algorithm of etcd's recipe DoubleBarrier, the double barrier that does not herd.
//!
//! A member puts `<base>/waiters/<lease id in hex>` under its lease; the quantity's last one by create revision puts
//! `<base>/ready`, all before it watch for that, and all after it are refused. On the way out the lowest member by create
//! revision waits for the highest, all others remove themselves and wait for the lowest, and the lowest, once it is alone,
//! deletes `ready` and then its own key.
//!
//! **Notifications of an enter of N members: N − 1**, whenever and in whatever order they come: how many keys there were *at the
//! revision that created one's own* is each member's place, 1 to N, so exactly one is the last, and exactly N − 1 watch; the
//! one put notifies each of them once. **Of a leave: N − 1 + h**: the N − 1 that are not the lowest watch it, before they remove
//! themselves, and it goes last. h are the wake-ups of the lowest itself, one for each member that was the highest when the
//! lowest looked and went afterwards: 0 ≤ h ≤ N − 1, and 0 in a settled leave, in which the lowest begins when all others wait.
//!
//! Requests: to enter 5 (transaction, count, watch, two reads; the last one a transaction for the watch), and a cancellation of
//! the watch; to leave 5 in a settled one (read, watch, transaction, two reads) and a cancellation, the lowest 5. All answers are
//! O(1) bytes: etcd counts without listing, where ZooKeeper lists.
//!
//! What differs from etcd's own: the place is counted at a revision, which takes no list; a wake-up is not trusted, but `ready`
//! is read again, and has to have been put since the member came (Curator #1290; what all members that died inside leave
//! behind opens nothing); a late waker on the way out does not take the members of the next round for those of its own, since
//! the instance of `ready` tells (Curator #1291); and `ready` is put by a transaction that needs the putter's own key.

use super::entry::Entry;
use super::members::{Members, wait};
use super::session::{Awaited, Range, Session};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Entered, Witness, not_inside};

/// One member of a double barrier.
pub struct DoubleBarrier<S: Session> {
    members: Members<S>,
    /// The member while it is inside, and the instance of `ready` that let it in.
    inside: Option<(Entry<S>, i64)>,
}

impl<S: Session> DoubleBarrier<S> {
    /// A member of the barrier at `base`, which opens for `quantity` members.
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        DoubleBarrier { members: Members::new(session, base, quantity), inside: None }
    }
}

/// Waits until the barrier is open for the member with this create revision and place; the instance of `ready`.
async fn until_open<S: Session>(
    members: &Members<S>,
    own: i64,
    place: u64,
    witness: &mut impl Witness,
) -> Result<i64, RecipeError> {
    let mut from = own + 1;
    loop {
        if place < members.quantity {
            wait(members.session.watch(Awaited::Put { prefix: members.ready.key() }, from), witness).await?;
        } else {
            members.open(own).await?;
        }
        match members.ready.since(&members.session, own).await? {
            (Some(ready), _) => return Ok(ready),
            (None, revision) => from = revision + 1,
        }
    }
}

impl<S: Session> barrier::DoubleBarrier for DoubleBarrier<S> {
    async fn enter(&mut self, witness: &mut impl Witness) -> Result<Entered, RecipeError> {
        self.inside = None;
        let members = &self.members;
        let (mut entry, own) = members.join().await?;
        let place = members.ask(Range::Count { prefix: &members.prefix, at: own }).await?.count;
        if place > members.quantity {
            entry.remove().await?;
            return Ok(Entered::Refused);
        }
        let ready = until_open(members, own, place, witness).await?;
        let entered = members.entered(own).await?;
        self.inside = Some((entry, ready));
        Ok(entered)
    }

    async fn leave(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        let (mut entry, ready) = self.inside.take().ok_or_else(not_inside)?;
        let members = &self.members;
        loop {
            let oldest = members.ask(Range::Oldest { prefix: &members.prefix, at: 0 }).await?;
            let Some(lowest) = oldest.first else {
                if entry.own().is_some() {
                    return Err(members.vanished());
                }
                // The lowest has deleted `ready` before it went, unless it died.
                return Ok(members.ready.delete(&members.session, ready).await?);
            };
            let (awaited, from) = match entry.own() {
                Some(own) if own == lowest.create_revision => {
                    let newest = members.ask(Range::NewestBelow { prefix: &members.prefix, own: i64::MAX }).await?;
                    match newest.first {
                        Some(highest) if highest.create_revision != own => (highest, newest.revision + 1),
                        _ => {
                            members.ready.delete(&members.session, ready).await?;
                            return entry.remove().await;
                        }
                    }
                }
                Some(_) => {
                    // What happens before the watch stands is delivered out of the history.
                    entry.remove().await?;
                    (lowest, oldest.revision + 1)
                }
                None if !members.ready.is(&members.session, ready).await? => return Ok(()),
                None => (lowest, oldest.revision + 1),
            };
            let deletion = Awaited::Deletion { key: &awaited.key, instance: awaited.create_revision };
            wait(members.session.watch(deletion, from), witness).await?;
        }
    }
}
