//! Barriers that trust what has changed meanwhile.
use workloads::etcd::keys;
use workloads::etcd::session::{Awaited, Found, Range, Session, SessionError, Txn, Watch, repeat};
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier, Entered, Seat, SingleBarrier, Witness};

/// A member's own key, and what its mutants share.
struct Member<S> {
    session: S,
    prefix: String,
    key: String,
    ready: String,
    quantity: u64,
    own: i64,
}

impl<S: Session> Member<S> {
    fn new(session: S, base: &str, quantity: u32) -> Self {
        let waiters = format!("{base}/waiters");
        let key = keys::entry(&waiters, session.lease());
        let (prefix, ready) = (keys::prefix(&waiters), format!("{base}/ready"));
        Member { session, prefix, key, ready, quantity: u64::from(quantity), own: 0 }
    }

    async fn come(&mut self) -> Result<(), SessionError> {
        let created = repeat(|| self.session.txn(Txn::create(&self.key, b""))).await?;
        self.own = created.found.map_or(created.revision, |found| found.create_revision);
        Ok(())
    }

    async fn go(&self) -> Result<(), SessionError> {
        repeat(|| self.session.txn(Txn::delete(&self.key, self.own))).await.map(drop)
    }

    async fn count(&self, at: i64) -> Result<Found, SessionError> {
        repeat(|| self.session.range(Range::Count { prefix: &self.prefix, at })).await
    }

    async fn happens(&self, awaited: Awaited<'_>, from: i64) -> Result<(), SessionError> {
        self.session.watch(awaited, from).await?.fired().await.map(drop)
    }

    fn inside(&self) -> Entered {
        Entered::Inside(Seat { token: self.own, rank: self.own.unsigned_abs() })
    }

    /// Goes, and waits until all have gone.
    async fn leave(&self) -> Result<(), RecipeError> {
        self.go().await?;
        loop {
            let found = self.count(0).await?;
            if found.count == 0 {
                let ready = repeat(|| self.session.range(Range::Key(&self.ready))).await?;
                if let Some(ready) = ready.first {
                    repeat(|| self.session.txn(Txn::delete(&self.ready, ready.create_revision))).await?;
                }
                return Ok(());
            }
            self.happens(Awaited::AnyDeletion { prefix: &self.prefix }, found.revision + 1).await?;
        }
    }
}

/// The naive double barrier by counting alone: whoever looks late finds that some have left again.
pub struct CountsOnly<S>(Member<S>);

impl<S: Session> CountsOnly<S> {
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        CountsOnly(Member::new(session, base, quantity))
    }
}

impl<S: Session> DoubleBarrier for CountsOnly<S> {
    async fn enter(&mut self, _: &mut impl Witness) -> Result<Entered, RecipeError> {
        self.0.come().await?;
        loop {
            let found = self.0.count(0).await?;
            if found.count >= self.0.quantity {
                return Ok(self.0.inside());
            }
            self.0.happens(Awaited::Put { prefix: &self.0.prefix }, found.revision + 1).await?;
        }
    }

    async fn leave(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        self.0.leave().await
    }
}

/// The double barrier that counts again when `ready` has woken it.
pub struct CountsAgain<S>(Member<S>);

impl<S: Session> CountsAgain<S> {
    pub fn new(session: S, base: &str, quantity: u32) -> Self {
        CountsAgain(Member::new(session, base, quantity))
    }
}

impl<S: Session> DoubleBarrier for CountsAgain<S> {
    async fn enter(&mut self, _: &mut impl Witness) -> Result<Entered, RecipeError> {
        let member = &mut self.0;
        member.come().await?;
        if member.count(member.own).await?.count >= member.quantity {
            repeat(|| member.session.txn(Txn::put_while(&member.key, member.own, &member.ready))).await?;
            return Ok(member.inside());
        }
        let mut from = member.own + 1;
        loop {
            member.happens(Awaited::Put { prefix: &member.ready }, from).await?;
            let found = member.count(0).await?;
            if found.count >= member.quantity {
                return Ok(member.inside());
            }
            from = found.revision + 1;
        }
    }

    async fn leave(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        self.0.leave().await
    }
}

/// A single barrier that watches from what comes after a second look.
pub struct WatchesFromNow<S> {
    session: S,
    key: String,
}

impl<S: Session> WatchesFromNow<S> {
    pub fn new(session: S, key: &str) -> Self {
        WatchesFromNow { session, key: key.to_owned() }
    }

    async fn look(&self) -> Result<Found, SessionError> {
        repeat(|| self.session.range(Range::Key(&self.key))).await
    }
}

impl<S: Session> SingleBarrier for WatchesFromNow<S> {
    async fn set(&mut self) -> Result<(), RecipeError> {
        repeat(|| self.session.txn(Txn::put_while(&self.key, 0, &self.key))).await?;
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), RecipeError> {
        if let Some(key) = self.look().await?.first {
            repeat(|| self.session.txn(Txn::delete(&self.key, key.create_revision))).await?;
        }
        Ok(())
    }

    async fn wait(&mut self, _: &mut impl Witness) -> Result<(), RecipeError> {
        let Some(key) = self.look().await?.first else { return Ok(()) };
        let from = self.look().await?.revision + 1;
        let deletion = Awaited::Deletion { key: &self.key, instance: key.create_revision };
        self.session.watch(deletion, from).await?.fired().await?;
        Ok(())
    }
}
