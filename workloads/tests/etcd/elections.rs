//! etcd's election beyond the verbs of a lock, as the weather is: campaign, proclaim, resign, observe.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use workloads::chaos::{self, Dice, Trace, Weather};
use workloads::etcd::Election;
use workloads::etcd::election::Leader;
use workloads::etcd::memory::{Ensemble, MemorySession, Settings};
use workloads::recipe::{Observer, RecipeError};

const BASE: &str = "/elected";
/// How many candidates there are.
const CANDIDATES: u64 = 3;
/// How often each of them leads.
const ROUNDS: u64 = 3;

struct Deaf;

impl Observer for Deaf {
    fn enqueued(&mut self) {}
    fn woken(&mut self) {}
}

async fn connect(ensemble: &Ensemble) -> MemorySession {
    loop {
        if let Ok(session) = ensemble.connect().await {
            return session;
        }
    }
}

/// The order of things: who leads by which token, and what it proclaims, as the leaders know it.
type Known = Vec<(i64, String)>;

/// Leads, proclaims, and resigns, until it has done so often enough, or its session is over.
async fn candidate(
    session: MemorySession,
    number: u64,
    mut dice: Dice,
    book: Arc<Mutex<Known>>,
) -> Result<(), RecipeError> {
    let mut election = Election::new(session, BASE);
    for round in 0..ROUNDS {
        sleep(dice.delay(Duration::from_millis(100))).await;
        let value = |step: u64| format!("{number}, round {round}, step {step}");
        let leadership = election.campaign(value(0).as_bytes(), &mut Deaf).await?;
        book.lock().unwrap().push((leadership.token, value(0)));
        for step in 1..=dice.between(0, 2) {
            sleep(dice.delay(Duration::from_millis(50))).await;
            election.proclaim(&leadership, value(step).as_bytes()).await?;
            book.lock().unwrap().push((leadership.token, value(step)));
        }
        election.resign(leadership).await?;
    }
    Ok(())
}

/// Plays a seed. What the leaders know, and what somebody has been told who listened from the beginning to the end; nothing
/// where its session did not last so long.
fn observed(seed: u64) -> Option<(Known, Vec<Option<Leader>>)> {
    chaos::run(seed, || async move {
        let mut dice = Dice::new(seed, "elections");
        let weather =
            Weather { deaths_every: Duration::ZERO, long_outages: 0, late_requests: 0, ..Weather::drawn(&mut dice) };
        let ensemble = Ensemble::start(seed, Settings::new(weather), Trace::off());
        let listening = Election::new(connect(&ensemble).await, BASE);
        let mut observation = listening.observe();
        let mut told = vec![observation.next().await.unwrap()];
        let book = Arc::new(Mutex::new(Known::new()));
        let mut candidates = Vec::new();
        for number in 0..CANDIDATES {
            let dice = Dice::new(dice.between(0, u64::MAX), "candidate");
            candidates.push(tokio::spawn(candidate(connect(&ensemble).await, number, dice, Arc::clone(&book))));
        }
        // Long enough for all of them, and for the observer's connection to come back.
        while let Ok(next) = timeout(Duration::from_secs(60), observation.next()).await {
            match next {
                Ok(leader) => told.push(leader),
                Err(RecipeError::SessionLost(_)) => return None,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        for candidate in candidates {
            match candidate.await.unwrap() {
                // In weather as bad as this a lease may end by several outages in a row.
                Ok(()) | Err(RecipeError::SessionLost(_) | RecipeError::EntryVanished(_)) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        assert_eq!(told.last(), Some(&listening.leader().await.ok()?), "seed {seed}");
        let book = std::mem::take(&mut *book.lock().unwrap());
        Some((book, told))
    })
}

/// Whoever listens is told each leader and each proclamation, in order, whatever becomes of connections meanwhile.
#[test]
fn an_observer_is_told_everything_in_order() {
    let mut full = 0;
    for seed in 0..200 {
        let Some((known, told)) = observed(seed) else { continue };
        assert_eq!(told[0], None, "seed {seed}");
        assert!(told.windows(2).all(|pair| pair[0] != pair[1]), "seed {seed}: {told:?}");
        let told: Vec<(i64, String)> =
            told.into_iter().flatten().map(|leader| (leader.token, String::from_utf8(leader.value).unwrap())).collect();
        assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0), "seed {seed}: {told:?}");
        // What a leader has said and not heard of any more may have been told as well.
        let mut rest = told.iter();
        for step in &known {
            assert!(rest.any(|other| other == step), "seed {seed}: {step:?} is not told, or out of order: {told:?}");
        }
        full += usize::from(known.len() as u64 >= CANDIDATES * ROUNDS);
    }
    assert!(full > 100, "{full}");
}
