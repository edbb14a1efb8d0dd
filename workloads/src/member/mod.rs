//! One simulated member of barriers: enters, works, leaves, as the mode says, and writes down each passage.
//!
//! Free-running, it enters all barriers and then leaves all of them, as fast as it can. Settled, it goes round by round, and
//! each barrier costs exactly the notifications of its closed form: with the naive double barrier each member calls when all
//! who called before wait; with the other one the lowest leaves when all others wait for it; and the controller of a single
//! barrier removes it when all others wait.

mod any;
mod meetings;

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;

pub(crate) use self::any::AnyBarrier;
pub(crate) use self::meetings::Meetings;
use self::meetings::Waits;
use crate::recipe::RecipeError;
use crate::recipe::barrier::{DoubleBarrier, Entered, SingleBarrier};
use crate::record::passage::Moment;
use crate::settings::Recipe;
use crate::worker::Plan;

/// How often a member looks whether its turn has come, for each one that comes before it.
const SETTLE_POLL: Duration = Duration::from_millis(1);

/// The paths or keys of the barriers of a trial below `root`.
pub(crate) fn base(root: &str, barrier: u32) -> String {
    format!("{root}/barrier-{barrier}")
}

/// One member, with what it has of each barrier.
pub(crate) struct Member<B> {
    pub(crate) number: u32,
    pub(crate) plan: Arc<Plan>,
    pub(crate) barriers: Vec<B>,
}

impl<B: DoubleBarrier + SingleBarrier> Member<B> {
    /// Passes all barriers.
    ///
    /// # Errors
    ///
    /// The first failure: without this member no barrier opens any more.
    pub(crate) async fn run(&mut self) -> Result<(), RecipeError> {
        let plan = Arc::clone(&self.plan);
        // Plans of barriers alone employ members.
        let Some(meetings) = &plan.meetings else { return Ok(()) };
        let mut all = std::mem::take(&mut self.barriers);
        let turn = Turn { number: self.number, plan: &plan, meetings };
        let done = turn.pass_all(&mut all).await;
        // Kept to the end of the trial: what a barrier leaves standing is taken back when it is dropped.
        self.barriers = all;
        done
    }
}

/// A member on its way.
struct Turn<'a> {
    number: u32,
    plan: &'a Plan,
    meetings: &'a Meetings,
}

impl Turn<'_> {
    async fn pass_all<B: DoubleBarrier + SingleBarrier>(&self, all: &mut [B]) -> Result<(), RecipeError> {
        if self.meetings.recipe == Recipe::SingleBarrier {
            return self.pass_single(all).await;
        }
        if self.meetings.settled {
            for (barrier, at) in (0..).zip(all) {
                let rank = self.enter(at, barrier).await?;
                self.work(barrier).await;
                self.leave(at, barrier, rank).await?;
            }
            return Ok(());
        }
        let mut ranks = Vec::with_capacity(all.len());
        for (barrier, at) in (0..).zip(all.iter_mut()) {
            ranks.push(self.enter(at, barrier).await?);
        }
        for ((barrier, at), rank) in (0..).zip(all).zip(ranks) {
            self.leave(at, barrier, rank).await?;
        }
        Ok(())
    }

    /// The first worker is the controller, all others wait.
    async fn pass_single<B: SingleBarrier>(&self, all: &mut [B]) -> Result<(), RecipeError> {
        let controls = self.number == 0;
        if controls {
            for at in all.iter_mut() {
                at.set().await?;
            }
            self.meetings.set();
        }
        self.until(u64::from(self.number), || self.meetings.is_set()).await;
        for (barrier, at) in (0..).zip(all) {
            let way = &self.meetings.places[barrier as usize].way_in;
            if controls {
                self.until(1, || way.is_settled(self.meetings.members - 1, 0)).await;
                self.note(barrier, Moment::Arrived);
                at.remove().await?;
            } else {
                self.note(barrier, Moment::Arrived);
                at.wait(&mut self.waits(barrier, false)).await?;
            }
            self.released(barrier);
        }
        Ok(())
    }

    /// The member's rank inside.
    async fn enter<B: DoubleBarrier>(&self, at: &mut B, barrier: u32) -> Result<u64, RecipeError> {
        let meeting = &self.meetings.places[barrier as usize];
        self.wait_for_turn(&meeting.way_in).await;
        self.note(barrier, Moment::Arrived);
        meeting.way_in.come.fetch_add(1, AcqRel);
        match at.enter(&mut self.waits(barrier, false)).await? {
            Entered::Inside(seat) => {
                meeting.lowest.fetch_min(seat.rank, AcqRel);
                self.released(barrier);
                Ok(seat.rank)
            }
            Entered::Refused => Err(RecipeError::Service("the barrier was full without this member".to_owned())),
        }
    }

    /// Works until everybody is inside, and for as long as the scenario says.
    async fn work(&self, barrier: u32) {
        let meeting = &self.meetings.places[barrier as usize];
        self.until(1, || meeting.inside.load(Acquire) == self.meetings.members).await;
        self.plan.work(self.number).await;
    }

    async fn leave<B: DoubleBarrier>(&self, at: &mut B, barrier: u32, rank: u64) -> Result<(), RecipeError> {
        let meeting = &self.meetings.places[barrier as usize];
        self.wait_for_turn(&meeting.way_out).await;
        let lowest = meeting.lowest.load(Acquire) == rank;
        if self.meetings.settled && self.meetings.recipe == Recipe::DoubleBarrier && lowest {
            self.until(1, || meeting.way_out.is_settled(self.meetings.members - 1, 0)).await;
        }
        self.note(barrier, Moment::Leaving);
        meeting.way_out.come.fetch_add(1, AcqRel);
        at.leave(&mut self.waits(barrier, true)).await?;
        self.note(barrier, Moment::Left);
        Ok(())
    }

    /// In a settled naive barrier members come in the order of their numbers, each when all who came before wait: the k-th has
    /// then woken k − 1.
    async fn wait_for_turn(&self, way: &meetings::Way) {
        if !self.meetings.settled || self.meetings.recipe != Recipe::NaiveDoubleBarrier {
            return;
        }
        let number = u64::from(self.number);
        while way.come.load(Acquire) < number {
            let before = number - way.come.load(Acquire);
            self.pause(before).await;
        }
        self.until(1, || way.is_settled(number, number * number.saturating_sub(1) / 2)).await;
    }

    /// Waits until `condition` holds, looking more seldom the further off that is.
    async fn until(&self, distance: u64, condition: impl Fn() -> bool) {
        while !condition() {
            self.pause(distance.clamp(1, 20)).await;
        }
        if self.plan.is_stopping() {
            // The books are being closed.
            std::future::pending::<()>().await;
        }
    }

    async fn pause(&self, distance: u64) {
        tokio::time::sleep(SETTLE_POLL * u32::try_from(distance.min(50)).unwrap_or(50)).await;
    }

    fn waits(&self, barrier: u32, on_the_way_out: bool) -> Waits<'_> {
        Waits { meetings: self.meetings, worker: self.number, barrier, on_the_way_out }
    }

    fn released(&self, barrier: u32) {
        self.note(barrier, Moment::Released);
        self.meetings.places[barrier as usize].inside.fetch_add(1, AcqRel);
    }

    fn note(&self, barrier: u32, moment: Moment) {
        self.meetings.passages.note(self.number, barrier, moment, self.plan.recorder.now());
    }
}
