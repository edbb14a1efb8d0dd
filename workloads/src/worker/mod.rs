//! One simulated worker: acquires, holds, releases, thinks, as the mode says, and writes down each acquisition.
//!
//! | module | what it is |
//! |---|---|
//! | [`Plan`] | what the workers of a trial share |
//! | `attempt` | an acquisition that is under way, as it is written down |
//! | `updates` | a holder that updates a shared counter |

mod attempt;
mod plan;
mod updates;

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::SmallRng;
use tokio::time::Instant;

use self::attempt::Attempt;
pub(crate) use self::attempt::Fate;
pub use self::plan::Plan;
use self::updates::Holder;
use crate::recipe::{Grant, Lock, Loss, RecipeError};
use crate::settings::Mode;

/// How long a worker rests after an acquisition failed although its session lives.
const FAILURE_PAUSE: Duration = Duration::from_millis(100);

/// How often a holder writes to the fenced store, where there is one.
const WRITE_PACE: Duration = Duration::from_millis(50);

/// One worker with its lock.
pub(crate) struct Worker<L> {
    pub(crate) number: u32,
    pub(crate) resource: u32,
    pub(crate) lock: L,
    pub(crate) plan: Arc<Plan>,
    pub(crate) fate: Fate,
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
                // No worker of barriers: those are members.
                Mode::Open(_) | Mode::Barriers { .. } => {}
            }
        }
        Ok(())
    }

    async fn acquire_and_release(&mut self, due: u64, rng: &mut SmallRng) -> Result<(), RecipeError> {
        let Worker { number, resource, lock, plan, fate } = self;
        let mut attempt = Attempt::new(&plan.recorder, fate, *number, *resource, due);
        let grant = match lock.acquire(&mut attempt).await {
            Ok(grant) => grant,
            Err(error) => {
                plan.waits_no_longer();
                attempt.failed();
                return Err(error);
            }
        };
        attempt.granted(&grant);
        plan.waits_no_longer();
        if let Some(under_faults) = &plan.under_faults {
            under_faults.holders.granted(*number, *resource, &grant);
        }
        let holder = Holder { worker: *number, resource: *resource, lock: &*lock, grant: &grant };
        let loss = hold(plan, holder, &mut attempt, rng).await;
        match loss {
            None => attempt.releasing(),
            Some(_) => attempt.lost(),
        }
        if let Some(under_faults) = &plan.under_faults {
            under_faults.holders.over(*resource, grant.token);
        }
        if loss.is_some() && plan.is_stopping() {
            // A release would set the next worker going while the books are being closed.
            std::future::pending::<()>().await;
        }
        match loss {
            Some(Loss::Session(why)) => Err(RecipeError::SessionLost(why)),
            // The grant is over for this worker, whatever becomes of its entry; where that is still there it has to go.
            Some(_) => lock.release(grant).await,
            None => match lock.release(grant).await {
                Ok(()) => {
                    attempt.released();
                    Ok(())
                }
                Err(error) => {
                    attempt.failed();
                    Err(error)
                }
            },
        }
    }
}

/// Holds the grant for as long as the mode says, or until it is lost. Does not return when the measured time is over
/// meanwhile, unless it is lost: whoever holds keeps holding while the books are being closed.
async fn hold(
    plan: &Plan,
    holder: Holder<'_, impl Lock>,
    attempt: &mut Attempt<'_>,
    rng: &mut SmallRng,
) -> Option<Loss> {
    let length = plan.hold.draw(rng);
    let Holder { resource, lock, grant, .. } = holder;
    if let Some(counting) = &plan.counting {
        let until = Instant::now().checked_add(length);
        // In a box: a worker that waits, as most do, is not to hold room for it.
        if let Some(loss) = Box::pin(holder.update(plan, counting, until, attempt, rng)).await {
            return Some(loss);
        }
    } else if !length.is_zero() || plan.mode == Mode::Drain {
        let loss = tokio::select! {
            biased;
            loss = lock.lost(grant) => Some(loss),
            loss = act(plan, grant, attempt, resource) => Some(loss),
            () = plan.pass(length) => None,
        };
        if loss.is_some() {
            return loss;
        }
    }
    if plan.is_stopping() {
        std::future::pending::<()>().await;
    }
    plan.recorder.ending(grant.token);
    None
}

/// What a holder does with its grant where faults are to come: it writes to the fenced store, until a write is refused.
async fn act(plan: &Plan, grant: &Grant, attempt: &mut Attempt<'_>, resource: u32) -> Loss {
    let Some(under_faults) = &plan.under_faults else { return std::future::pending().await };
    while under_faults.store.write(resource, grant.token) {
        tokio::time::sleep(WRITE_PACE).await;
    }
    attempt.stale_write();
    Loss::Overtaken
}

/// Sleeps, unless there is nothing to sleep for: even a sleep of zero would cost a turn of the timer.
async fn rest(length: Duration) {
    if !length.is_zero() {
        tokio::time::sleep(length).await;
    }
}
