//! Members meet at one double barrier, for a few rounds.
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout, timeout_at};
use workloads::chaos::{self, Dice, Trace, Weather};
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier, Entered, Witness};

use crate::contend::left_nothing;
use crate::present::{DEADLINE, Everybody};
use crate::service::{Remains, Service};
use crate::story::{Story, Telling};

/// What a barrier leaves on the servers while its members' sessions live, by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    LeavesNothing,
    /// A watch for each member.
    LeavesItsWatch,
}

/// The barrier of one member over its session, for so many members.
pub type Make<S, B> = fn(<S as Service>::Session, u32) -> B;

/// Runs one seed.
pub fn run<S: Service, B: DoubleBarrier + 'static>(seed: u64, traced: bool, kind: Kind, make: Make<S, B>) -> Story {
    chaos::run(seed, || async move {
        let trace = if traced { Trace::on() } else { Trace::off() };
        let telling = Telling::new(trace.clone());
        let mut dice = Dice::new(seed, "meet");
        let weather = Weather::drawn(&mut dice);
        telling.note(|| format!("{weather:?}"));
        let service = S::start(seed, weather.clone(), trace);
        meet(&service, kind, make, dice, &weather, &telling).await;
        telling.story()
    })
}

/// Who has come, who has got inside, and who has finished, in each round; and who has given up, for good.
#[derive(Debug, Default)]
struct Rounds {
    come: Vec<BTreeSet<usize>>,
    inside: Vec<BTreeSet<usize>>,
    given_up: BTreeSet<usize>,
    finished: Vec<BTreeSet<usize>>,
}

impl Rounds {
    fn new(rounds: usize) -> Self {
        let empty = || vec![BTreeSet::new(); rounds];
        Rounds { come: empty(), inside: empty(), given_up: BTreeSet::new(), finished: empty() }
    }

    /// The round, if there is one, that the member has come to, and that others were let into while it was not.
    fn stands_before(&self, member: usize) -> Option<usize> {
        let stands = |(come, inside): (&BTreeSet<usize>, &BTreeSet<usize>)| {
            come.contains(&member) && !inside.contains(&member) && !inside.is_empty()
        };
        self.come.iter().zip(&self.inside).position(stands)
    }
}

async fn meet<S: Service, B: DoubleBarrier + 'static>(
    service: &S,
    kind: Kind,
    make: Make<S, B>,
    mut dice: Dice,
    weather: &Weather,
    telling: &Telling,
) {
    let quantity = dice.between(2, 6) as usize;
    let rounds = dice.between(1, 3) as usize;
    // A member that is gone, or has given up, is missed by the others, who may wait for ever then.
    let is_mortal = weather.long_outages > 0
        || !weather.pauses_every.is_zero()
        || !weather.deaths_every.is_zero()
        || weather.cancelled > 0;
    let end = Instant::now() + DEADLINE;
    let book = Arc::new(Mutex::new(Rounds::new(rounds)));
    let everybody = Everybody::new(service, quantity, telling);
    let members = (0..quantity).map(|number| {
        let member = Member {
            number,
            quantity,
            rounds,
            service: service.clone(),
            dice: Dice::new(dice.between(0, u64::MAX), "member"),
            cancelled: weather.cancelled,
            everybody: everybody.clone(),
            book: Arc::clone(&book),
            telling: telling.clone(),
        };
        tokio::spawn(member.work(make))
    });
    let members: Vec<_> = members.collect();
    let tasks = members.iter().map(|task| task.abort_handle()).collect();
    tokio::spawn(everybody.clone().befall(tasks, dice, weather.clone(), |_| {}, |_| {}));

    let (mut sessions, mut stuck) = (Vec::new(), Vec::new());
    for (number, mut member) in members.into_iter().enumerate() {
        match timeout_at(end, &mut member).await {
            Ok(Ok(session)) => sessions.extend(session),
            Ok(Err(error)) if error.is_cancelled() => {}
            Ok(Err(error)) => telling.violation(|| format!("member {number} panicked: {error}")),
            Err(_) => {
                // Several short outages may add up to the end of a session.
                if !is_mortal && !(0..quantity).any(|other| everybody.is_gone(other)) {
                    telling.violation(|| format!("member {number} waits for ever"));
                }
                // Whoever is missed, the barrier has been opened, and it stays open as long as this one's entry stands.
                let before = book.lock().unwrap_or_else(PoisonError::into_inner).stands_before(number);
                if let Some(round) = before.filter(|_| !everybody.is_gone(number)) {
                    telling.violation(|| format!("member {number} is never let into round {round}, which others were"));
                }
                stuck.push(member);
            }
        }
    }
    // All at once: the end of one would let others go on.
    stuck.iter().for_each(|member| member.abort());
    for member in stuck {
        // It is cancelled; an error is what that answers.
        let _ = member.await;
    }
    let watches = if kind == Kind::LeavesItsWatch { quantity } else { 0 };
    // Where all die inside, nobody is left to close the barrier.
    let is_mortal = is_mortal || (0..quantity).any(|other| everybody.is_gone(other));
    let entries = if is_mortal { vec!["/ready".to_owned()] } else { Vec::new() };
    left_nothing(service, sessions, &Remains { entries, watches }, telling).await;
}

