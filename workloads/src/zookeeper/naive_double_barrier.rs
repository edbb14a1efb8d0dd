//! `barrier/double-naive`: the double barrier that herds.
//!
//! Members are ephemeral znodes below `<base>/members`. Everybody watches the list of them and counts, on the way in until
//! the quantity is there and on the way out until nobody is; every member that comes or goes wakes all who wait, and each of
//! them lists again: O(N²) notifications and lists, and O(N³) response bytes.
//!
//! **Notifications of a settled enter of N members of a fresh barrier: N(N − 1)/2**; settled means that each member comes when
//! all who came before wait: the k-th wakes k − 1. Each list sets the watch anew, so when all are inside N watches stand, and
//! stay: no client library takes back a watch that nobody awaits any more on its own, and taking it back would be a request
//! for each. **Of a settled leave: N(N − 1)/2 + N**: the first removal fires those N, all others those who wait by then; the
//! k-th leaver wakes k − 1. The last list leaves N watches again, so that a barrier that is entered **again** costs N more on
//! the way in.
//!
//! By counting alone it could not be left in peace: whoever wakes late finds fewer than the quantity because some have left
//! again, and waits for ever. So whoever counts the quantity creates `<base>/ready`, and whoever does not looks for it, as the
//! herd-free double barrier does; see there for what that proves. It costs one small request for each list.
//! Members beyond the quantity are let in.

use super::double_barrier::{close, is_open, open};
use super::member::Member;
use super::session::{Session, SessionError, Watch, repeat};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Entered, Witness, not_inside};
use crate::removals::Removals;

/// One member of a naive double barrier.
pub struct NaiveDoubleBarrier<S: Session> {
    session: S,
    members: String,
    ready: String,
    quantity: usize,
    removals: Removals,
    /// The member while it is inside.
    inside: Option<Member<S>>,
    /// The watch of the last list, which nobody awaits until the next removal or create of this member has fired it.
    left_over: Option<S::Watch>,
}

impl<S: Session> NaiveDoubleBarrier<S> {
    /// A member of the barrier at `base`, which opens for `quantity` members.
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        NaiveDoubleBarrier {
            session,
            members: format!("{base}/members"),
            ready: format!("{base}/ready"),
            quantity: quantity as usize,
            removals: Removals::default(),
            inside: None,
            left_over: None,
        }
    }

    /// Lets the watch of the last list go by, which this member's own create or removal has fired at the latest.
    async fn catch_up(&mut self) -> Result<(), SessionError> {
        match self.left_over.take() {
            Some(watch) => watch.fired().await.map(drop),
            None => Ok(()),
        }
    }
}

impl<S: Session> barrier::DoubleBarrier for NaiveDoubleBarrier<S> {
    async fn enter(&mut self, witness: &mut impl Witness) -> Result<Entered, RecipeError> {
        self.inside = None;
        self.removals.done().await;
        let mut member = Member::new(&self.session, &self.members, &self.removals);
        let seat = member.create().await?;
        self.catch_up().await?;
        loop {
            let (names, watch) = match repeat(|| self.session.children_watched(&self.members)).await {
                Err(SessionError::NoNode) => return Err(member.vanished()),
                listed => listed?,
            };
            if !names.iter().any(|name| name == member.name()) {
                return Err(member.vanished());
            }
            let is_open = is_open(&self.session, &self.ready).await?;
            if is_open || names.len() >= self.quantity {
                if !is_open {
                    open(&self.session, &self.ready).await?;
                }
                self.left_over = Some(watch);
                self.inside = Some(member);
                return Ok(Entered::Inside(seat));
            }
            witness.armed();
            watch.fired().await?;
            witness.woken();
        }
    }

    async fn leave(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        let mut member = self.inside.take().ok_or_else(not_inside)?;
        member.remove().await?;
        self.catch_up().await?;
        loop {
            let (names, watch) = match repeat(|| self.session.children_watched(&self.members)).await {
                // The container went after its last child.
                Err(SessionError::NoNode) => break,
                listed => listed?,
            };
            if names.is_empty() {
                self.left_over = Some(watch);
                break;
            }
            if !is_open(&self.session, &self.ready).await? {
                self.left_over = Some(watch);
                return Ok(());
            }
            witness.armed();
            watch.fired().await?;
            witness.woken();
        }
        Ok(close(&self.session, &self.ready).await?)
    }
}
