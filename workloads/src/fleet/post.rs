//! One worker's post: it connects, waits for the start, works, and does what it is told from outside.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};

use super::Failures;
use super::host::Host;
use super::orders::{Order, Orders, Strike};
use super::relay::Relay;
use crate::member::{self, Member};
use crate::recipe::RecipeError;
use crate::settings::Recipe;
use crate::worker::{Plan, Worker};

/// How long a worker waits before it tries again to get another session in the place of one that it lost.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// What all posts of a fleet share.
pub(super) struct Shared {
    pub plan: Arc<Plan>,
    pub recipe: Recipe,
    /// How many workers there are: of a barrier, its quantity.
    pub workers: u32,
    /// How many sessions may be being opened at any moment.
    pub gate: Semaphore,
    /// Workers that have been connected, for a progress display.
    pub connected: Arc<AtomicU32>,
    /// Workers that have nothing left to do.
    pub done: AtomicU32,
    pub failures: Mutex<Failures>,
}

/// What one worker can be reached by from outside; there only where faults are to come.
#[derive(Clone, Default)]
pub(super) struct Wire {
    pub orders: Arc<Orders>,
    pub relay: Option<Arc<Relay>>,
}

/// One worker's post.
pub(super) struct Post<H: Host> {
    pub host: H,
    pub shared: Arc<Shared>,
    pub number: u32,
    pub resource: u32,
    /// Where its lock or election is.
    pub base: Arc<str>,
    pub wire: Option<Wire>,
    pub start: watch::Receiver<bool>,
}

impl<H: Host> Post<H> {
    /// Does everything, from connecting to the end of the trial; `report` is told whether the worker has a session.
    pub async fn work(mut self, report: mpsc::UnboundedSender<Result<(), String>>) {
        // In a box, as everything large that is over soon: thousands of these futures stay for the whole trial.
        let connected = Box::pin(self.connect()).await;
        let told = connected.as_ref().map(|_| ()).map_err(Clone::clone);
        let Ok(mut session) = connected else {
            let _ = report.send(told);
            return;
        };
        self.shared.connected.fetch_add(1, Ordering::Relaxed);
        let _ = report.send(told);
        drop(report);
        // An error means that the fleet is gone before it started.
        if self.start.wait_for(|started| *started).await.is_err() {
            return;
        }
        loop {
            match self.serve(session).await {
                Served::SessionLost => match Box::pin(self.reconnect()).await {
                    Ok(another) => session = another,
                    // It had no session when it was told to go.
                    Err(_) => return,
                },
                Served::Ended(Strike::Close, session) => return Box::pin(self.host.close(session)).await,
                Served::Ended(..) => return,
            }
        }
    }

    async fn connect(&self) -> Result<H::Session, String> {
        // The gate is never closed, so a permit always comes.
        let _permit = self.shared.gate.acquire().await;
        let relay = self.wire.as_ref().and_then(|wire| wire.relay.as_deref());
        self.host.connect(self.number, relay).await
    }

    /// Works on this session until it is lost, or until an order ends the worker.
    async fn serve(&self, session: H::Session) -> Served<H::Session> {
        if self.shared.recipe.is_barrier() {
            return self.attend(session).await;
        }
        let Some(lock) = self.host.contender(self.shared.recipe, session.clone(), &self.base) else {
            return match self.until_ordered(std::future::pending(), Some(&session)).await {
                Ok(()) => Served::SessionLost,
                Err(strike) => Served::Ended(strike, session),
            };
        };
        let (number, resource, plan) = (self.number, self.resource, Arc::clone(&self.shared.plan));
        let fate = self.wire.as_ref().map(|wire| wire.orders.fate.clone()).unwrap_or_default();
        let mut worker = Worker { number, resource, lock, plan, fate };
        // In a box, so that what holds it, layer upon layer, does not keep room for it as often (measured: 13 KB a worker).
        self.work_on(Box::pin(worker.run()), session).await
    }

