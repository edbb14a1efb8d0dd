//! All watches of a session on one stream, and made again where the stream breaks.
//!
//! A stream for each watch would cost the server 18 KB and 21 KB here; watches on one stream cost next to nothing, and
//! etcd's own client does the same. Watches are numbered by the session.
//!
//! A watch asks for what it waits for alone (the rest is filtered at the server) and fires once; the task that reads the
//! stream takes it back at once. Until the server has confirmed that, further events may arrive: with the naive lock, the
//! deletions of releases that come quickly. They are notifications and are counted, as late ones.
//!
//! After a broken stream every watch that has not fired is set again from the revision that it began with: it has seen no
//! event, so that is its last revision + 1, and what happened meanwhile is delivered out of the history.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connection::calls_for_another_server;
use super::lease::Loss;
use super::line::{Carrier, Happened, Heard, Line, LineError, News, Stream, Wanted};
use super::{Awaited, FIRST_PAUSE, LONGEST_PAUSE, SessionError, Tap, Watch};
use crate::access::Access;
use crate::record::RequestKind;

/// What the session asks of the task.
pub(super) enum Command {
    /// Sets a watch.
    Set(i64, Box<Watching>),
    /// Takes one back.
    TakeBack(i64),
}

/// A watch as the task knows it.
pub(super) struct Watching {
    /// Or what the keys begin with.
    key: String,
    /// The create revision of the key's instance; `None` where any key with a prefix is watched.
    instance: Option<i64>,
    /// Whether events are wanted that put a value.
    puts: bool,
    from: i64,
    stage: Stage,
    /// Told when the watch stands; taken then.
    stands: Option<oneshot::Sender<Result<(), SessionError>>>,
    /// Told when it fires; taken then.
    fires: Option<oneshot::Sender<Fired>>,
}

/// The revision at which a watch fired, or why it cannot.
type Fired = Result<i64, SessionError>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It was asked for.
    Asked,
    /// It stands on the server.
    Stands,
    /// It has fired or was taken back: the server is told so, and has not confirmed it yet.
    Over,
}

/// A watch of a real session. Dropping it takes the watch back.
pub struct ClientWatch {
    id: i64,
    fires: oneshot::Receiver<Fired>,
    commands: mpsc::UnboundedSender<Command>,
    loss: Arc<Loss>,
}

impl ClientWatch {
    /// Sets a watch and waits until it stands.
    pub(super) async fn set(
        id: i64,
        awaited: Awaited<'_>,
        from: i64,
        commands: mpsc::UnboundedSender<Command>,
        loss: Arc<Loss>,
    ) -> Result<ClientWatch, SessionError> {
        let (tell_stands, stands) = oneshot::channel();
        let (tell_fires, fires) = oneshot::channel();
        let (key, instance, puts) = match awaited {
            Awaited::Deletion { key, instance } => (key, Some(instance), false),
            Awaited::Change { key, instance } => (key, Some(instance), true),
            Awaited::Put { prefix } => (prefix, None, true),
            Awaited::AnyDeletion { prefix } => (prefix, None, false),
        };
        let watching = Watching {
            key: key.to_owned(),
            instance,
            puts,
            from,
            stage: Stage::Asked,
            stands: Some(tell_stands),
            fires: Some(tell_fires),
        };
        // From here on dropping takes it back, also where it does not stand yet. The task ends with the session alone.
        let _ = commands.send(Command::Set(id, Box::new(watching)));
        let watch = ClientWatch { id, fires, commands, loss };
        tokio::select! {
            biased;
            stands = stands => told(stands)?,
            error = watch.loss.happens() => return Err(error),
        }
        Ok(watch)
    }
}

impl Watch for ClientWatch {
    async fn fired(mut self) -> Result<i64, SessionError> {
        let loss = Arc::clone(&self.loss);
        tokio::select! {
            biased;
            // Even where an event has arrived in the same moment: a waiter without a lease is none.
            error = loss.happens() => Err(error),
            fires = &mut self.fires => told(fires),
        }
    }
}

fn told<T>(told: Result<Result<T, SessionError>, oneshot::error::RecvError>) -> Result<T, SessionError> {
    // The task is gone: the session was closed.
    told.unwrap_or_else(|_| Err(SessionError::Lost("the session was closed".to_owned())))
}

impl Drop for ClientWatch {
    fn drop(&mut self) {
        // One that has fired is over already, and the task knows.
        let _ = self.commands.send(Command::TakeBack(self.id));
    }
}

