//! One worker sets and removes a single barrier, and the others wait at it, for a few rounds.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};
use workloads::chaos::{self, Dice, Trace, Weather};
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::SingleBarrier;

use crate::contend::left_nothing;
use crate::meet::Blind;
use crate::present::{DEADLINE, Everybody};
use crate::service::{Remains, Service};
use crate::story::{Story, Telling};

/// The barrier of one worker over its session.
pub type Make<S, B> = fn(<S as Service>::Session) -> B;

/// Runs one seed. Nobody dies in it: without the one that removes the barrier all wait for ever.
pub fn run<S: Service, B: SingleBarrier + 'static>(seed: u64, traced: bool, make: Make<S, B>) -> Story {
    chaos::run(seed, || async move {
        let trace = if traced { Trace::on() } else { Trace::off() };
        let telling = Telling::new(trace.clone());
        let mut dice = Dice::new(seed, "wait");
        let weather = Weather { deaths_every: Duration::ZERO, ..Weather::drawn(&mut dice) };
        telling.note(|| format!("{weather:?}"));
        let service = S::start(seed, weather.clone(), trace);
        wait(&service, make, dice, &weather, &telling).await;
        telling.story()
    })
}

async fn wait<S: Service, B: SingleBarrier + 'static>(
    service: &S,
    make: Make<S, B>,
    mut dice: Dice,
    weather: &Weather,
    telling: &Telling,
) {
    let end = Instant::now() + DEADLINE;
    let count = dice.between(2, 6) as usize;
    let rounds = dice.between(1, 3);
    let everybody = Everybody::new(service, count, telling);
    let met = Arc::new(Met { count, come: AtomicUsize::new(0), all: Notify::new() });
    // How many barriers have been removed.
    let removed = Arc::new(AtomicU64::new(0));
    let workers = (0..count).map(|number| {
        let waiter = Waiter {
            number,
            service: service.clone(),
            dice: Dice::new(dice.between(0, u64::MAX), "waiter"),
            everybody: everybody.clone(),
            met: Arc::clone(&met),
            removed: Arc::clone(&removed),
            telling: telling.clone(),
        };
        tokio::spawn(waiter.work(make, rounds))
    });
    let workers: Vec<_> = workers.collect();
    let tasks = workers.iter().map(|task| task.abort_handle()).collect();
    tokio::spawn(everybody.befall(tasks, dice, weather.clone(), |_| {}, |_| {}));

    let mut sessions = Vec::new();
    for (number, mut worker) in workers.into_iter().enumerate() {
        match timeout_at(end, &mut worker).await {
            Ok(Ok(session)) => sessions.push(session),
            Ok(Err(error)) => telling.violation(|| format!("worker {number} panicked: {error}")),
            Err(_) => {
                telling.violation(|| format!("worker {number} waits for ever"));
                worker.abort();
            }
        }
    }
    left_nothing(service, sessions, &Remains::default(), telling).await;
}

/// Where all workers meet before and after each round. Not tokio's barrier, which wakes them in a random order.
struct Met {
    count: usize,
    come: AtomicUsize,
    all: Notify,
}

impl Met {
    async fn wait(&self) {
        let all = self.all.notified();
        if (self.come.fetch_add(1, Relaxed) + 1).is_multiple_of(self.count) {
            self.all.notify_waiters();
        } else {
            all.await;
        }
    }
}

struct Waiter<S> {
    number: usize,
    service: S,
    dice: Dice,
    everybody: Everybody<S>,
    met: Arc<Met>,
    removed: Arc<AtomicU64>,
    telling: Telling,
}

impl<S: Service> Waiter<S> {
    async fn work<B: SingleBarrier>(mut self, make: Make<S, B>, rounds: u64) -> S::Session {
        let mut session = self.service.open().await;
        self.everybody.comes(self.number, &session);
        let mut barrier = make(session.clone());
        for round in 0..rounds {
            if self.number == 0 {
                self.again(&mut session, &mut barrier, make, async |barrier| barrier.set().await).await;
            }
            self.met.wait().await;
            sleep(self.dice.delay(Duration::from_millis(200))).await;
            self.service.awake(S::key(&session)).await;
            if self.number == 0 {
                self.telling.note(|| "the barrier is being removed".to_owned());
                self.removed.fetch_add(1, Relaxed);
                self.again(&mut session, &mut barrier, make, async |barrier| barrier.remove().await).await;
            } else {
                self.telling.note(|| format!("worker {} waits", self.number));
                self.again(&mut session, &mut barrier, make, async |barrier| barrier.wait(&mut Blind).await).await;
                self.telling.note(|| format!("worker {} goes on", self.number));
                self.telling.passed();
                if self.removed.load(Relaxed) <= round {
                    self.telling.violation(|| format!("worker {} passes the barrier that stands", self.number));
                }
            }
            self.met.wait().await;
        }
        session
    }

    /// On as many sessions as it takes.
    async fn again<B: SingleBarrier>(
        &mut self,
        session: &mut S::Session,
        barrier: &mut B,
        make: Make<S, B>,
        mut verb: impl AsyncFnMut(&mut B) -> Result<(), RecipeError>,
    ) {
        loop {
            let outcome = verb(barrier).await;
            self.service.awake(S::key(session)).await;
            match outcome {
                Ok(()) => return,
                Err(RecipeError::SessionLost(_)) => {
                    self.telling.loss();
                    *session = self.service.open().await;
                    self.everybody.comes(self.number, session);
                    *barrier = make(session.clone());
                }
                Err(error) => {
                    self.telling.violation(|| format!("worker {}: {error}", self.number));
                    return;
                }
            }
        }
    }
}
