//! A real session, through the crate `etcd-client`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use etcd_client as etcd;
use prost::Message;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Line, calls_for_another_server};
use super::lease::{self, Lease, Loss, Renewed};
use super::watches::{self, ClientWatch, Command};
use super::{Awaited, Found, Key, Range, Session, SessionError, Tap, Then, Txn, TxnOutcome, repeat, wire};
use crate::record::RequestKind;

/// How long revoking the lease may take when the session is closed; after that the lease expires by itself.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// A session with a real ensemble: a lease over a [`Connection`]. Clones are the same session; when the last is dropped the
/// lease is revoked in the background, and all keys under it go.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    /// Taken away when the session is abandoned, so that a connection that is nobody else's closes.
    connection: Mutex<Option<Arc<Connection>>>,
    lease: i64,
    ttl: Duration,
    renewed: Arc<Renewed>,
    loss: Arc<Loss>,
    /// Ends the tasks of the session.
    closing: CancellationToken,
    watches: mpsc::UnboundedSender<Command>,
    next_watch: AtomicI64,
    tap: Arc<dyn Tap>,
}

impl Client {
    /// Grants a lease of `ttl`, in whole seconds, and keeps it alive.
    ///
    /// # Errors
    ///
    /// [`SessionError::Lost`] when no lease was granted within `ttl`; [`SessionError::Refused`].
    pub async fn open(connection: Arc<Connection>, ttl: Duration, tap: Arc<dyn Tap>) -> Result<Client, SessionError> {
        let loss = Loss::default();
        let granting = repeat(|| async {
            let sent = Instant::now();
            let grant = |line: Arc<Line>| async move {
                line.lease.clone().grant(i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX), None).await
            };
            let response = call(&connection, &loss, &*tap, RequestKind::LeaseGrant, grant, |answer| &answer.0).await?;
            Ok((sent, response))
        });
        let (sent, granted) = match timeout(ttl, granting).await {
            Ok(granted) => granted?,
            Err(_) => return Err(SessionError::Lost(format!("no server granted one within {} s", ttl.as_secs()))),
        };
        // Never shorter than what was asked for.
        let ttl = Duration::from_secs(u64::try_from(granted.ttl()).unwrap_or(0));
        let (id, renewed) = (granted.id(), Arc::new(Renewed::at(sent)));
        let lease = Lease { id, ttl, renewed: Arc::clone(&renewed) };
        let (loss, closing) = (Arc::new(loss), CancellationToken::new());
        let (watches, commands) = mpsc::unbounded_channel();
        tokio::spawn(lease.keep(Arc::clone(&connection), Arc::clone(&loss), closing.clone(), Arc::clone(&tap)));
        tokio::spawn(watches::serve(commands, Arc::clone(&connection), closing.clone(), Arc::clone(&tap)));
        let next_watch = AtomicI64::new(1);
        let connection = Mutex::new(Some(connection));
        let shared = Shared { connection, lease: id, ttl, renewed, loss, closing, watches, next_watch, tap };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// The ttl that the servers granted: what was asked for, or their shortest if that is longer.
    pub fn ttl(&self) -> Duration {
        self.shared.ttl
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
        let Shared { loss, lease, renewed, tap, .. } = &*self.shared;
        let connection = self.connection()?;
        let line = connection.line();
        let sent = Instant::now();
        connection.access().debit();
        tokio::select! {
            biased;
            answer = lease::renew(&line, *lease, &**tap) => match answer? {
                true => renewed.confirm(sent),
                false => loss.declare(lease::EXPIRED),
            },
            error = loss.happens() => return Err(error),
            () = line.gone.cancelled() => return Err(given_up()),
        }
        loss.check()
    }

    /// Puts a value, under the session's lease.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn put(&self, key: &str, value: &[u8]) -> Result<(), SessionError> {
        let options = etcd::PutOptions::new().with_lease(self.shared.lease);
        let put = |line: Arc<Line>| async move { line.kv.clone().put(key, value, Some(options)).await };
        self.call(RequestKind::Put, put, |answer| &answer.0).await.map(|_| ())
    }

    /// Puts a value that outlives the session.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn put_lasting(&self, key: &str, value: &[u8]) -> Result<(), SessionError> {
        let put = |line: Arc<Line>| async move { line.kv.clone().put(key, value, None).await };
        self.call(RequestKind::Put, put, |answer| &answer.0).await.map(|_| ())
    }

    /// The names of all keys that begin with `prefix`, in their order.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn keys(&self, prefix: &str) -> Result<Vec<String>, SessionError> {
        let options = etcd::GetOptions::new().with_prefix().with_keys_only();
        let get = |line: Arc<Line>| async move { line.kv.clone().get(prefix, Some(options)).await };
        let answer = self.call(RequestKind::Range, get, |answer| &answer.0).await?;
        Ok(answer.kvs().iter().map(|found| String::from_utf8_lossy(found.key()).into_owned()).collect())
    }

    /// Deletes one key, which may be gone already.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn delete_key(&self, key: &str) -> Result<(), SessionError> {
        let delete = |line: Arc<Line>| async move { line.kv.clone().delete(key, None).await };
        self.call(RequestKind::DeleteRange, delete, |answer| &answer.0).await.map(|_| ())
    }

    /// Deletes all keys that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub async fn delete_all(&self, prefix: &str) -> Result<(), SessionError> {
        let options = etcd::DeleteOptions::new().with_prefix();
        let delete = |line: Arc<Line>| async move { line.kv.clone().delete(prefix, Some(options)).await };
        self.call(RequestKind::DeleteRange, delete, |answer| &answer.0).await.map(|_| ())
    }

    async fn call<T, M: Message, F>(
        &self,
        kind: RequestKind,
        operation: impl FnOnce(Arc<Line>) -> F,
        message: impl Fn(&T) -> &M,
    ) -> Result<T, SessionError>
    where
        F: Future<Output = Result<T, etcd::Error>>,
    {
        let connection = self.connection()?;
        call(&connection, &self.shared.loss, &*self.shared.tap, kind, operation, message).await
    }

    fn connection(&self) -> Result<Arc<Connection>, SessionError> {
        self.shared.loss.check()?;
        let connection = self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connection.ok_or_else(|| SessionError::Lost("it was abandoned".to_owned()))
    }
}

