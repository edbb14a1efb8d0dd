//! A session as a recipe sees it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::client::{Answer, Request, View};
use super::world::World;
use crate::record::EventKind;
use crate::zookeeper::session::{CreateMode, Created, Session, SessionError, Stat, Watch};

/// A session with an [`Ensemble`](super::Ensemble) in memory.
#[derive(Clone)]
pub struct MemorySession {
    handle: Arc<Handle>,
}

/// Closes the session when the last clone of it is gone.
struct Handle {
    world: Arc<Mutex<World>>,
    session: i64,
}

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Handle {
    fn drop(&mut self) {
        lock(&self.world).close(self.session);
    }
}

/// A watch that stands, or is being waited for to do so. Dropped before it has fired, it is taken back.
struct Standing {
    world: Arc<Mutex<World>>,
    session: i64,
    xid: u64,
    armed: bool,
}

impl Drop for Standing {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let mut world = lock(&self.world);
        if let Some(dangling) = world.member(self.session).client.take_back(self.xid) {
            world.send_take_back(self.session, dangling);
        }
    }
}

/// A watch of a session in memory.
pub struct MemoryWatch {
    fired: oneshot::Receiver<Result<EventKind, SessionError>>,
    standing: Standing,
}

impl Watch for MemoryWatch {
    async fn fired(mut self) -> Result<EventKind, SessionError> {
        let outcome = (&mut self.fired).await;
        self.standing.armed = false;
        // A client that stands still receives nothing, but this one may have received it just before.
        let late = {
            let mut world = lock(&self.standing.world);
            let weather = world.settings.weather.clone();
            if world.is_rough() && world.dice.happens(weather.late_wakers) {
                world.dice.delay(weather.late_by)
            } else {
                std::time::Duration::ZERO
            }
        };
        if !late.is_zero() {
            sleep(late).await;
        }
        outcome.unwrap_or_else(|_| Err(SessionError::Lost("the ensemble is gone".to_owned())))
    }
}

impl MemorySession {
    pub(super) fn new(world: Arc<Mutex<World>>, session: i64) -> Self {
        MemorySession { handle: Arc::new(Handle { world, session }) }
    }

    async fn ask(&self, request: Request) -> Result<Answer, SessionError> {
        self.ask_watched(request).await.map(|(answer, _)| answer)
    }

    /// The answer, and the watch if one was set.
    async fn ask_watched(&self, request: Request) -> Result<(Answer, Option<MemoryWatch>), SessionError> {
        let Handle { world, session } = &*self.handle;
        let armed = request.watches().is_some();
        let (xid, reply) = lock(world).send(*session, request)?;
        let standing = Standing { world: Arc::clone(world), session: *session, xid, armed };
        let outcome = reply.await;
        let answer = outcome.unwrap_or_else(|_| Err(SessionError::Lost("the ensemble is gone".to_owned())))?;
        let set = lock(world).member(*session).client.take_set(xid);
        Ok((answer, set.map(|fired| MemoryWatch { fired, standing })))
    }
}

/// An answer that does not fit the request: a fault of the ensemble in memory.
fn unfit<T>(answer: &Answer) -> Result<T, SessionError> {
    Err(SessionError::Refused(format!("the ensemble in memory answered {answer:?}")))
}

fn watch(watch: Option<MemoryWatch>) -> Result<MemoryWatch, SessionError> {
    watch.ok_or_else(|| SessionError::Lost("the session ended with the answer".to_owned()))
}

impl Session for MemorySession {
    type Watch = MemoryWatch;

    fn id(&self) -> i64 {
        self.handle.session
    }

    async fn broken(&self) -> SessionError {
        let Handle { world, session } = &*self.handle;
        let viewed = Arc::clone(&lock(world).member(*session).client.viewed);
        loop {
            // It counts from here on, before the look.
            let changed = viewed.notified();
            match &lock(world).member(*session).client.view {
                View::Over(why) => return SessionError::Lost(why.clone()),
                View::Down => return SessionError::Unknown("the connection is lost".to_owned()),
                View::Up => {}
            }
            changed.await;
        }
    }

    async fn sync(&self, _: &str) -> Result<(), SessionError> {
        self.ask(Request::Sync).await.map(drop)
    }

    async fn create(&self, path: &str, mode: CreateMode, data: &[u8]) -> Result<Created, SessionError> {
        match self.ask(Request::Create { path: path.into(), mode, data: data.into() }).await? {
            Answer::Created(created) => Ok(created),
            other => unfit(&other),
        }
    }

    async fn delete(&self, path: &str) -> Result<(), SessionError> {
        self.ask(Request::Delete { path: path.into() }).await.map(drop)
    }

    async fn exists(&self, path: &str) -> Result<Option<Stat>, SessionError> {
        match self.ask(Request::Exists { path: path.into(), watch: false }).await? {
            Answer::Stat(stat) => Ok(stat),
            other => unfit(&other),
        }
    }

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, MemoryWatch), SessionError> {
        match self.ask_watched(Request::Exists { path: path.into(), watch: true }).await? {
            (Answer::Stat(stat), set) => Ok((stat, watch(set)?)),
            (other, _) => unfit(&other),
        }
    }

    async fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), SessionError> {
        match self.ask(Request::Data { path: path.into(), watch: false }).await? {
            Answer::Data(data, stat) => Ok((data, stat)),
            other => unfit(&other),
        }
    }

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, MemoryWatch), SessionError> {
        match self.ask_watched(Request::Data { path: path.into(), watch: true }).await? {
            (Answer::Data(data, stat), set) => Ok((data, stat, watch(set)?)),
            (other, _) => unfit(&other),
        }
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        self.ask(Request::SetData { path: path.into(), data: data.into() }).await.map(drop)
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        match self.ask(Request::Children { path: path.into(), watch: false }).await? {
            Answer::Children(names) => Ok(names),
            other => unfit(&other),
        }
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, MemoryWatch), SessionError> {
        match self.ask_watched(Request::Children { path: path.into(), watch: true }).await? {
            (Answer::Children(names), set) => Ok((names, watch(set)?)),
            (other, _) => unfit(&other),
        }
    }
}
