//! A session that lies about who owns a znode, or about a watch that has fired; all else is as it is.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use workloads::chaos::Dice;
use workloads::record::EventKind;
use workloads::zookeeper::session::{CreateMode, Created, Session, SessionError, Stat, Watch};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Nothing but the truth: a control.
    None,
    /// Whatever stands under the name is one's own.
    AnyOwner,
    /// After a delete, whatever stands under the name is what was to be deleted.
    StillThere,
    /// Some of the first watches fire although nothing has happened.
    FiresForNothing,
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// The czxid of what was created last.
    created: i64,
    /// A delete came after it.
    deletes: bool,
    /// How many watches have been set.
    watches: u64,
}

#[derive(Clone)]
pub struct Lying<S> {
    session: S,
    lie: Lie,
    last: Arc<Mutex<Last>>,
}

impl<S: Session> Lying<S> {
    pub fn new(session: S, lie: Lie) -> Self {
        Lying { session, lie, last: Arc::default() }
    }

    fn note(&self, note: impl FnOnce(&mut Last)) {
        note(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn lying_watch(&self, watch: S::Watch) -> LyingWatch<S::Watch> {
        if self.lie != Lie::FiresForNothing {
            return LyingWatch { watch, fires_after: None };
        }
        let mut number = 0;
        self.note(|last| {
            last.watches += 1;
            number = last.watches;
        });
        let mut dice = Dice::new(self.id() as u64 ^ number, "wake-ups");
        // Not for ever: whoever waits in vain would be woken again and again, to the end of the run.
        let fires = number <= WATCHES && dice.happens(500);
        LyingWatch { watch, fires_after: fires.then(|| dice.delay(Duration::from_millis(200))) }
    }
}

/// How many of a session's watches may fire for nothing.
const WATCHES: u64 = 10;

/// A watch that fires after a while, if not before.
pub struct LyingWatch<W> {
    watch: W,
    fires_after: Option<Duration>,
}

impl<W: Watch> Watch for LyingWatch<W> {
    async fn fired(self) -> Result<EventKind, SessionError> {
        let LyingWatch { watch, fires_after } = self;
        let Some(after) = fires_after else { return watch.fired().await };
        tokio::select! {
            biased;
            fired = watch.fired() => fired,
            () = sleep(after) => Ok(EventKind::Changed),
        }
    }
}

impl<S: Session> Session for Lying<S> {
    type Watch = LyingWatch<S::Watch>;

    fn id(&self) -> i64 {
        self.session.id()
    }

    async fn broken(&self) -> SessionError {
        self.session.broken().await
    }

    async fn sync(&self, path: &str) -> Result<(), SessionError> {
        self.session.sync(path).await
    }

    async fn create(&self, path: &str, mode: CreateMode, data: &[u8]) -> Result<Created, SessionError> {
        self.note(|last| last.deletes = false);
        let created = self.session.create(path, mode, data).await?;
        self.note(|last| last.created = created.stat.czxid);
        Ok(created)
    }

    async fn delete(&self, path: &str) -> Result<(), SessionError> {
        self.note(|last| last.deletes = true);
        self.session.delete(path).await
    }

    async fn exists(&self, path: &str) -> Result<Option<Stat>, SessionError> {
        self.session.exists(path).await
    }

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, Self::Watch), SessionError> {
        let (found, watch) = self.session.exists_watched(path).await?;
        Ok((found, self.lying_watch(watch)))
    }

    async fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), SessionError> {
        let (data, mut stat) = self.session.data(path).await?;
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lie == Lie::AnyOwner {
            stat.ephemeral_owner = self.id();
        }
        if self.lie == Lie::StillThere && last.deletes {
            stat = Stat { czxid: last.created, ephemeral_owner: self.id() };
        }
        Ok((data, stat))
    }

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, Self::Watch), SessionError> {
        let (data, stat, watch) = self.session.data_watched(path).await?;
        Ok((data, stat, self.lying_watch(watch)))
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        self.session.set_data(path, data).await
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        self.session.children(path).await
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, Self::Watch), SessionError> {
        let (names, watch) = self.session.children_watched(path).await?;
        Ok((names, self.lying_watch(watch)))
    }
}
