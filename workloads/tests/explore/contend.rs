//! Workers contend for one lock or election, each for a few rounds.
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout, timeout_at};
use workloads::chaos::{self, Dice, Trace, Weather};
use workloads::recipe::{Lock, Loss, Observer, RecipeError};

use crate::judge::Judge;
use crate::present::{DEADLINE, Everybody, SETTLED};
use crate::service::{BASE, Remains, Service};
use crate::story::{Story, Telling};

/// The lock or election of one worker over its session; `true`: with automatic requeueing.
pub type Make<S, L> = fn(<S as Service>::Session, bool) -> L;

/// Runs one seed.
pub fn run<S: Service, L: Lock + 'static>(seed: u64, traced: bool, make: Make<S, L>) -> Story {
    chaos::run(seed, || async move {
        let trace = if traced { Trace::on() } else { Trace::off() };
        let telling = Telling::new(trace.clone());
        let mut dice = Dice::new(seed, "contend");
        let weather = Weather::drawn(&mut dice);
        telling.note(|| format!("{weather:?}"));
        let service = S::start(seed, weather.clone(), trace);
        contend(&service, make, dice, &weather, &telling).await;
        telling.story()
    })
}

async fn contend<S: Service, L: Lock + 'static>(
    service: &S,
    make: Make<S, L>,
    mut dice: Dice,
    weather: &Weather,
    telling: &Telling,
) {
    let end = Instant::now() + DEADLINE;
    let count = dice.between(2, 6) as usize;
    let rounds = dice.between(1, 4);
    let requeue = dice.happens(500);
    let judge = Judge::new(telling);
    let everybody = Everybody::new(service, count, telling);
    let workers = (0..count).map(|number| {
        let worker = Worker {
            number,
            service: service.clone(),
            dice: Dice::new(dice.between(0, u64::MAX), "worker"),
            cancelled: weather.cancelled,
            // Where sessions end by themselves, a hold that outlasts one is what matters.
            short_holds: if weather.long_outages > 0 { 2 } else { 7 },
            everybody: everybody.clone(),
            judge: judge.clone(),
            telling: telling.clone(),
        };
        tokio::spawn(worker.work(make, rounds, requeue))
    });
    let workers: Vec<_> = workers.collect();
    let tasks = workers.iter().map(|task| task.abort_handle()).collect();
    let (still, dies) = (judge.clone(), judge.clone());
    tokio::spawn(everybody.befall(
        tasks,
        dice,
        weather.clone(),
        move |worker| still.stands_still(worker),
        move |worker| dies.over(worker, "dies"),
    ));

    let mut sessions = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        let aborted = worker.abort_handle();
        match timeout_at(end, worker).await {
            Ok(Ok(session)) => sessions.push(session),
            Ok(Err(error)) if error.is_cancelled() => {}
            Ok(Err(error)) => telling.violation(|| format!("worker {number} panicked: {error}")),
            Err(_) => {
                telling.violation(|| format!("worker {number} waits for ever"));
                aborted.abort();
            }
        }
    }
    left_nothing(service, sessions, &Remains::default(), telling).await;
}

/// That neither an entry nor a watch is left: first while the sessions live that made them, then without them. Excepted
/// are entries of the names in `may_stay`, and so many watches while the sessions live.
pub async fn left_nothing<S: Service>(service: &S, sessions: Vec<S::Session>, may_stay: &Remains, telling: &Telling) {
    let look = || {
        let mut left = service.remains(BASE);
        let stays = |entry: &String| may_stay.entries.iter().any(|name| entry.ends_with(name));
        left.entries.retain(|entry| !stays(entry));
        left
    };
    sleep(SETTLED).await;
    let left = look();
    if !left.entries.is_empty() {
        telling.violation(|| format!("orphans: {:?}", left.entries));
    }
    if left.watches > may_stay.watches {
        telling.violation(|| format!("{} watches stand that nobody waits for", left.watches));
    }
    drop(sessions);
    sleep(SETTLED).await;
    let left = look();
    if left != Remains::default() {
        telling.violation(|| format!("when all sessions are over: {left:?}"));
    }
}

struct Worker<S> {
    number: usize,
    service: S,
    dice: Dice,
    cancelled: u32,
    /// How many holds are short for each one that outlasts a session.
    short_holds: usize,
    everybody: Everybody<S>,
    judge: Judge,
    telling: Telling,
}

/// The session is lost.
struct Lost;

impl<S: Service> Worker<S> {
    /// Works until it has had all its rounds, on as many sessions as it takes, and hands the last one back.
    async fn work<L: Lock>(mut self, make: Make<S, L>, rounds: u64, requeue: bool) -> S::Session {
        let mut left = rounds;
        loop {
            self.everybody.goes(self.number);
            let session = self.service.open().await;
            let key = S::key(&session);
            self.everybody.comes(self.number, &session);
            let mut lock = make(session.clone(), requeue);
            match self.take_turns(key, &mut lock, &mut left).await {
                Ok(()) => return session,
                Err(Lost) => self.telling.loss(),
            }
        }
    }

    async fn take_turns<L: Lock>(&mut self, key: i64, lock: &mut L, left: &mut u64) -> Result<(), Lost> {
        while *left > 0 {
            sleep(self.dice.delay(Duration::from_millis(300))).await;
            self.service.awake(key).await;
            *left -= 1;
            self.judge.acquires(self.number);
            let patience = match self.dice.happens(self.cancelled) {
                true => self.dice.delay(Duration::from_millis(500)),
                false => DEADLINE * 2,
            };
            let outcome = timeout(patience, lock.acquire(&mut Deaf)).await;
            self.service.awake(key).await;
            let grant = match outcome {
                Err(_) => {
                    self.judge.over(self.number, "gives up");
                    continue;
                }
                Ok(Ok(grant)) => grant,
                Ok(Err(error)) => return self.failed(key, "acquire", &error),
            };
            self.judge.granted(self.number, &grant);
            let hold = match self.dice.below(self.short_holds + 1) {
                0 => S::TIMEOUT + self.dice.delay(S::TIMEOUT),
                _ => self.dice.delay(Duration::from_millis(200)),
            };
            let loss = tokio::select! {
                biased;
                loss = lock.lost(&grant) => Some(loss),
                () = sleep(hold) => None,
            };
            self.service.awake(key).await;
            if loss.is_none() {
                self.judge.writes(self.number);
            }
            self.judge.over(self.number, if loss.is_some() { "is told of its loss" } else { "releases" });
            if let Some(Loss::Session(_)) = loss {
                return Err(Lost);
            }
            if let Err(error) = lock.release(grant).await {
                return self.failed(key, "release", &error);
            }
        }
        Ok(())
    }

    fn failed(&self, key: i64, verb: &str, error: &RecipeError) -> Result<(), Lost> {
        self.judge.over(self.number, &format!("{verb} failed: {error}"));
        match error {
            RecipeError::SessionLost(_) => Err(Lost),
            // The servers have ended the session, and the session does not know it yet.
            RecipeError::EntryVanished(_) if self.service.is_over(key) => Err(Lost),
            error => {
                self.telling.violation(|| format!("worker {}: {verb} failed: {error}", self.number));
                Ok(())
            }
        }
    }
}

/// Nobody listens.
pub struct Deaf;

impl Observer for Deaf {
    fn enqueued(&mut self) {}
    fn woken(&mut self) {}
}
