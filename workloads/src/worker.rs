//! One simulated worker: acquires, holds, releases, thinks, as the mode says, and writes down each acquisition.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::recipe::{Grant, Lock, Observer, RecipeError};
use crate::record::{Acquisition, Outcome, Recorder};
use crate::settings::{Delay, Mode, WorkerSettings};

/// What the workers of one trial share. All of it is read or added to without a lock, and nobody is woken through it: the
/// workers meet in the ensemble alone.
pub struct Plan {
    pub(crate) recorder: Arc<Recorder>,
    mode: Mode,
    hold: Delay,
    think: Delay,
    seed: u64,
    /// When the arrivals of an open loop are due, nanoseconds since the start; empty in the other modes.
    arrivals: Vec<u64>,
    next_arrival: AtomicUsize,
    /// Arrivals of which the acquisition has been called.
    arrivals_begun: AtomicUsize,
    /// Drain: workers that have not been granted yet.
    waiting: AtomicI64,
    /// Set when the measured time is over: nobody begins, and whoever holds keeps holding, until the books are closed.
    stopping: AtomicBool,
}

impl Plan {
    /// The plan for a trial of `length`, of which every random choice follows from `seed`.
    pub fn new(settings: &WorkerSettings, length: Duration, seed: u64, recorder: Arc<Recorder>) -> Self {
        let arrivals = match &settings.mode {
            Mode::Open(arrivals) => arrivals.schedule(length, &mut SmallRng::seed_from_u64(seed)),
            Mode::Drain | Mode::Closed => Vec::new(),
        };
        Plan {
            recorder,
            mode: settings.mode,
            hold: settings.hold,
            think: settings.think,
            seed,
            arrivals,
            next_arrival: AtomicUsize::new(0),
            arrivals_begun: AtomicUsize::new(0),
            waiting: AtomicI64::new(i64::from(settings.workers)),
            stopping: AtomicBool::new(false),
        }
    }