/// Serves the watches of one session until `closing`.
pub(super) async fn serve<C: Carrier>(
    commands: mpsc::UnboundedReceiver<Command>,
    connection: Arc<C>,
    closing: CancellationToken,
    tap: Arc<dyn Tap>,
) {
    let mut watches = Watches { commands, watching: BTreeMap::new(), denied: false, tap };
    tokio::select! {
        // First, so that nothing is sent for a session that is over.
        biased;
        () = closing.cancelled() => {}
        () = watches.serve(&*connection) => {}
    }
}

/// Whether the servers refuse a watch because of who asks.
fn is_denial(reason: &str) -> bool {
    reason.contains("permission denied") || reason.contains("auth token") || reason.contains("user name is empty")
}

fn is_denied(error: &etcd_client::Error) -> bool {
    matches!(error, etcd_client::Error::GRpcStatus(status) if status.code() == tonic::Code::Unauthenticated)
}

struct Watches {
    commands: mpsc::UnboundedReceiver<Command>,
    watching: BTreeMap<i64, Watching>,
    /// Whether the last stream ended because its token was no good; the next one has a new token.
    denied: bool,
    tap: Arc<dyn Tap>,
}

impl Watches {
    async fn serve<C: Carrier>(&mut self, connection: &C) {
        let mut pause = FIRST_PAUSE;
        loop {
            // A stream begins with a watch, so none is opened for a session that watches nothing.
            while self.watching.is_empty() {
                match self.commands.recv().await {
                    Some(command) => self.note(command),
                    None => return,
                };
            }
            let line = connection.line();
            let token = connection.access().login.as_ref().map_or(0, |login| login.number());
            let outcome = tokio::select! {
                biased;
                () = line.gone().cancelled() => Ok(()),
                outcome = self.stream(connection.access(), &*line, &mut pause) => outcome,
            };
            match outcome {
                Err(error) if is_denied(&error) => self.deny(connection.access(), token, &error),
                Err(error) if calls_for_another_server(&error) => connection.give_up(&line).await,
                _ => {}
            }
            // Those that are over went with the stream.
            self.watching.retain(|_, watching| watching.stage != Stage::Over);
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Opens a stream, sets all watches on it, and serves it until it breaks or the session ends.
    async fn stream<L: Line>(
        &mut self,
        access: &Access,
        line: &L,
        pause: &mut std::time::Duration,
    ) -> Result<(), LineError> {
        let mut all = self.watching.iter().map(|(id, watching)| watching.wanted(*id));
        let Some(first) = all.next() else { return Ok(()) };
        access.pass().await;
        self.tap.request(RequestKind::WatchCreate);
        let mut stream = line.watch(first).await?;
        for wanted in all {
            access.pass().await;
            self.tap.request(RequestKind::WatchCreate);
            stream.set(wanted).await?;
        }
        loop {
            tokio::select! {
                biased;
                heard = stream.heard() => match heard? {
                    Some(heard) => {
                        *pause = FIRST_PAUSE;
                        self.hear(&heard, &mut stream, access).await?;
                    }
                    None => return Ok(()),
                },
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command, &mut stream, access).await?,
                    // The session is gone; `serve` ends by its token.
                    None => std::future::pending().await,
                },
            }
        }
    }

    /// Keeps a command in mind; returns the watch that is to be set, or taken back, on a stream.
    fn note(&mut self, command: Command) -> Option<(i64, bool)> {
        match command {
            Command::Set(id, watching) => {
                self.watching.insert(id, *watching);
                Some((id, true))
            }
            Command::TakeBack(id) => {
                let watching = self.watching.get_mut(&id)?;
                if watching.stage == Stage::Over {
                    return None;
                }
                if watching.stage == Stage::Stands {
                    watching.disarmed(self.tap.as_ref());
                }
                watching.stage = Stage::Over;
                Some((id, false))
            }
        }
    }

    async fn obey(&mut self, command: Command, stream: &mut impl Stream, access: &Access) -> Result<(), LineError> {
        match self.note(command) {
            Some((id, true)) => {
                access.pass().await;
                let watching = &self.watching[&id];
                self.tap.request(RequestKind::WatchCreate);
                stream.set(watching.wanted(id)).await
            }
            Some((id, false)) => self.cancel(id, stream, access).await,
            None => Ok(()),
        }
    }

