//! The double barriers, where members are counted again after a wake-up instead of `ready` being looked for.
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier, Entered, Seat, Witness};
use workloads::zookeeper::session::{CreateMode, Session, SessionError, Watch, insist, repeat};

use super::make_parents;

/// A member's own znode.
struct Member<S> {
    session: S,
    base: String,
    name: String,
    quantity: usize,
}

impl<S: Session> Member<S> {
    fn new(session: S, base: &str, quantity: u32) -> Self {
        let name = format!("member-{:016x}", session.id());
        Member { session, base: base.to_owned(), name, quantity: quantity as usize }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.base, self.name)
    }

    fn ready(&self) -> String {
        format!("{}/ready", self.base)
    }

    async fn create(&self) -> Result<Entered, RecipeError> {
        loop {
            match self.session.create(&self.path(), CreateMode::Ephemeral, b"").await {
                Ok(created) => return Ok(Entered::Inside(Seat { token: created.stat.czxid, rank: 0 })),
                Err(SessionError::NodeExists) => return Ok(Entered::Inside(Seat { token: 0, rank: 0 })),
                Err(SessionError::NoNode) => make_parents(&self.session).await?,
                Err(SessionError::Unknown(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn remove(&self) -> Result<(), RecipeError> {
        let path = self.path();
        match insist(|| self.session.delete(&path)).await {
            Ok(()) | Err(SessionError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn is_member(name: &str) -> bool {
        name.starts_with("member-")
    }

    /// How many members there are.
    async fn count(&self) -> Result<usize, RecipeError> {
        match repeat(|| self.session.children(&self.base)).await {
            Ok(names) => Ok(names.iter().filter(|name| Self::is_member(name)).count()),
            Err(SessionError::NoNode) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the members are this many.
    async fn until(&self, enough: impl Fn(usize) -> bool) -> Result<(), RecipeError> {
        loop {
            let (names, watch) = match repeat(|| self.session.children_watched(&self.base)).await {
                Err(SessionError::NoNode) => return Ok(()),
                listed => listed?,
            };
            if enough(names.iter().filter(|name| Self::is_member(name)).count()) {
                return Ok(());
            }
            watch.fired().await?;
        }
    }
}

/// A member that, woken by `ready`, counts the members again.
pub struct CountsAgain<S>(Member<S>);

impl<S: Session> CountsAgain<S> {
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        CountsAgain(Member::new(session, base, quantity))
    }
}

impl<S: Session> DoubleBarrier for CountsAgain<S> {
    async fn enter(&mut self, _: &mut impl Witness) -> Result<Entered, RecipeError> {
        let member = &self.0;
        let ready = member.ready();
        let (found, mut watch) = repeat(|| member.session.exists_watched(&ready)).await?;
        let inside = member.create().await?;
        if found.is_some() {
            return Ok(inside);
        }
        while member.count().await? < member.quantity {
            watch.fired().await?;
            (_, watch) = repeat(|| member.session.exists_watched(&ready)).await?;
        }
        match repeat(|| member.session.create(&ready, CreateMode::Persistent, b"")).await {
            Ok(_) | Err(SessionError::NodeExists) => Ok(inside),
            Err(error) => Err(error.into()),
        }
    }

    async fn leave(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        let member = &self.0;
        member.remove().await?;
        member.until(|count| count == 0).await?;
        let ready = member.ready();
        match insist(|| member.session.delete(&ready)).await {
            Ok(()) | Err(SessionError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A member that knows nothing but the number of members.
pub struct CountsOnly<S>(Member<S>);

impl<S: Session> CountsOnly<S> {
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        CountsOnly(Member::new(session, base, quantity))
    }
}

impl<S: Session> DoubleBarrier for CountsOnly<S> {
    async fn enter(&mut self, _: &mut impl Witness) -> Result<Entered, RecipeError> {
        let inside = self.0.create().await?;
        self.0.until(|count| count >= self.0.quantity).await?;
        Ok(inside)
    }

    async fn leave(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        self.0.remove().await?;
        self.0.until(|count| count == 0).await
    }
}
