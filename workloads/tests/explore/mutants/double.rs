//! The double barrier, with one flaw: members are counted again after a wake-up instead of `ready` being looked for, a wake-up
//! is trusted, or it ends a wait that it does not belong to.
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier, Entered, Seat, Witness};
use workloads::zookeeper::session::{CreateMode, Session, SessionError, Watch, insist, repeat};

use super::make_parents;

/// What a member makes of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It looks for `ready`: a control.
    None,
    /// It counts the members, instead of looking for `ready`.
    CountsAgain,
    /// It counts them, and there is no `ready` at all.
    CountsOnly,
    /// It is inside, whatever woke it.
    TrustsWakeUp,
    /// One that is on its way out takes the event of `ready` for what it waits for.
    SharesItsWatch,
}

/// A member's own znode, removed when it is dropped.
struct Member<S: Session> {
    session: S,
    base: String,
    name: String,
    quantity: usize,
    stands: bool,
}

impl<S: Session> Drop for Member<S> {
    fn drop(&mut self) {
        if !self.stands {
            return;
        }
        let (session, path) = (self.session.clone(), self.path());
        tokio::spawn(async move {
            if insist(|| session.sync(&path)).await.is_ok() {
                let _ = insist(|| session.delete(&path)).await;
            }
        });
    }
}

impl<S: Session> Member<S> {
    fn new(session: S, base: &str, quantity: u32) -> Self {
        let name = format!("member-{:016x}", session.id());
        Member { session, base: base.to_owned(), name, quantity: quantity as usize, stands: false }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.base, self.name)
    }

    fn ready(&self) -> String {
        format!("{}/ready", self.base)
    }

    async fn create(&mut self) -> Result<Entered, RecipeError> {
        self.stands = true;
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

    async fn remove(&mut self) -> Result<(), RecipeError> {
        let path = self.path();
        match insist(|| self.session.delete(&path)).await {
            Ok(()) | Err(SessionError::NoNode) => {
                self.stands = false;
                Ok(())
            }
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

/// A member of a double barrier with a flaw, which counts on the way out in any case.
pub struct Flawed<S: Session> {
    member: Member<S>,
    flaw: Flaw,
    /// The watch for `ready` of a member that had no need to wait for it.
    left_over: Option<S::Watch>,
}

impl<S: Session> Flawed<S> {
    pub fn new(session: S, base: &str, quantity: u32, flaw: Flaw) -> Self {
        Flawed { member: Member::new(session, base, quantity), flaw, left_over: None }
    }
}

impl<S: Session> DoubleBarrier for Flawed<S> {
    async fn enter(&mut self, _: &mut impl Witness) -> Result<Entered, RecipeError> {
        let Flawed { member, flaw, left_over } = self;
        let ready = member.ready();
        if *flaw == Flaw::CountsOnly {
            let inside = member.create().await?;
            member.until(|count| count >= member.quantity).await?;
            return Ok(inside);
        }
        let (found, mut watch) = repeat(|| member.session.exists_watched(&ready)).await?;
        let inside = member.create().await?;
        if found.is_some() {
            return Ok(inside);
        }
        loop {
            if member.count().await? >= member.quantity {
                if *flaw == Flaw::SharesItsWatch {
                    *left_over = Some(watch);
                }
                return match repeat(|| member.session.create(&ready, CreateMode::Persistent, b"")).await {
                    Ok(_) | Err(SessionError::NodeExists) => Ok(inside),
                    Err(error) => Err(error.into()),
                };
            }
            watch.fired().await?;
            if *flaw == Flaw::TrustsWakeUp {
                return Ok(inside);
            }
            let found;
            (found, watch) = repeat(|| member.session.exists_watched(&ready)).await?;
            if *flaw != Flaw::CountsAgain && found.is_some() {
                return Ok(inside);
            }
        }
    }

    async fn leave(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        let member = &mut self.member;
        member.remove().await?;
        let ready = member.ready();
        if self.flaw == Flaw::CountsOnly {
            return member.until(|count| count == 0).await;
        }
        let left_over = self.left_over.take();
        let mut late = std::pin::pin!(async {
            match left_over {
                Some(watch) => watch.fired().await,
                None => std::future::pending().await,
            }
        });
        // Members of the next round may be there already, once somebody has removed `ready`.
        loop {
            let (names, watch) = match repeat(|| member.session.children_watched(&member.base)).await {
                Err(SessionError::NoNode) => return Ok(()),
                listed => listed?,
            };
            let is_open = repeat(|| member.session.exists(&ready)).await?.is_some();
            if !is_open {
                return Ok(());
            }
            if !names.iter().any(|name| Member::<S>::is_member(name)) {
                break;
            }
            tokio::select! {
                biased;
                fired = watch.fired() => {
                    fired?;
                }
                fired = &mut late => {
                    fired?;
                    return Ok(());
                }
            }
        }
        match insist(|| member.session.delete(&ready)).await {
            Ok(()) | Err(SessionError::NoNode) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
