//! `barrier/double`: the algorithm of Apache Curator's DistributedDoubleBarrier, the double barrier that does not herd.
//!
//! Members are ephemeral znodes below the barrier's own, beside one of the name `ready`. A member watches for `ready`, then
//! creates its own znode, then lists; whoever counts the quantity creates `ready`. On the way out the lowest member waits for
//! the highest, all others remove themselves and wait for the lowest, and the lowest goes when it is alone.
//!
//! **Notifications of an enter of N members: N**, whenever and in whatever order they come. `ready` is created after the N-th
//! member's znode, and each member has its watch on the missing `ready` before it creates its znode, so all N watches stand
//! then, that of the creator among them; there is no other. (Several may count N and try to create it; one does.)
//!
//! **Of a leave: N − 1 + h.** The N − 1 that are not the lowest watch it, before they remove themselves, and it goes last.
//! h are the wake-ups of the lowest itself, one for each member that was the highest when the lowest looked and went
//! afterwards: 0 ≤ h ≤ N − 1, and 0 in a settled leave, in which the lowest begins when all others wait for it.
//!
//! Requests: to enter 4 (exists, create, list, exists) and the creates of `ready`; to leave 5 in a settled one (list, watch,
//! delete, list, delete `ready`), 3 for the lowest. Each list answers O(N) bytes, so that an enter and a leave are O(N²) bytes
//! for all; the notifications are O(N).
//!
//! Two faults of Curator's are not in here. A wake-up is never trusted: a member is inside when it has seen `ready`, and not
//! when something woke it (#1290); each wait has a watch of its own, so that no event of the enter can end the leave (PR
//! #416). And whoever wakes late does not judge by the number of members, of whom some may have left, or entered again: to
//! enter it looks for `ready`, and to leave for whether `ready` is gone (#1291). It lists first and looks then: members of the
//! next round in the list prove that `ready` was removed before.
//!
//! Members beyond the quantity are let in, as Curator does. They are waited for like all others, but a barrier that has any
//! must not be entered again before all have left. `ready` outlives its creator: where all members die inside, it stays, and
//! whoever comes next finds the barrier open.

use super::member::Member;
use super::session::{CreateMode, Session, SessionError, Watch, repeat};
use crate::recipe::RecipeError;
use crate::recipe::barrier::{self, Entered, Witness, not_inside};
use crate::removals::Removals;

/// The name of the znode that opens the barrier, as Curator has it.
const READY: &str = "ready";

/// One member of a double barrier.
pub struct DoubleBarrier<S: Session> {
    session: S,
    base: String,
    ready: String,
    quantity: usize,
    removals: Removals,
    /// The member while it is inside.
    inside: Option<Member<S>>,
}