/// Sends one request over the connection as it is now, counts it and its answer, and gives the connection up where it does
/// not serve. Ends at once when the lease is lost or somebody else gives the connection up.
async fn call<T, M: Message, F>(
    connection: &Connection,
    loss: &Loss,
    tap: &dyn Tap,
    kind: RequestKind,
    operation: impl FnOnce(Arc<Line>) -> F,
    message: impl Fn(&T) -> &M,
) -> Result<T, SessionError>
where
    F: Future<Output = Result<T, etcd::Error>>,
{
    loss.check()?;
    connection.access().pass().await;
    loss.check()?;
    let line = connection.line();
    tap.request(kind);
    tokio::select! {
        biased;
        // In a box: the future of a request is some KB, and a worker's task would hold room for each kind that it may send.
        outcome = Box::pin(operation(Arc::clone(&line))) => match outcome {
            Ok(answer) => {
                tap.response(kind, wire::bytes(message(&answer)));
                Ok(answer)
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
        error = loss.happens() => Err(error),
        () = line.gone.cancelled() => Err(given_up()),
    }
}

fn given_up() -> SessionError {
    SessionError::Unknown("the connection was given up".to_owned())
}

impl Drop for Shared {
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
                let revoke = |line: Arc<Line>| async move { line.lease.clone().revoke(lease).await };
                call(&connection, &loss, &*tap, RequestKind::LeaseRevoke, revoke, |answer| &answer.0).await
            });
            // An error means that it is gone, or will go by itself.
            let _ = timeout(CLOSE_LIMIT, revoke).await;
        });
    }
}

/// The part of a key's state that recipes need.
fn key(found: &etcd::KeyValue) -> Key {
    Key {
        key: String::from_utf8_lossy(found.key()).into_owned(),
        create_revision: found.create_revision(),
        mod_revision: found.mod_revision(),
        lease: found.lease(),
        value: found.value().to_vec(),
    }
}

fn revision(header: Option<&etcd::ResponseHeader>) -> i64 {
    // Servers send a header with every answer.
    header.map_or(0, etcd::ResponseHeader::revision)
}

impl Session for Client {
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
        let guard = etcd::Compare::create_revision(txn.key, etcd::CompareOp::Equal, txn.create_revision);
        let mut request = etcd::Txn::new().when([guard]);
        request = match txn.then {
            Then::Put(value) => {
                let options = etcd::PutOptions::new().with_lease(self.shared.lease);
                request
                    .and_then([etcd::TxnOp::put(txn.key, value, Some(options))])
                    .or_else([etcd::TxnOp::get(txn.key, None)])
            }
            Then::PutLasting(key) => request.and_then([etcd::TxnOp::put(key, "", None)]),
            Then::Delete => request.and_then([etcd::TxnOp::delete(txn.key, None)]),
        };
        let send = |line: Arc<Line>| async move { line.kv.clone().txn(request).await };
        let answer = self.call(RequestKind::Txn, send, |answer| &answer.0).await?;
        let (succeeded, revision) = (answer.succeeded(), revision(answer.header()));
        if succeeded && txn.then == Then::Delete {
            self.shared.tap.ended(txn.create_revision, revision);
        }
        let found = answer.op_responses().into_iter().find_map(|response| match response {
            etcd::TxnOpResponse::Get(range) => range.kvs().first().map(key),
            _ => None,
        });
        Ok(TxnOutcome { succeeded, revision, found })
    }

    async fn range(&self, range: Range<'_>) -> Result<Found, SessionError> {
        let (name, options) = match range {
            Range::Key(name) => (name, etcd::GetOptions::new()),
            // A limit on the create revision of 0 would be none; the first revision of a store that holds a key is 2.
            Range::NewestBelow { prefix, own } => (
                prefix,
                etcd::GetOptions::new()
                    .with_prefix()
                    .with_max_create_revision(own - 1)
                    .with_sort(etcd::SortTarget::Create, etcd::SortOrder::Descend)
                    .with_limit(1),
            ),
            Range::Oldest { prefix, at } => (
                prefix,
                etcd::GetOptions::new()
                    .with_prefix()
                    .with_revision(at)
                    .with_sort(etcd::SortTarget::Create, etcd::SortOrder::Ascend)
                    .with_limit(1),
            ),
            Range::Count { prefix, at } => {
                (prefix, etcd::GetOptions::new().with_prefix().with_count_only().with_revision(at))
            }
        };
        let send = |line: Arc<Line>| async move { line.kv.clone().get(name, Some(options)).await };
        let answer = self.call(RequestKind::Range, send, |answer| &answer.0).await?;
        let count = u64::try_from(answer.count()).unwrap_or(0);
        Ok(Found { first: answer.kvs().first().map(key), count, revision: revision(answer.header()) })
    }

    async fn watch(&self, awaited: Awaited<'_>, from: i64) -> Result<ClientWatch, SessionError> {
        let Shared { loss, watches, next_watch, .. } = &*self.shared;
        loss.check()?;
        let id = next_watch.fetch_add(1, Ordering::Relaxed);
        ClientWatch::set(id, awaited, from, watches.clone(), Arc::clone(loss)).await
    }
}
