//! A real session, through the crate `etcd-client`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, calls_for_another_server};
use super::lease::{self, Deadline, Lease, Loss};
use super::line::{Answer, Carrier, Line, LineError};
use super::watches::{self, ClientWatch, Command};
use super::{Awaited, Found, Range, Session, SessionError, Tap, Then, Txn, TxnOutcome, repeat};
use crate::record::RequestKind;

/// How long revoking the lease may take when the session is closed; after that the lease expires by itself.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// A session with a real ensemble: a lease over a [`Connection`]. Clones are the same session; when the last is dropped the
/// lease is revoked in the background, and all keys under it go.
pub struct Client<C: Carrier = Connection> {
    shared: Arc<Shared<C>>,
}

impl<C: Carrier> Clone for Client<C> {
    fn clone(&self) -> Self {
        Client { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<C: Carrier> {
    /// Taken away when the session is abandoned, so that a connection that is nobody else's closes.
    connection: Mutex<Option<Arc<C>>>,
    lease: i64,
    ttl: Duration,
    deadline: Deadline,
    loss: Arc<Loss>,
    /// Ends the tasks of the session.
    closing: CancellationToken,
    watches: mpsc::UnboundedSender<Command>,
    next_watch: AtomicI64,
    tap: Arc<dyn Tap>,
}

impl<C: Carrier> Client<C> {
    /// Grants a lease of `ttl`, in whole seconds, and keeps it alive.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] when no lease was granted within `ttl`; [`SessionError::Refused`].
    pub async fn open(connection: Arc<C>, ttl: Duration, tap: Arc<dyn Tap>) -> Result<Self, SessionError> {
        let loss = Loss::default();
        let granting = repeat(|| async {
            let sent = Instant::now();
            let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
            let grant = |line: Arc<C::Line>| async move { line.grant(seconds).await };
            Ok((sent, call(&*connection, &loss, &*tap, RequestKind::LeaseGrant, grant).await?))
        });
        let (sent, (id, seconds)) = match timeout(ttl, granting).await {
            Ok(granted) => granted?,
            Err(_) => return Err(SessionError::Lost(format!("no server granted one within {} s", ttl.as_secs()))),
        };
        // Never shorter than what was asked for.
        let ttl = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        let deadline = Deadline::new(sent, ttl);
        let lease = Lease { id, ttl, deadline: deadline.clone() };
        let (loss, closing) = (Arc::new(Loss::by(deadline.clone())), CancellationToken::new());
        let (watches, commands) = mpsc::unbounded_channel();
        connection.host(lease.keep(Arc::clone(&connection), Arc::clone(&loss), closing.clone(), Arc::clone(&tap)));
        connection.host(watches::serve(commands, Arc::clone(&connection), closing.clone(), Arc::clone(&tap)));
        let next_watch = AtomicI64::new(1);
        let connection = Mutex::new(Some(connection));
        let shared = Shared { connection, lease: id, ttl, deadline, loss, closing, watches, next_watch, tap };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// The ttl that the servers granted: what was asked for, or their shortest if that is longer.
    pub fn ttl(&self) -> Duration {
        self.shared.ttl
    }

    /// Until when the session counts on its lease; does not keep it open.
    pub fn deadline(&self) -> Deadline {
        self.shared.deadline.clone()
    }

    /// Ends the session as a crash of its process does: over at once for whoever holds a clone, and nothing more is sent. The
    /// lease is not revoked and runs out by itself, its keys with it. The tasks of the session end, and with them the
    /// connection, unless others share it.
    pub fn abandon(&self) {
        self.shared.loss.declare("it was abandoned");
        self.shared.closing.cancel();
        self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Renews the lease now, beside the renewals that are sent in any case, so that its time counts from here.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`]; [`SessionError::Unknown`] when no answer came: the lease's time may count from before.
    pub async fn sign_of_life(&self) -> Result<(), SessionError> {
        let Shared { loss, lease, deadline, tap, .. } = &*self.shared;
        let connection = self.connection()?;
        let line = connection.line();
        let sent = Instant::now();
        connection.access().debit();
        tokio::select! {
            biased;
            error = loss.happens() => return Err(error),
            answer = lease::renew(&*line, *lease, &**tap) => match answer? {
                true => deadline.confirm(sent),
                false => loss.declare(lease::EXPIRED),
            },
            () = line.gone().cancelled() => return Err(given_up()),
        }
        loss.check()
    }

    /// Puts a value, under the session's lease.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn put(&self, key: &str, value: &[u8]) -> Result<(), SessionError> {
        let lease = self.shared.lease;
        self.call(RequestKind::Put, |line| async move { line.put(key, value, lease).await }).await
    }

    /// Deletes all keys that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn delete_all(&self, prefix: &str) -> Result<(), SessionError> {
        self.call(RequestKind::DeleteRange, |line| async move { line.delete_all(prefix).await }).await
    }

    async fn call<T, F>(&self, kind: RequestKind, operation: impl FnOnce(Arc<C::Line>) -> F) -> Result<T, SessionError>
    where
        F: Future<Output = Result<Answer<T>, LineError>>,
    {
        let connection = self.connection()?;
        call(&*connection, &self.shared.loss, &*self.shared.tap, kind, operation).await
    }

    fn connection(&self) -> Result<Arc<C>, SessionError> {
        self.shared.loss.check()?;
        let connection = self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connection.ok_or_else(|| SessionError::Lost("it was abandoned".to_owned()))
    }
}

impl Client {
    /// Puts a value that outlives the session.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn put_lasting(&self, key: &str, value: &[u8]) -> Result<(), SessionError> {
        self.call(RequestKind::Put, |line| async move { line.put_lasting(key, value).await }).await
    }

    /// The names of all keys that begin with `prefix`, in their order.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn keys(&self, prefix: &str) -> Result<Vec<String>, SessionError> {
        self.call(RequestKind::Range, |line| async move { line.keys(prefix).await }).await
    }

    /// Deletes one key, which may be gone already.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn delete_key(&self, key: &str) -> Result<(), SessionError> {
        self.call(RequestKind::DeleteRange, |line| async move { line.delete_key(key).await }).await
    }
}

/// Sends one request over the connection as it is now, counts it and its answer, and gives the connection up where it does
/// not serve. Ends at once when the lease is lost or somebody else gives the connection up.
async fn call<C: Carrier, T, F>(
    connection: &C,
    loss: &Loss,
    tap: &dyn Tap,
    kind: RequestKind,
    operation: impl FnOnce(Arc<C::Line>) -> F,
) -> Result<T, SessionError>
where
    F: Future<Output = Result<Answer<T>, LineError>>,
{
    loss.check()?;
    connection.access().pass().await;
    loss.check()?;
    let line = connection.line();
    tap.request(kind);
    tokio::select! {
        // The loss first, so that a process that wakes from standing still sends nothing once its lease is over: a key that has
        // no lease of its own would stand for ever.
        biased;
        error = loss.happens() => Err(error),
        // In a box: the future of a request is some KB, and a worker's task would hold room for each kind that it may send.
        outcome = Box::pin(operation(Arc::clone(&line))) => match outcome {
            Ok(answer) => {
                tap.response(kind, answer.bytes);
                Ok(answer.told)
            }
            Err(error) => {
                if calls_for_another_server(&error) {
                    connection.give_up(&line).await;
                }
                let error = SessionError::from(error);
                if let SessionError::Lost(why) = &error {
                    loss.declare(why);
                }
                Err(error)
            }
        },
        () = line.gone().cancelled() => Err(given_up()),
    }
}

fn given_up() -> SessionError {
    SessionError::Unknown("the connection was given up".to_owned())
}

impl<C: Carrier> Drop for Shared<C> {
    fn drop(&mut self) {
        self.closing.cancel();
        // Not on a runtime any more, or lost already: nothing to revoke, or nobody to do it. The lease runs out by itself.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.loss.check().is_err() {
            return;
        }
        let Some(connection) = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (tap, lease) = (Arc::clone(&self.tap), self.lease);
        runtime.spawn(async move {
            let loss = Loss::default();
            let revoke = repeat(|| async {
                let revoke = |line: Arc<C::Line>| async move { line.revoke(lease).await };
                call(&*connection, &loss, &*tap, RequestKind::LeaseRevoke, revoke).await
            });
            // An error means that it is gone, or will go by itself.
            let _ = timeout(CLOSE_LIMIT, revoke).await;
        });
    }
}

impl<C: Carrier> Session for Client<C> {
    type Watch = ClientWatch;

    fn lease(&self) -> i64 {
        self.shared.lease
    }

    fn check(&self) -> Result<(), SessionError> {
        self.shared.loss.check()
    }

    async fn over(&self) -> SessionError {
        self.shared.loss.happens().await
    }

    async fn txn(&self, txn: Txn<'_>) -> Result<TxnOutcome, SessionError> {
        let lease = self.shared.lease;
        let outcome = self.call(RequestKind::Txn, |line| async move { line.txn(txn, lease).await }).await?;
        if outcome.succeeded && txn.then == Then::Delete {
            self.shared.tap.ended(txn.create_revision, outcome.revision);
        }
        Ok(outcome)
    }

    async fn range(&self, range: Range<'_>) -> Result<Found, SessionError> {
        self.call(RequestKind::Range, |line| async move { line.range(range).await }).await
    }

    async fn watch(&self, awaited: Awaited<'_>, from: i64) -> Result<ClientWatch, SessionError> {
        let Shared { loss, watches, next_watch, .. } = &*self.shared;
        loss.check()?;
        let id = next_watch.fetch_add(1, Ordering::Relaxed);
        ClientWatch::set(id, awaited, from, watches.clone(), Arc::clone(loss)).await
    }
}
