//! A session that lies about who owns a znode, where the recipe asks; all else is as it is.
use std::sync::{Arc, Mutex, PoisonError};

use workloads::zookeeper::session::{CreateMode, Created, Session, SessionError, Stat};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Nothing but the truth: a control.
    None,
    /// Whatever stands under the name is one's own.
    AnyOwner,
    /// After a delete, whatever stands under the name is what was to be deleted.
    StillThere,
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// The czxid of what was created last.
    created: i64,
    /// A delete came after it.
    deletes: bool,
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
}

impl<S: Session> Session for Lying<S> {
    type Watch = S::Watch;

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

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, S::Watch), SessionError> {
        self.session.exists_watched(path).await
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

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, S::Watch), SessionError> {
        self.session.data_watched(path).await
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        self.session.set_data(path, data).await
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        self.session.children(path).await
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, S::Watch), SessionError> {
        self.session.children_watched(path).await
    }
}
