//! The ensemble in memory is faithful: the same operations, one after the other from several sessions, give the same answers
//! and the same notifications as on three real servers.
//!
//! Each operation comes after a sync of its session, and after each one all sessions sync: a session has been notified then
//! of all that it watched and that happened, on either side, so that it is known which operation caused which notification.
//! What cannot be the same is told by its order: transaction ids, and sessions by their numbers.
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use workloads::chaos::{self, Trace, Weather};
use workloads::record::EventKind;
use workloads::zookeeper::memory::{Ensemble, Settings};
use workloads::zookeeper::parents;
use workloads::zookeeper::session::{CreateMode, Session, SessionError, Stat, Watch};

use crate::place::{PATIENCE, eventually, on_ensemble_of};

const SESSIONS: usize = 4;
const STEPS: usize = 300;
const SEEDS: [u64; 3] = [1, 2, 3];

#[derive(Clone, Debug)]
enum Step {
    Create(String, CreateMode),
    Delete(String),
    SetData(String),
    Exists(String, bool),
    Data(String, bool),
    Children(String, bool),
    /// The session is closed, and another one opened in its stead.
    Close,
}

/// What a seed asks, and of which session.
fn steps(seed: u64) -> Vec<(usize, Step)> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut step = || {
        // Few names, so that they meet.
        let mut path = String::new();
        for _ in 0..rng.random_range(1..=2) {
            path.push_str(["/a", "/b"].choose(&mut rng).unwrap());
        }
        let watch = rng.random_bool(0.5);
        let modes =
            [CreateMode::Persistent, CreateMode::Container, CreateMode::Ephemeral, CreateMode::EphemeralSequential];
        let step = match rng.random_range(0..100) {
            0..40 => Step::Create(path, *modes.choose(&mut rng).unwrap()),
            40..60 => Step::Delete(path),
            60..68 => Step::SetData(path),
            68..78 => Step::Exists(path, watch),
            78..88 => Step::Data(path, watch),
            88..97 => Step::Children(path, watch),
            _ => Step::Close,
        };
        (rng.random_range(0..SESSIONS), step)
    };
    (0..STEPS).map(|_| step()).collect()
}

/// What came of it, with all that cannot be the same on both sides as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Done,
    /// The text of a refusal is the client's own, and left out.
    Refused(SessionError),
    Created(String, Stat),
    Found(Option<Stat>),
    Data(Vec<u8>, Stat),
    Children(BTreeSet<String>),
    /// A session's watch, set by this step, has fired.
    Fired(usize, usize, EventKind),
    /// So many watches stand on the servers.
    Watches(u64),
}

type Fired = Pin<Box<dyn Future<Output = Result<EventKind, SessionError>> + Send>>;

struct Player<S> {
    session: S,
    /// By the step that set it.
    watches: BTreeMap<usize, Fired>,
}

/// Carries the steps out below `base`, and tells what came of each.
async fn play<S: Session>(
    base: &str,
    steps: &[(usize, Step)],
    connect: impl AsyncFn() -> S,
    standing: impl AsyncFn() -> u64,
) -> Vec<(usize, Seen)> {
    let steward = connect().await;
    parents::make(&steward, base).await.unwrap();
    let mut players = Vec::new();
    let mut owners = BTreeMap::new();
    let mut seen = Vec::new();
    for number in 0..SESSIONS {
        players.push(join(base, number, &mut owners, &connect).await);
    }
    for (at, (number, step)) in steps.iter().enumerate() {
        if matches!(step, Step::Close) {
            let gone = players.remove(*number);
            let marker = format!("{base}/session-{}", owners[&gone.session.id()]);
            drop(gone);
            eventually("the session is closed", async || {
                steward.sync(base).await.unwrap();
                steward.exists(&marker).await.unwrap().is_none()
            })
            .await;
            players.insert(*number, join(base, SESSIONS + at, &mut owners, &connect).await);
        } else {
            let player = &mut players[*number];
            player.session.sync(base).await.unwrap();
            let (came, watch) = take(&player.session, base, step, at).await;
            player.watches.extend(watch.map(|watch| (at, watch)));
            seen.push((at, came));
        }
        for (number, player) in players.iter_mut().enumerate() {
            player.session.sync(base).await.unwrap();
            let mut context = Context::from_waker(Waker::noop());
            player.watches.retain(|set, watch| match watch.as_mut().poll(&mut context) {
                Poll::Ready(kind) => {
                    seen.push((at, Seen::Fired(number, *set, kind.unwrap())));
                    false
                }
                Poll::Pending => true,
            });
        }
    }
    seen.push((steps.len() - 1, Seen::Watches(standing().await)));
    drop(players);
    parents::remove_tree(&steward, base).await.unwrap();
    ordered(seen, &owners)
}

/// A new session, which tells by a znode of its own that it lives.
async fn join<S: Session>(
    base: &str,
    name: usize,
    owners: &mut BTreeMap<i64, usize>,
    connect: &impl AsyncFn() -> S,
) -> Player<S> {
    let session = connect().await;
    owners.insert(session.id(), name);
    // Where its server lags it does not see the base yet.
    session.create(&format!("{base}/session-{name}"), CreateMode::Ephemeral, b"").await.unwrap();
    Player { session, watches: BTreeMap::new() }
}

