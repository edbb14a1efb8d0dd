//! What barriers have in common: the verbs, and what they tell while they run.
//!
//! A *single* barrier holds back everybody who waits at it until somebody removes it. A *double* barrier lets its members in
//! together, once their quantity is there, and out together, once all of them have finished.

use std::future::Future;

use super::RecipeError;

/// Is told how an enter, a leave or a wait comes along, at the moment at which it happens.
pub trait Witness: Send {
    /// A watch stands on the servers, and nothing goes on until it fires.
    fn armed(&mut self);
    /// The watch fired. That alone means nothing: the member looks again.
    fn woken(&mut self);
}

/// A member's place in a double barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// What the member's znode or key was created by. ZooKeeper: its czxid; etcd: its create revision.
    pub token: i64,
    /// The member's place in the order that the leaving goes by: of those who are inside, the one with the smallest is the
    /// *lowest*, for whom all others wait. ZooKeeper: the first half of the UUID in the znode's name; etcd: the token.
    pub rank: u64,
}

/// How an enter ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// The member is inside, and so is everybody else of the quantity.
    Inside(Seat),
    /// The quantity was there already without this member (etcd's double barrier; the others let further members in).
    Refused,
}

/// A barrier that its members enter together and leave together.
///
/// One value is one member; it may enter again after it has left. Dropping it while it is inside is leaving without waiting.
pub trait DoubleBarrier: Send {
    /// Waits until the quantity of members has entered.
    ///
    /// No wake-up is trusted: a member is inside only once it has seen the barrier open after its last wake-up. Dropping the
    /// future, as a time-out does, removes the member, and an enter that follows waits until it is removed.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]; never an entry on a session that was lost while waiting.
    fn enter(&mut self, witness: &mut impl Witness) -> impl Future<Output = Result<Entered, RecipeError>> + Send;

    /// Waits until every member that is inside has called this, or is gone with its session. Dropping the future removes the
    /// member as well.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]; the member is out in any case, with its session if not before. [`RecipeError::Service`] when it was
    /// not inside.
    fn leave(&mut self, witness: &mut impl Witness) -> impl Future<Output = Result<(), RecipeError>> + Send;
}

/// A barrier that somebody sets and removes, and at which everybody else waits.
pub trait SingleBarrier: Send {
    /// Sets the barrier; one that stands already is left as it is. It outlives the session.
    ///
    /// # Errors
    ///
    /// [`RecipeError`].
    fn set(&mut self) -> impl Future<Output = Result<(), RecipeError>> + Send;

    /// Removes the barrier; it is no error if there is none.
    ///
    /// # Errors
    ///
    /// [`RecipeError`].
    fn remove(&mut self) -> impl Future<Output = Result<(), RecipeError>> + Send;

    /// Waits until the barrier that stands is removed; returns at once where none stands. A barrier that was set anew before
    /// a late waiter has looked again does not hold it back: that is another one.
    ///
    /// # Errors
    ///
    /// [`RecipeError`]: a watch that dies is an error, never a release.
    fn wait(&mut self, witness: &mut impl Witness) -> impl Future<Output = Result<(), RecipeError>> + Send;
}

/// The error of a leave that no enter came before.
pub(crate) fn not_inside() -> RecipeError {
    RecipeError::Service("the member is not inside the barrier".to_owned())
}