    /// Lets a worker do its work on this session until that is lost, or until an order ends the worker.
    async fn work_on(
        &self,
        work: impl Future<Output = Result<(), RecipeError>>,
        session: H::Session,
    ) -> Served<H::Session> {
        let lost = async {
            if self.is_over(work.await) {
                // The worker keeps its session when it is done, so that no session closes while the trial is measured.
                self.shared.done.fetch_add(1, Ordering::AcqRel);
                std::future::pending::<()>().await;
            }
        };
        match self.until_ordered(lost, Some(&session)).await {
            Ok(()) => Served::SessionLost,
            Err(strike) => Served::Ended(strike, session),
        }
    }

    /// Is a member of all barriers on this session; see [`Post::serve`].
    async fn attend(&self, session: H::Session) -> Served<H::Session> {
        let Shared { recipe, plan, .. } = &*self.shared;
        let Some(meetings) = &plan.meetings else { return Served::SessionLost };
        let barrier =
            |barrier| self.host.barrier(*recipe, &session, &member::base(&self.base, barrier), self.shared.workers);
        let barriers = (0..meetings.barriers()).filter_map(barrier).collect();
        let mut member = Member { number: self.number, plan: Arc::clone(plan), barriers };
        self.work_on(Box::pin(member.run()), session.clone()).await
    }

    /// Whether a worker's run ended for good: with its plan, or with its session where no other follows.
    fn is_over(&self, outcome: Result<(), RecipeError>) -> bool {
        let Err(error) = outcome else { return true };
        match &self.shared.plan.under_faults {
            Some(under_faults) => {
                under_faults.sessions_lost.fetch_add(1, Ordering::Relaxed);
                false
            }
            None => {
                let mut failures = self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner);
                *failures.entry(error.to_string()).or_default() += 1;
                true
            }
        }
    }

    /// Opens another session in the place of one that was lost, however long that takes.
    async fn reconnect(&self) -> Result<H::Session, Strike> {
        let connecting = async {
            loop {
                match self.connect().await {
                    Ok(session) => return session,
                    Err(_) => tokio::time::sleep(RECONNECT_PAUSE).await,
                }
            }
        };
        self.until_ordered(connecting, None).await
    }

    /// Goes on with `step` until it is done or an order ends the worker, with whatever it does on `session`. While the worker
    /// is paused, its whole thread stands still.
    async fn until_ordered<T>(&self, step: impl Future<Output = T>, session: Option<&H::Session>) -> Result<T, Strike> {
        let Some(wire) = &self.wire else { return Ok(step.await) };
        let mut step = pin!(step);
        loop {
            let Order { strike, done } = tokio::select! {
                biased;
                order = wire.orders.next() => order,
                done = &mut step => return Ok(done),
            };
            // Before the last sign of life is sent: the servers cannot have heard of the session before it, so that no detection
            // is shorter than the timeout, however late the answer is read.
            let moment = self.shared.plan.recorder.now();
            if let (Strike::Crash | Strike::Pause(_), Some(session)) = (strike, session) {
                // The servers' clock is to start now, and not at whatever the session happened to send last.
                self.host.sign_of_life(session).await;
            }
            // What was under way is dropped with `step`, when all this has been said: it is written down for what it was, and
            // a worker that crashed tidies nothing up.
            match strike {
                Strike::Close => wire.orders.fate.close(),
                Strike::Crash => {
                    if let Some(session) = session {
                        self.host.abandon(session);
                    }
                    wire.orders.fate.crash();
                }
                Strike::Pause(_) => wire.orders.fate.strike(),
            }
            // An error means that nobody waits for it any more.
            let _ = done.send(moment);
            match strike {
                Strike::Pause(length) => thread::sleep(length),
                Strike::Close | Strike::Crash => return Err(strike),
            }
        }
    }
}

/// Why a worker does not go on with its session.
enum Served<S> {
    /// It is lost.
    SessionLost,
    /// The worker was told to end, and how.
    Ended(Strike, S),
}