    /// The random choices of one worker, apart from those of every other.
    fn rng(&self, worker: u32) -> SmallRng {
        SmallRng::seed_from_u64(self.seed ^ (u64::from(worker) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Ends the measured time.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Arrivals that fell due before `end`, in nanoseconds since the start, and of which no acquisition was called: every
    /// worker was busy, or the end came before the worker that was to take it up had woken.
    pub fn arrivals_left(&self, end: u64) -> u64 {
        let due = self.arrivals.partition_point(|due| *due < end);
        due.saturating_sub(self.arrivals_begun.load(Ordering::Acquire)) as u64
    }

    /// The moment at which the next acquisition is due, once it has come; `None` when there is none any more.
    async fn next_due(&self) -> Option<u64> {
        if self.is_stopping() {
            return None;
        }
        if !matches!(self.mode, Mode::Open(_)) {
            return Some(self.recorder.now());
        }
        let due = *self.arrivals.get(self.next_arrival.fetch_add(1, Ordering::AcqRel))?;
        tokio::time::sleep_until(self.recorder.instant(due)).await;
        if self.is_stopping() {
            return None;
        }
        self.arrivals_begun.fetch_add(1, Ordering::AcqRel);
        Some(due)
    }

    /// A worker leaves without a grant. In a drain nobody may wait for its watch any more.
    fn gave_up(&self) {
        if self.mode == Mode::Drain {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Whether every worker that still waits has armed its watch.
    fn is_settled(&self) -> bool {
        self.recorder.standing_watches() == self.waiting.load(Ordering::Acquire)
    }

    /// Holds the grant for as long as the mode says. Does not return when the measured time is over meanwhile: a release
    /// would set the next worker going while the books are being closed.
    async fn hold(&self, grant: &Grant, rng: &mut SmallRng) {
        if self.mode == Mode::Drain {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        rest(self.hold.draw(rng)).await;
        while self.mode == Mode::Drain && !self.is_settled() {
            tokio::time::sleep(SETTLE_POLL).await;
        }
        if self.is_stopping() {
            std::future::pending::<()>().await;
        }
        self.recorder.ending(grant.token);
    }
}

/// How often a holder of a drain looks whether everybody has armed its watch.
const SETTLE_POLL: Duration = Duration::from_millis(1);

/// How long a worker rests after an acquisition failed although its session lives.
const FAILURE_PAUSE: Duration = Duration::from_millis(100);

/// One worker with its lock.
pub(crate) struct Worker<L> {
    pub(crate) number: u32,
    pub(crate) resource: u32,
    pub(crate) lock: L,
    pub(crate) plan: Arc<Plan>,
}

impl<L: Lock> Worker<L> {
    /// Works until the plan is done or stopped.
    ///
    /// # Errors
    ///
    /// The loss of the session; other failures are written down and the worker goes on.
    pub(crate) async fn run(&mut self) -> Result<(), RecipeError> {
        let mut rng = self.plan.rng(self.number);
        let plan = Arc::clone(&self.plan);
        while let Some(due) = plan.next_due().await {
            match self.acquire_and_release(due, &mut rng).await {
                Ok(()) => {}
                Err(error @ RecipeError::SessionLost(_)) => return Err(error),
                Err(_) => tokio::time::sleep(FAILURE_PAUSE).await,
            }
            match plan.mode {
                Mode::Drain => return Ok(()),
                Mode::Closed => rest(plan.think.draw(&mut rng)).await,
                Mode::Open(_) => {}
            }
        }
        Ok(())
    }

    async fn acquire_and_release(&mut self, due: u64, rng: &mut SmallRng) -> Result<(), RecipeError> {
        let recorder = Arc::clone(&self.plan.recorder);
        let mut log = Log::new(&recorder, Acquisition::called(self.number, self.resource, due, recorder.now()));
        let grant = match self.lock.acquire(&mut log).await {
            Ok(grant) => grant,
            Err(error) => {
                self.plan.gave_up();
                return Err(log.failed(error));
            }
        };
        log.granted(&grant);
        self.plan.hold(&grant, rng).await;
        log.releasing();
        match self.lock.release(grant).await {
            Ok(()) => {
                log.released();
                Ok(())
            }
            Err(error) => Err(log.failed(error)),
        }
    }
}

/// Sleeps, unless there is nothing to sleep for: even a sleep of zero would cost a turn of the timer.
async fn rest(length: Duration) {
    if !length.is_zero() {
        tokio::time::sleep(length).await;
    }
}

/// An acquisition that is under way. It is kept when it is dropped, so that one which the end of the trial cuts off is
/// written down as well.
struct Log<'a> {
    recorder: &'a Recorder,
    acquisition: Acquisition,
}

impl<'a> Log<'a> {
    fn new(recorder: &'a Recorder, acquisition: Acquisition) -> Self {
        Log { recorder, acquisition }
    }

    fn granted(&mut self, grant: &Grant) {
        self.acquisition.granted = self.recorder.now();
        self.acquisition.token = grant.token;
        self.acquisition.outcome = Outcome::Held;
    }

    fn releasing(&mut self) {
        self.acquisition.release_sent = self.recorder.now();
    }

    fn released(&mut self) {
        self.acquisition.released = self.recorder.now();
        self.acquisition.outcome = Outcome::Released;
    }

    fn failed(&mut self, error: RecipeError) -> RecipeError {
        self.acquisition.outcome = Outcome::Failed;
        error
    }
}

impl Observer for Log<'_> {
    fn enqueued(&mut self) {
        self.acquisition.enqueued = self.recorder.now();
    }

    fn woken(&mut self) {
        self.acquisition.woken = self.recorder.now();
        self.acquisition.wakeups += 1;
    }
}

impl Drop for Log<'_> {
    fn drop(&mut self) {
        self.recorder.acquisition(self.acquisition);
    }
}
