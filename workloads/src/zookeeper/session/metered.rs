//! A session that counts: every request by kind, every response's bytes, every notification by the instance watched.

use std::sync::Arc;

use super::{CreateMode, Created, Session, SessionError, Stat, Watch, wire};
use crate::access::Throttle;
use crate::record::{EventKind, Recorder, RequestKind};

/// Wraps a session and writes all that goes through it to a [`Recorder`].
#[derive(Clone)]
pub struct Metered<S> {
    session: S,
    recorder: Arc<Recorder>,
    /// Asked before a request is counted, so that it is counted when it is sent.
    throttle: Option<Arc<Throttle>>,
}

impl<S: Session> Metered<S> {
    /// Counts on `recorder` what goes through `session`.
    pub fn new(session: S, recorder: Arc<Recorder>) -> Self {
        Metered { session, recorder, throttle: None }
    }

    /// The same under a ceiling. The session within is to have none.
    pub fn under(self, throttle: Option<Arc<Throttle>>) -> Self {
        Metered { throttle, ..self }
    }

    /// The session that is counted.
    pub fn inner(&self) -> &S {
        &self.session
    }

    /// Counts one request and its response. `bytes` tells the size of a success; an error is a bare header, unless no
    /// answer came at all.
    async fn count<T>(
        &self,
        kind: RequestKind,
        operation: impl Future<Output = Result<T, SessionError>> + Send,
        bytes: impl Fn(&T) -> u64,
    ) -> Result<T, SessionError> {
        if let Some(throttle) = &self.throttle {
            throttle.pass().await;
        }
        self.recorder.request(kind);
        let outcome = operation.await;
        match &outcome {
            Ok(answer) => self.recorder.response(kind, bytes(answer)),
            Err(SessionError::Lost(_) | SessionError::Unknown(_)) => {}
            Err(_) => self.recorder.response(kind, wire::HEADER),
        }
        outcome
    }

    fn watch(&self, watch: S::Watch, instance: Option<i64>) -> MeteredWatch<S::Watch> {
        if let Some(token) = instance {
            self.recorder.armed(token);
        }
        MeteredWatch {
            watch: Some(watch),
            meter: WatchMeter {
                recorder: Arc::clone(&self.recorder),
                throttle: self.throttle.clone(),
                instance,
                standing: true,
            },
        }
    }
}

/// A watch that counts its notification.
pub struct MeteredWatch<W> {
    /// Taken when it is awaited.
    watch: Option<W>,
    meter: WatchMeter,
}

/// What the counting needs to know of a watch. Dropping it while the watch stands means that the watch was taken back.
struct WatchMeter {
    recorder: Arc<Recorder>,
    throttle: Option<Arc<Throttle>>,
    /// The znode instance watched; `None` where the watch stands on no particular instance.
    instance: Option<i64>,
    standing: bool,
}

impl Drop for WatchMeter {
    fn drop(&mut self) {
        if !self.standing {
            return;
        }
        // The client library sends a request when it drops a watch that stands. It does not wait for the answer, whose
        // 20 bytes are therefore not counted.
        if let Some(throttle) = &self.throttle {
            throttle.debit();
        }
        self.recorder.request(RequestKind::RemoveWatches);
        if let Some(token) = self.instance {
            self.recorder.disarmed(token);
        }
    }
}

impl<W: Watch> Watch for MeteredWatch<W> {
    async fn fired(mut self) -> Result<EventKind, SessionError> {
        let Some(watch) = self.watch.take() else {
            // Only this method takes it, and it consumes the watch.
            return Err(SessionError::Refused("the watch was awaited twice".to_owned()));
        };
        let outcome = watch.fired().await;
        // It fired, or the session is over: either way there is nothing left to take back.
        self.meter.standing = false;
        match (&outcome, self.meter.instance) {
            (Ok(kind), instance) => self.meter.recorder.notification(*kind, instance),
            (Err(_), Some(token)) => self.meter.recorder.disarmed(token),
            (Err(_), None) => {}
        }
        outcome
    }
}

impl<S: Session> Session for Metered<S> {
    type Watch = MeteredWatch<S::Watch>;

    fn id(&self) -> i64 {
        self.session.id()
    }

    async fn broken(&self) -> SessionError {
        self.session.broken().await
    }

    async fn sync(&self, path: &str) -> Result<(), SessionError> {
        self.count(RequestKind::Sync, self.session.sync(path), |()| wire::synced(path)).await
    }

    async fn create(&self, path: &str, mode: CreateMode, data: &[u8]) -> Result<Created, SessionError> {
        let operation = self.session.create(path, mode, data);
        self.count(RequestKind::Create, operation, |created| wire::created(&created.path)).await
    }

    async fn delete(&self, path: &str) -> Result<(), SessionError> {
        self.count(RequestKind::Delete, self.session.delete(path), |()| wire::HEADER).await
    }

    async fn exists(&self, path: &str) -> Result<Option<Stat>, SessionError> {
        let bytes = |stat: &Option<Stat>| if stat.is_some() { wire::stat() } else { wire::HEADER };
        self.count(RequestKind::Exists, self.session.exists(path), bytes).await
    }

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, Self::Watch), SessionError> {
        let operation = self.session.exists_watched(path);
        let (stat, watch) = self
            .count(RequestKind::Exists, operation, |(stat, _)| if stat.is_some() { wire::stat() } else { wire::HEADER })
            .await?;
        Ok((stat, self.watch(watch, stat.map(|stat| stat.czxid))))
    }

    async fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), SessionError> {
        self.count(RequestKind::GetData, self.session.data(path), |(data, _)| wire::data(data)).await
    }

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, Self::Watch), SessionError> {
        let operation = self.session.data_watched(path);
        let (data, stat, watch) = self.count(RequestKind::GetData, operation, |(data, _, _)| wire::data(data)).await?;
        Ok((data, stat, self.watch(watch, Some(stat.czxid))))
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        self.count(RequestKind::SetData, self.session.set_data(path, data), |()| wire::stat()).await
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        self.count(RequestKind::GetChildren, self.session.children(path), |names| wire::children(names)).await
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, Self::Watch), SessionError> {
        let operation = self.session.children_watched(path);
        let (names, watch) =
            self.count(RequestKind::GetChildren, operation, |(names, _)| wire::children(names)).await?;
        Ok((names, self.watch(watch, None)))
    }
}