struct Member<S> {
    number: usize,
    quantity: usize,
    rounds: usize,
    service: S,
    dice: Dice,
    cancelled: u32,
    everybody: Everybody<S>,
    book: Arc<Mutex<Rounds>>,
    telling: Telling,
}

impl<S: Service> Member<S> {
    fn book(&self) -> MutexGuard<'_, Rounds> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes all rounds, or gives up in one, and hands the session back; `None` where it was lost.
    async fn work<B: DoubleBarrier>(mut self, make: Make<S, B>) -> Option<S::Session> {
        let session = self.service.open().await;
        let key = S::key(&session);
        self.everybody.comes(self.number, &session);
        let mut barrier = make(session.clone(), self.quantity as u32);
        for round in 0..self.rounds {
            let error = match self.pass(key, &mut barrier, round).await {
                Ok(true) => continue,
                Ok(false) => break,
                Err(error) => error,
            };
            self.telling.note(|| format!("member {}: {error}", self.number));
            self.everybody.goes(self.number);
            match error {
                RecipeError::SessionLost(_) => self.telling.loss(),
                // The servers have ended the session, and the session does not know it yet.
                RecipeError::EntryVanished(_) if self.service.is_over(key) => self.telling.loss(),
                error => self.telling.violation(|| format!("member {}: {error}", self.number)),
            }
            return None;
        }
        Some(session)
    }

    /// Passes one round; `false` where it has given up.
    async fn pass<B: DoubleBarrier>(&mut self, key: i64, barrier: &mut B, round: usize) -> Result<bool, RecipeError> {
        let Member { number, quantity, .. } = *self;
        sleep(self.dice.delay(Duration::from_millis(200))).await;
        self.service.awake(key).await;
        self.telling.note(|| format!("member {number} comes to round {round}"));
        self.book().come[round].insert(number);
        let patience = match self.dice.happens(self.cancelled) {
            true => self.dice.delay(Duration::from_millis(500)),
            false => DEADLINE * 2,
        };
        let entered = timeout(patience, barrier.enter(&mut Blind)).await;
        self.service.awake(key).await;
        match entered {
            Err(_) => {
                self.telling.note(|| format!("member {number} gives up"));
                self.book().given_up.insert(number);
                return Ok(false);
            }
            Ok(Err(error)) => return Err(error),
            Ok(Ok(Entered::Inside(_))) => {}
            Ok(Ok(Entered::Refused)) => {
                self.telling.violation(|| format!("member {number} is refused in round {round}"));
                return Ok(false);
            }
        }
        self.telling.passed();
        self.telling.note(|| format!("member {number} is inside, in round {round}"));
        self.book().inside[round].insert(number);
        let come = self.book().come[round].len();
        if come < quantity {
            self.telling.violation(|| format!("member {number} is inside in round {round} with {come} of {quantity}"));
        }

        sleep(self.dice.delay(Duration::from_millis(200))).await;
        self.service.awake(key).await;
        self.telling.note(|| format!("member {number} has finished round {round}"));
        self.book().finished[round].insert(number);
        let left = barrier.leave(&mut Blind).await;
        self.service.awake(key).await;
        left?;
        self.telling.note(|| format!("member {number} is out, in round {round}"));
        let missing = {
            let book = self.book();
            let is_through = |other: &usize| book.finished[round].contains(other) || book.given_up.contains(other);
            (0..quantity).find(|other| !is_through(other) && !self.everybody.is_gone(*other))
        };
        if let Some(missing) = missing {
            self.telling
                .violation(|| format!("member {number} is out in round {round} while member {missing} is inside"));
        }
        Ok(true)
    }
}

/// Nobody looks.
pub struct Blind;

impl Witness for Blind {
    fn armed(&mut self) {}
    fn woken(&mut self) {}
}
