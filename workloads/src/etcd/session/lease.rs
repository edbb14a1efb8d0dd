//! The lease of a session: kept alive by a task, its ttl checked, and given up before the servers do.
//!
//! A renewal is sent every third of the ttl, on a stream that is closed with its answer: a stream that is kept open holds
//! 16 KB of buffers for one message in many seconds, a fifth of all that a worker needs. (Its answer is read by the client
//! library, so that its bytes are not counted; the upkeep is in no sum.) After an expiry the servers go on to answer keep-alives, with a ttl of 0, so
//! the ttl is what counts. Where no renewal is confirmed the session waits no longer than the ttl since the last confirmed
//! one *was sent*: the servers count from a later moment, so the worker gives up first.
//!
//! Whoever asks looks at the clock as well, and not only at what the task has found out: a process that has stood still over
//! the deadline may go on with any of its tasks first.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::line::{Carrier, Line, LineError};
use super::{FIRST_PAUSE, SessionError, Tap};
use crate::record::RequestKind;

/// That the lease is over, and why.
#[derive(Default)]
pub(super) struct Loss {
    why: OnceLock<String>,
    over: CancellationToken,
    /// `None`: there is no lease yet, or it does not matter any more.
    deadline: Option<Deadline>,
}

impl Loss {
    /// That of a lease with this deadline.
    pub fn by(deadline: Deadline) -> Self {
        Loss { deadline: Some(deadline), ..Loss::default() }
    }

    /// Says so. The first reason counts.
    pub fn declare(&self, why: &str) {
        let _ = self.why.set(why.to_owned());
        self.over.cancel();
    }

    /// Waits for it.
    pub async fn happens(&self) -> SessionError {
        let mut over = pin!(self.over.cancelled());
        poll_fn(|context| {
            self.look_at_the_clock();
            over.as_mut().poll(context)
        })
        .await;
        self.error()
    }

    /// Whether it has happened.
    pub fn check(&self) -> Result<(), SessionError> {
        self.look_at_the_clock();
        if self.over.is_cancelled() { Err(self.error()) } else { Ok(()) }
    }

    fn look_at_the_clock(&self) {
        if self.deadline.as_ref().is_some_and(|deadline| deadline.moment() <= Instant::now()) {
            self.declare(UNCONFIRMED);
        }
    }

    fn error(&self) -> SessionError {
        SessionError::Lost(self.why.get().cloned().unwrap_or_default())
    }
}

/// Until when a session counts on its lease: its ttl after the last renewal that was confirmed, or the grant, was *sent*.
/// Clones are of the same lease.
#[derive(Clone, Debug)]
pub struct Deadline {
    renewed: Arc<Mutex<Instant>>,
    ttl: Duration,
}

impl Deadline {
    /// That of a lease of `ttl`, whose grant was sent then.
    pub(super) fn new(sent: Instant, ttl: Duration) -> Self {
        Deadline { renewed: Arc::new(Mutex::new(sent)), ttl }
    }

    /// A renewal that was sent then has been confirmed.
    pub(super) fn confirm(&self, sent: Instant) {
        let mut last = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        *last = sent.max(*last);
    }

    fn renewed(&self) -> Instant {
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The moment, as things are now: the next renewal moves it.
    pub fn moment(&self) -> Instant {
        self.renewed() + self.ttl
    }
}

/// A lease as it was granted.
pub(super) struct Lease {
    pub id: i64,
    pub ttl: Duration,
    pub deadline: Deadline,
}

/// Why a lease is lost that the servers do not know any more.
pub(super) const EXPIRED: &str = "it has expired or was revoked";

/// Sends one renewal and waits for its answer; `false`: the servers do not know the lease.
pub(super) async fn renew<L: Line>(line: &L, id: i64, tap: &dyn Tap) -> Result<bool, LineError> {
    tap.request(RequestKind::LeaseKeepAlive);
    line.renew(id).await
}

/// Why a lease is taken to be lost that the servers may know still.
const UNCONFIRMED: &str = "no server confirmed a renewal within its ttl";

/// How keeping it over one line ended.
enum Ended {
    /// The servers say that the lease is gone.
    Expired,
    /// No renewal was confirmed for as long as the lease lasts.
    RanOut,
    /// No answer, or the connection broke.
    Broken,
}

impl Lease {
    /// Resolves when the servers may give the lease up from one moment to the next: at the deadline itself and not with the
    /// try that comes after it, since their clocks run on meanwhile.
    async fn runs_out(&self) {
        while self.deadline.moment() > Instant::now() {
            sleep_until(self.deadline.moment()).await;
        }
    }

    /// Keeps it alive until `closing` or until it is lost.
    pub async fn keep<C: Carrier>(
        self,
        connection: Arc<C>,
        loss: Arc<Loss>,
        closing: CancellationToken,
        tap: Arc<dyn Tap>,
    ) {
        // The first renewal is not due yet.
        let mut due = self.deadline.renewed() + self.ttl / 3;
        loop {
            let line = connection.line();
            let ended = tokio::select! {
                biased;
                () = closing.cancelled() => return,
                () = self.runs_out() => Ended::RanOut,
                () = line.gone().cancelled() => Ended::Broken,
                ended = self.renew(&*connection, &*line, due, tap.as_ref()) => ended,
            };
            match ended {
                Ended::Expired => return loss.declare(EXPIRED),
                Ended::RanOut => return loss.declare(UNCONFIRMED),
                Ended::Broken => connection.give_up(&line).await,
            }
            due = Instant::now();
            tokio::select! {
                biased;
                () = closing.cancelled() => return,
                () = self.runs_out() => return loss.declare(UNCONFIRMED),
                () = sleep(FIRST_PAUSE) => {}
            }
        }
    }

    /// Renews it at `due` and every third of the ttl from then on, over this line.
    async fn renew<C: Carrier>(&self, connection: &C, line: &C::Line, mut due: Instant, tap: &dyn Tap) -> Ended {
        loop {
            sleep_until(due).await;
            // It cannot wait for others; they wait for it.
            connection.access().debit();
            let sent = Instant::now();
            match timeout_at(self.limit(sent), renew(line, self.id, tap)).await {
                Ok(Ok(true)) => self.deadline.confirm(sent),
                Ok(Ok(false)) => return Ended::Expired,
                Ok(Err(_)) | Err(_) => return Ended::Broken,
            }
            due = sent + self.ttl / 3;
        }
    }

    /// Until when a renewal that is sent now is waited for: there is to be time for another try on another server.
    fn limit(&self, sent: Instant) -> Instant {
        (sent + self.ttl / 3).min(self.deadline.moment())
    }
}
