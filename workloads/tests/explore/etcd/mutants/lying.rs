//! Sessions that lie to the recipe above them, each in one way: the recipe is then as good as one that is broken.
use std::sync::{Arc, Mutex};

use workloads::etcd::session::{
    Awaited, Found, Key, Range, Session, SessionError, Then, Txn, TxnOutcome, Watch, repeat,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// None.
    None,
    /// After a wake-up, nobody is before the waiter.
    NobodyBefore,
    /// The own key stands, and the lease with it.
    StillThere,
    /// Watches begin with what comes after another look.
    FromNow,
    /// The lease never ends.
    NeverOver,
    /// A delete takes whatever has the name.
    ByName,
    /// Whatever revision is asked for, members are counted as they are now.
    CountsNow,
    /// A watch goes on although the lease is over.
    WaitsOn,
    /// A key that has not been granted is deleted: it stands.
    KeepsItsPlace,
    /// The barrier is open as long as so many members are counted, until the member is inside.
    OpenByCount(u64),
}

/// What the session has seen of the recipe.
#[derive(Debug, Default)]
struct Seen {
    /// The own key, as it was created.
    own: Option<Key>,
    woken: bool,
    inside: bool,
}

#[derive(Clone)]
pub struct Lying<S> {
    session: S,
    lie: Lie,
    seen: Arc<Mutex<Seen>>,
}

impl<S: Session> Lying<S> {
    pub fn new(session: S, lie: Lie) -> Self {
        Lying { session, lie, seen: Arc::default() }
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap())
    }
}

/// A watch whose firing is noted.
pub struct Noting<W> {
    watch: W,
    lie: Lie,
    seen: Arc<Mutex<Seen>>,
}

impl<W: Watch> Watch for Noting<W> {
    async fn fired(self) -> Result<i64, SessionError> {
        let outcome = self.watch.fired().await;
        if self.lie == Lie::WaitsOn && matches!(outcome, Err(SessionError::Lost(_))) {
            return std::future::pending().await;
        }
        self.seen.lock().unwrap().woken = true;
        outcome
    }
}

impl<S: Session> Session for Lying<S> {
    type Watch = Noting<S::Watch>;

    fn lease(&self) -> i64 {
        self.session.lease()
    }

    fn check(&self) -> Result<(), SessionError> {
        if self.lie == Lie::StillThere { Ok(()) } else { self.session.check() }
    }

    async fn over(&self) -> SessionError {
        if self.lie == Lie::NeverOver {
            return std::future::pending().await;
        }
        self.session.over().await
    }

    async fn txn(&self, txn: Txn<'_>) -> Result<TxnOutcome, SessionError> {
        let txn = match txn.then {
            Then::Delete if self.lie == Lie::ByName => {
                let found = self.session.range(Range::Key(txn.key)).await?;
                Txn { create_revision: found.first.map_or(txn.create_revision, |key| key.create_revision), ..txn }
            }
            Then::Delete if self.lie == Lie::KeepsItsPlace && !self.seen(|seen| seen.inside) => {
                return Ok(TxnOutcome { succeeded: true, revision: txn.create_revision, found: None });
            }
            _ => txn,
        };
        let outcome = self.session.txn(txn).await?;
        if let Then::Put(value) = txn.then {
            let made = |revision| Key {
                key: txn.key.to_owned(),
                create_revision: revision,
                mod_revision: revision,
                lease: self.session.lease(),
                value: value.to_vec(),
            };
            let own = outcome.found.clone().or_else(|| outcome.succeeded.then(|| made(outcome.revision)));
            self.seen(|seen| *seen = Seen { own, ..Seen::default() });
        }
        Ok(outcome)
    }

    async fn range(&self, range: Range<'_>) -> Result<Found, SessionError> {
        let range = match range {
            Range::Count { prefix, .. } if self.lie == Lie::CountsNow => Range::Count { prefix, at: 0 },
            range => range,
        };
        let mut found = self.session.range(range).await?;
        match (self.lie, range) {
            // The look at the own key is the last one before a grant.
            (Lie::KeepsItsPlace, Range::Key(_)) => self.seen(|seen| seen.inside = true),
            (Lie::NobodyBefore, Range::NewestBelow { .. }) if self.seen(|seen| seen.woken) => found.first = None,
            (Lie::StillThere, Range::Key(_)) => found.first = self.seen(|seen| seen.own.clone()),
            (Lie::OpenByCount(quantity), Range::Key(key)) => match key.strip_suffix("/ready") {
                Some(base) if !self.seen(|seen| seen.inside) => {
                    let prefix = format!("{base}/waiters/");
                    let members = repeat(|| self.session.range(Range::Count { prefix: &prefix, at: 0 })).await?.count;
                    if members < quantity {
                        found.first = None;
                    }
                }
                Some(_) => {}
                // The look at the own key is the last one before the member is inside.
                None => self.seen(|seen| seen.inside = true),
            },
            _ => {}
        }
        Ok(found)
    }

    async fn watch(&self, awaited: Awaited<'_>, from: i64) -> Result<Self::Watch, SessionError> {
        let from = match self.lie {
            Lie::FromNow => from.max(repeat(|| self.session.range(Range::Key("any"))).await?.revision + 1),
            _ => from,
        };
        let watch = self.session.watch(awaited, from).await?;
        Ok(Noting { watch, lie: self.lie, seen: Arc::clone(&self.seen) })
    }
}