async fn take<S: Session>(session: &S, base: &str, step: &Step, at: usize) -> (Seen, Option<Fired>) {
    fn boxed(watch: impl Watch) -> Option<Fired> {
        Some(Box::pin(watch.fired()))
    }
    let full = |path: &String| format!("{base}{path}");
    let data = at.to_string().into_bytes();
    let outcome = match step {
        Step::Create(path, mode) => session
            .create(&full(path), *mode, &data)
            .await
            .map(|created| (Seen::Created(created.path.replace(base, ""), created.stat), None)),
        Step::Delete(path) => session.delete(&full(path)).await.map(|()| (Seen::Done, None)),
        Step::SetData(path) => session.set_data(&full(path), &data).await.map(|()| (Seen::Done, None)),
        Step::Exists(path, false) => session.exists(&full(path)).await.map(|stat| (Seen::Found(stat), None)),
        Step::Exists(path, true) => {
            session.exists_watched(&full(path)).await.map(|(stat, watch)| (Seen::Found(stat), boxed(watch)))
        }
        Step::Data(path, false) => session.data(&full(path)).await.map(|(data, stat)| (Seen::Data(data, stat), None)),
        Step::Data(path, true) => {
            session.data_watched(&full(path)).await.map(|(data, stat, watch)| (Seen::Data(data, stat), boxed(watch)))
        }
        Step::Children(path, false) => {
            session.children(&full(path)).await.map(|names| (Seen::Children(names.into_iter().collect()), None))
        }
        Step::Children(path, true) => session
            .children_watched(&full(path))
            .await
            .map(|(names, watch)| (Seen::Children(names.into_iter().collect()), boxed(watch))),
        Step::Close => Ok((Seen::Done, None)),
    };
    outcome.unwrap_or_else(|error| {
        let error = match error {
            SessionError::Refused(_) => SessionError::Refused(String::new()),
            error => error,
        };
        (Seen::Refused(error), None)
    })
}

/// With the ids of transactions and sessions told by their order.
fn ordered(mut seen: Vec<(usize, Seen)>, owners: &BTreeMap<i64, usize>) -> Vec<(usize, Seen)> {
    fn stat(seen: &mut Seen) -> Option<&mut Stat> {
        match seen {
            Seen::Created(_, stat) | Seen::Found(Some(stat)) | Seen::Data(_, stat) => Some(stat),
            _ => None,
        }
    }
    let ids: BTreeSet<i64> = seen.iter_mut().filter_map(|(_, seen)| Some(stat(seen)?.czxid)).collect();
    let ranks: BTreeMap<i64, i64> = ids.into_iter().zip(1..).collect();
    for stat in seen.iter_mut().filter_map(|(_, seen)| stat(seen)) {
        stat.czxid = ranks[&stat.czxid];
        if let Some(name) = owners.get(&stat.ephemeral_owner) {
            stat.ephemeral_owner = *name as i64 + 1;
        }
    }
    seen
}

/// The same on the ensemble in memory, whose servers lag and whose messages take their time.
fn in_memory(seed: u64, base: &str, steps: &[(usize, Step)]) -> Vec<(usize, Seen)> {
    let ms = Duration::from_millis;
    chaos::run(seed, || async move {
        let weather = Weather { delay: ms(10), lag: ms(100), ..Weather::STILL };
        let settings = Settings { reap_after: Duration::ZERO, ..Settings::new(weather) };
        let ensemble = Ensemble::start(seed, settings, Trace::off());
        let connect = async || {
            let session = ensemble.connect();
            session.sync("/").await.unwrap();
            session
        };
        play(base, steps, connect, async || ensemble.counters().watches as u64).await
    })
}

#[test]
fn the_ensemble_in_memory_answers_and_notifies_as_three_real_servers_do() {
    // Containers are removed by neither side meanwhile.
    on_ensemble_of(3, &["-Dznode.container.checkIntervalMs=3600000"], async |place| {
        for seed in SEEDS {
            let (steps, base) = (steps(seed), format!("{}/{seed}", place.base));
            let standing = async || place.ensemble.counters_at_rest(PATIENCE).await.unwrap().watches;
            let real = play(&base, &steps, async || place.session().await, standing).await;
            // A run has a runtime of its own, and so a thread.
            let played = (steps.clone(), base);
            let memory = std::thread::spawn(move || in_memory(seed, &played.1, &played.0)).join().unwrap();
            let fired = real.iter().filter(|(_, seen)| matches!(seen, Seen::Fired(..))).count();
            assert!(real.len() > STEPS && fired > 20, "the steps meet: {fired} notifications");
            for (real, memory) in real.iter().zip(&memory) {
                assert_eq!(real, memory, "seed {seed}: {:?}", steps[real.0]);
            }
            assert_eq!(real.len(), memory.len(), "seed {seed}");
        }
    });
}