    async fn cancel(&self, id: i64, stream: &mut impl Stream, access: &Access) -> Result<(), LineError> {
        // At once: until it is sent, further events may come. The next requests wait for it.
        access.debit();
        self.tap.request(RequestKind::WatchCancel);
        stream.cancel(id).await
    }

    async fn hear(&mut self, heard: &Heard, stream: &mut impl Stream, access: &Access) -> Result<(), LineError> {
        let id = heard.id;
        if let News::Over { reason, .. } = &heard.news
            && access.login.is_some()
            && is_denial(reason)
        {
            // Not told which watch it is about (the id is -1), and a stream's token cannot be changed.
            return Err(tonic::Status::unauthenticated(reason.as_str()).into());
        }
        if let News::Over { reason, compacted } = &heard.news {
            self.tap.response(RequestKind::WatchCancel, heard.bytes);
            if let Some(mut watching) = self.watching.remove(&id) {
                watching.refused(reason, *compacted, self.tap.as_ref());
            }
            return Ok(());
        }
        let Some(watching) = self.watching.get_mut(&id) else { return Ok(()) };
        if heard.news == News::Stands {
            self.tap.response(RequestKind::WatchCreate, heard.bytes);
            self.denied = false;
            if watching.stage == Stage::Asked {
                watching.stage = Stage::Stands;
                if let Some(instance) = watching.instance {
                    self.tap.armed(instance);
                }
                if let Some(stands) = watching.stands.take() {
                    // Nobody waits any more: it is being taken back.
                    let _ = stands.send(Ok(()));
                }
            }
        }
        let mut fired = false;
        for event in &heard.events {
            let first = watching.stage == Stage::Stands;
            watching.count(event, first, self.tap.as_ref());
            if first {
                watching.stage = Stage::Over;
                fired = true;
                if let Some(fires) = watching.fires.take() {
                    let _ = fires.send(Ok(event.revision));
                }
            }
        }
        if fired { self.cancel(id, stream, access).await } else { Ok(()) }
    }

    /// The servers did not take a watch. That may be the token's fault, whose time is over when it is not used; with a new one
    /// it is their word. `token`: the number of the token when the stream was about to be opened.
    fn deny(&mut self, access: &Access, token: u64, error: &LineError) {
        if let Some(login) = &access.login {
            if login.number() != token {
                // Another session has got one since, or the stream's was got for it: the next stream says more.
                return;
            }
            if !self.denied {
                self.denied = true;
                return login.drop_token(token);
            }
        }
        self.denied = false;
        let tap = Arc::clone(&self.tap);
        for watching in self.watching.values_mut().filter(|watching| watching.stage == Stage::Asked) {
            watching.refuse(SessionError::Refused(error.to_string()), &*tap);
            watching.stage = Stage::Over;
        }
    }
}

impl Watching {
    fn wanted(&self, id: i64) -> Wanted<'_> {
        let prefix = self.instance.is_none();
        // Of an instance that may change, its deletion is wanted as well.
        Wanted { id, key: &self.key, prefix, puts: self.puts, deletions: !prefix || !self.puts, from: self.from }
    }

    /// Counts a notification; `first`: the one that the watch fires with.
    fn count(&self, event: &Happened, first: bool, tap: &dyn Tap) {
        match (event.deleted, self.instance) {
            (true, Some(instance)) if first => tap.notified(instance, event.revision),
            // Whose deletion it was is known by its revision, where a session has told of it.
            (true, _) => tap.notified_late(event.revision),
            (false, _) => {
                // It stands no longer, and no instance has ended.
                if first {
                    self.disarmed(tap);
                }
                tap.notified_put(event.create_revision == event.revision);
            }
        }
    }

    fn disarmed(&self, tap: &dyn Tap) {
        if let Some(instance) = self.instance {
            tap.disarmed(instance);
        }
    }

    /// The server ended it: because it was asked to, or because it cannot serve it.
    fn refused(&mut self, reason: &str, compacted: i64, tap: &dyn Tap) {
        let error = match compacted {
            0 => SessionError::Refused(reason.to_owned()),
            compacted => SessionError::Unknown(format!("the history up to {compacted} was compacted away")),
        };
        self.refuse(error, tap);
    }

    fn refuse(&mut self, error: SessionError, tap: &dyn Tap) {
        if self.stage == Stage::Stands {
            self.disarmed(tap);
        }
        if let Some(stands) = self.stands.take() {
            let _ = stands.send(Err(error.clone()));
        }
        if let Some(fires) = self.fires.take() {
            let _ = fires.send(Err(error));
        }
    }
}