impl<S: Session> DoubleBarrier<S> {
    /// A member of the barrier at `base`, which opens for `quantity` members.
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        DoubleBarrier {
            session,
            base: base.to_owned(),
            ready: format!("{base}/{READY}"),
            quantity: quantity as usize,
            removals: Removals::default(),
            inside: None,
        }
    }

    /// The members' names; none where the barrier's own znode is gone.
    async fn members(&self) -> Result<Vec<String>, SessionError> {
        match repeat(|| self.session.children(&self.base)).await {
            Ok(mut names) => {
                names.retain(|name| name != READY);
                Ok(names)
            }
            Err(SessionError::NoNode) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Whether the znode that says so stands.
pub(super) async fn is_open<S: Session>(session: &S, ready: &str) -> Result<bool, SessionError> {
    Ok(repeat(|| session.exists(ready)).await?.is_some())
}

/// Creates the znode that says that the quantity is there.
pub(super) async fn open<S: Session>(session: &S, ready: &str) -> Result<(), SessionError> {
    match repeat(|| session.create(ready, CreateMode::Persistent, b"")).await {
        Ok(_) | Err(SessionError::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes it. Every member does before it returns from its leave, so that it cannot find the barrier open when it comes back.
pub(super) async fn close<S: Session>(session: &S, ready: &str) -> Result<(), SessionError> {
    match repeat(|| session.delete(ready)).await {
        Ok(()) | Err(SessionError::NoNode) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What a member that is to leave waits for.
enum Next {
    /// Nobody: all have left.
    Nobody,
    /// Nobody: it is alone.
    Alone,
    /// This member's removal.
    Removal(String),
}

/// Who is waited for, by a member whose znode is `own`, or which has removed it.
fn next(members: Vec<String>, own: Option<&str>) -> Next {
    let count = members.len();
    let (lowest, highest) = (members.iter().min(), members.iter().max());
    match (lowest, highest) {
        (Some(lowest), Some(highest)) => match own {
            Some(own) if count == 1 && own == lowest => Next::Alone,
            Some(own) if own == lowest => Next::Removal(highest.clone()),
            _ => Next::Removal(lowest.clone()),
        },
        _ => Next::Nobody,
    }
}

impl<S: Session> barrier::DoubleBarrier for DoubleBarrier<S> {
    async fn enter(&mut self, witness: &mut impl Witness) -> Result<Entered, RecipeError> {
        self.inside = None;
        self.removals.done().await;
        let mut member = Member::new(&self.session, &self.base, &self.removals);
        let mut seat = None;
        loop {
            let (found, watch) = repeat(|| self.session.exists_watched(&self.ready)).await?;
            let seated = match seat {
                Some(seat) => seat,
                None => *seat.insert(member.create().await?),
            };
            if found.is_none() {
                let members = self.members().await?;
                if !members.iter().any(|name| name == member.name()) {
                    return Err(member.vanished());
                }
                if members.len() >= self.quantity {
                    open(&self.session, &self.ready).await?;
                }
                witness.armed();
                watch.fired().await?;
                witness.woken();
                if !is_open(&self.session, &self.ready).await? {
                    continue;
                }
            }
            self.inside = Some(member);
            return Ok(Entered::Inside(seated));
        }
    }

    async fn leave(&mut self, witness: &mut impl Witness) -> Result<(), RecipeError> {
        let mut member = self.inside.take().ok_or_else(not_inside)?;
        loop {
            let members = self.members().await?;
            if member.stands() && !members.iter().any(|name| name == member.name()) {
                return Err(member.vanished());
            }
            let awaited = match next(members, member.stands().then(|| member.name())) {
                Next::Nobody => break,
                Next::Alone => {
                    member.remove().await?;
                    break;
                }
                Next::Removal(_) if !member.stands() && !is_open(&self.session, &self.ready).await? => return Ok(()),
                Next::Removal(awaited) => awaited,
            };
            let lowest_is_own = member.stands() && awaited.as_str() > member.name();
            // The data watch, not `exists`: where the awaited member has just gone it leaves no watch behind.
            let awaited = format!("{}/{awaited}", self.base);
            let watch = match repeat(|| self.session.data_watched(&awaited)).await {
                Ok((_, _, watch)) => watch,
                Err(SessionError::NoNode) => continue,
                Err(error) => return Err(error.into()),
            };
            if member.stands() && !lowest_is_own {
                member.remove().await?;
            }
            witness.armed();
            watch.fired().await?;
            witness.woken();
        }
        Ok(close(&self.session, &self.ready).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awaited(members: &[&str], own: Option<&str>) -> Option<String> {
        match next(members.iter().map(ToString::to_string).collect(), own) {
            Next::Removal(name) => Some(name),
            Next::Nobody | Next::Alone => None,
        }
    }

    #[test]
    fn the_lowest_waits_for_the_highest_and_all_others_for_the_lowest() {
        assert_eq!(awaited(&["b", "a", "c"], Some("a")).as_deref(), Some("c"));
        for own in [Some("b"), Some("c"), None] {
            assert_eq!(awaited(&["b", "a", "c"], own).as_deref(), Some("a"));
        }
        assert!(matches!(next(vec!["a".to_owned()], Some("a")), Next::Alone));
        assert_eq!(awaited(&["a"], None).as_deref(), Some("a"));
        assert!(matches!(next(Vec::new(), None), Next::Nobody));
    }
}
