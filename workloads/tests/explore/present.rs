//! Who takes part, and what befalls them: workers that stand still and die.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};
use workloads::chaos::{Dice, Weather};

use crate::service::{Deadline, Service};
use crate::story::Telling;

#[derive(Clone, Default)]
struct Present {
    /// The session of each worker.
    key: Option<i64>,
    deadline: Option<Deadline>,
    paused_until: Option<Instant>,
    dead: bool,
}

/// Everybody who takes part. Clones are the same.
#[derive(Clone)]
pub struct Everybody<S> {
    service: S,
    present: Arc<Mutex<Vec<Present>>>,
    telling: Telling,
}

impl<S: Service> Everybody<S> {
    pub fn new(service: &S, workers: usize, telling: &Telling) -> Self {
        let present = Arc::new(Mutex::new(vec![Present::default(); workers]));
        Everybody { service: service.clone(), present, telling: telling.clone() }
    }

    fn present(&self) -> MutexGuard<'_, Vec<Present>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker has this session now.
    pub fn comes(&self, worker: usize, session: &S::Session) {
        let key = S::key(session);
        self.telling.note(|| format!("worker {worker} has session {key}"));
        let it = &mut self.present()[worker];
        (it.key, it.deadline) = (Some(key), Some(S::deadline(session)));
    }

    /// The worker has none any more.
    pub fn goes(&self, worker: usize) {
        self.present()[worker].key = None;
    }

    /// Whether the worker is dead, or its session over for the servers, or given up by itself.
    pub fn is_gone(&self, worker: usize) -> bool {
        let Present { key, dead, .. } = self.present()[worker].clone();
        dead || key.is_none_or(|key| self.service.is_over(key))
    }

    /// Lets workers stand still and die, as the weather is. `still` is told of those that stand still at the very moment at
    /// which they should be told that their session is over, `dies` of those that die.
    pub async fn befall(
        self,
        tasks: Vec<AbortHandle>,
        mut dice: Dice,
        weather: Weather,
        still: impl Fn(usize) + Send,
        dies: impl Fn(usize) + Send,
    ) {
        let start = Instant::now();
        let mut pause = Weather::gap(weather.pauses_every, &mut dice).map(|gap| start + gap);
        let mut death = Weather::gap(weather.deaths_every, &mut dice).map(|gap| start + gap);
        while let Some(next) = [pause, death].into_iter().flatten().min() {
            if next - start > weather.calm_after {
                return;
            }
            sleep(next - Instant::now()).await;
            let worker = dice.below(tasks.len());
            if pause == Some(next) {
                pause = Weather::gap(weather.pauses_every, &mut dice).map(|gap| next + gap);
                self.pause(worker, &mut dice, &still);
            } else {
                death = Weather::gap(weather.deaths_every, &mut dice).map(|gap| next + gap);
                self.kill(worker, &tasks, &dies);
            }
        }
    }

    fn pause(&self, worker: usize, dice: &mut Dice, still: &impl Fn(usize)) {
        let long = dice.happens(500);
        let length = if long { S::TIMEOUT + dice.delay(S::TIMEOUT) } else { dice.delay(S::TIMEOUT / 4) };
        let now = Instant::now();
        let mut present = self.present();
        let it = &mut present[worker];
        let (Some(key), false) = (it.key, it.dead || it.paused_until.is_some_and(|until| until > now)) else { return };
        it.paused_until = Some(now + length);
        let deadline = it.deadline.as_ref().map(|deadline| deadline());
        drop(present);
        if deadline.is_some_and(|deadline| (now..=now + length).contains(&deadline)) {
            still(worker);
        }
        self.telling.note(|| format!("worker {worker} stands still for {} ms", length.as_millis()));
        self.service.pause(key, length);
    }

    /// Somebody is left alive.
    fn kill(&self, worker: usize, tasks: &[AbortHandle], dies: &impl Fn(usize)) {
        let mut present = self.present();
        let alive = present.iter().filter(|it| !it.dead).count();
        let Some(key) = present[worker].key.filter(|_| alive > 1 && !present[worker].dead) else { return };
        if tasks[worker].is_finished() {
            return;
        }
        present[worker].dead = true;
        drop(present);
        self.telling.note(|| format!("worker {worker} dies"));
        self.telling.loss();
        dies(worker);
        self.service.crash(key);
        tasks[worker].abort();
    }
}

/// How long a run may take by its own clock, far beyond anything that its weather explains: who waits then waits for ever.
pub const DEADLINE: Duration = Duration::from_secs(300);
/// How long what goes on in the background may take when the weather is calm, expiry of the dead included.
pub const SETTLED: Duration = Duration::from_secs(30);
