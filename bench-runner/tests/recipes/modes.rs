//! Whole trials: a drain, a closed loop and an open one, and whether the books agree.
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bench_runner::ensemble::Counters;
use workloads::access::Access;
use workloads::fleet::{Fleet, Target};
use workloads::recipe::Lock;
use workloads::record::{Acquisition, Capacity, EventKind, Outcome, Recorder, Recording, RequestKind};
use workloads::settings::{Arrivals, Delay, Mode, Precautions, Recipe, Service, WorkerSettings};
use workloads::worker::Plan;
use workloads::zookeeper::NaiveLock;
use workloads::zookeeper::session::{Session, SessionError};

use crate::place::{LONG, PATIENCE, Place, acquire, eventually, on_ensemble};

pub fn settings(recipe: Recipe, workers: u32, resources: u32, mode: Mode) -> WorkerSettings {
    WorkerSettings {
        recipe,
        workers,
        resources,
        mode,
        hold: Delay::NONE,
        think: Delay::NONE,
        auto_requeue: false,
        updates: None,
        sessions: None,
        session_timeout: LONG,
        connections: None,
        connect_concurrency: 16,
        seed: 7,
        precautions: Precautions::default(),
    }
}

/// The parts of a trial that is about to start.
pub struct Trial {
    pub recorder: Arc<Recorder>,
    pub plan: Arc<Plan>,
    pub fleet: Fleet,
    pub root: String,
}

/// The longest that a trial here is planned to take.
const LENGTH: Duration = Duration::from_secs(60);

pub async fn connect(place: &Place, settings: &WorkerSettings) -> Trial {
    let recorder = Arc::new(Recorder::new(Capacity { length: LENGTH, grants: 1 << 16 }, true));
    let plan = Arc::new(Plan::new(settings, LENGTH, settings.seed, Arc::clone(&recorder)));
    let root = place.base.clone();
    let target = Target {
        service: Service::Zookeeper,
        endpoints: place.ensemble.connect_string(),
        root: root.clone(),
        access: Access::default(),
    };
    let fleet = Fleet::connect(target, settings, Arc::clone(&plan), Arc::default()).await.unwrap();
    Trial { recorder, plan, fleet, root }
}

/// What a trial left in the books.
pub struct Books {
    pub recording: Recording,
    pub counters: Counters,
    pub arrivals_left: u64,
}

impl Trial {
    /// Runs the trial until `over`, and closes the books as the runner does.
    pub async fn run(mut self, place: &Place, over: impl AsyncFn(&Trial) -> bool) -> Books {
        let before = place.ensemble.counters_at_rest(PATIENCE).await.unwrap();
        self.fleet.start();
        eventually("the trial is over", async || over(&self).await).await;
        let length = self.recorder.now();
        self.fleet.stop();
        assert!(self.fleet.come_to_rest(PATIENCE).await);
        let after = place.ensemble.counters_at_rest(PATIENCE).await.unwrap();
        assert_eq!(self.fleet.failures(), BTreeMap::new());
        let arrivals_left = self.plan.arrivals_left(length);
        let recording = self.fleet.finish(length).await;
        self.fleet.disconnect().await.unwrap();
        place.steward.sync(&self.root).await.unwrap();
        assert_eq!(place.steward.data(&self.root).await.err(), Some(SessionError::NoNode));
        Books { recording, counters: after.since(&before).unwrap(), arrivals_left }
    }
}

/// No two grants of one lock overlap, and tokens rise from grant to grant. Hands back the grants in their order, by lock.
fn in_order(recording: &Recording) -> BTreeMap<u32, Vec<Acquisition>> {
    let mut by_lock: BTreeMap<u32, Vec<Acquisition>> = BTreeMap::new();
    for acquisition in recording.acquisitions.iter().filter(|acquisition| acquisition.is_granted()) {
        by_lock.entry(acquisition.resource).or_default().push(*acquisition);
    }
    for grants in by_lock.values_mut() {
        grants.sort_by_key(|grant| grant.granted);
        for pair in grants.windows(2) {
            assert_eq!(pair[0].outcome, Outcome::Released, "{pair:?}");
            assert!(pair[0].release_sent <= pair[1].granted, "overlap: {pair:?}");
            assert!(pair[0].token < pair[1].token, "{pair:?}");
        }
        for grant in grants.iter() {
            assert!(grant.due <= grant.called && grant.called <= grant.enqueued, "{grant:?}");
            assert!(grant.enqueued <= grant.granted && grant.woken <= grant.granted, "{grant:?}");
        }
    }
    by_lock
}

/// The three books of a drain, and the fan-out of each of its releases.
async fn drain(place: &Place, recipe: Recipe, workers: u32, locks: u32, fan_out: impl Fn(usize, usize) -> u32) {
    let trial = connect(place, &settings(recipe, workers, locks, Mode::Drain)).await;
    let books = trial.run(place, async |trial| trial.fleet.done() == workers).await;
    let by_lock = in_order(&books.recording);
    assert_eq!(by_lock.len(), locks as usize);
    let caused: BTreeMap<i64, u32> =
        books.recording.fan_out.iter().map(|instance| (instance.token, instance.notifications)).collect();
    let mut expected = 0;
    for (lock, grants) in by_lock {
        let members = (0..workers).filter(|worker| worker % locks == lock).count();
        let granted: HashSet<u32> = grants.iter().map(|grant| grant.worker).collect();
        assert_eq!((grants.len(), granted.len()), (members, members));
        for (nth, grant) in (1..).zip(&grants) {
            let caused = caused.get(&grant.token).copied().unwrap_or_default();
            assert_eq!(caused, fan_out(members, nth), "release {nth} of {members}");
            expected += u64::from(caused);
        }
    }
    let tally = &books.recording.tally;
    assert_eq!(tally.notifications[EventKind::Deleted as usize], expected);
    assert_eq!(tally.total_notifications(), expected);
    let servers = books.counters.notifications.unwrap();
    assert_eq!((servers.kinds.unwrap().deleted, servers.total), (expected, expected));
    assert_eq!(tally.requests[RequestKind::Delete as usize], u64::from(workers));
    assert_eq!(books.counters.watches, 0);
    assert_eq!(books.recording.untracked, 0);
}

fn herd(members: usize, nth: usize) -> u32 {
    u32::try_from(members - nth).unwrap()
}

fn one(members: usize, nth: usize) -> u32 {
    u32::from(nth < members)
}

#[test]
fn a_drain_of_50_naive_workers_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::NaiveLock, 50, 1, herd).await);
}

#[test]
fn a_drain_of_50_sequential_workers_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::SequentialLock, 50, 1, one).await);
}

#[test]
fn a_drain_of_40_naive_workers_over_3_locks_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::NaiveLock, 40, 3, herd).await);
}

#[test]
fn a_drain_of_40_sequential_workers_over_3_locks_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::SequentialLock, 40, 3, one).await);
}

#[test]
fn a_drain_of_50_naive_candidates_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::NaiveElection, 50, 1, herd).await);
}

#[test]
fn a_drain_of_50_leader_latches_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::LeaderLatch, 50, 1, one).await);
}

#[test]
fn a_drain_of_50_leader_selectors_costs_what_the_closed_form_says() {
    on_ensemble(async |place| drain(place, Recipe::LeaderSelector, 50, 1, one).await);
}

async fn closed(place: &Place, recipe: Recipe) {
    const GRANTS: usize = 150;
    let trial = connect(place, &settings(recipe, 12, 2, Mode::Closed)).await;
    let books = trial.run(place, async |trial| trial.recorder.acquisition_count() >= GRANTS).await;
    let by_lock = in_order(&books.recording);
    assert_eq!(by_lock.len(), 2);
    assert!(by_lock.values().map(Vec::len).sum::<usize>() >= GRANTS);
    let notified = books.recording.tally.total_notifications();
    assert!(notified > 0);
    assert_eq!(notified, books.counters.notifications.unwrap().total);
    let caused: u64 = books.recording.fan_out.iter().map(|instance| u64::from(instance.notifications)).sum();
    assert_eq!((caused, books.recording.untracked), (notified, 0));
    // Whoever is granted in the end keeps its lock, and those behind it are written down as waiting.
    let count = |outcome| books.recording.acquisitions.iter().filter(|entry| entry.outcome == outcome).count();
    assert_eq!((count(Outcome::Held), count(Outcome::Failed)), (2, 0));
    assert!((1..=10).contains(&count(Outcome::Waiting)), "{:?}", books.recording.acquisitions);
}

#[test]
fn the_books_of_a_closed_loop_of_naive_workers_agree() {
    on_ensemble(async |place| closed(place, Recipe::NaiveLock).await);
}

#[test]
fn the_books_of_a_closed_loop_of_sequential_workers_agree() {
    on_ensemble(async |place| closed(place, Recipe::SequentialLock).await);
}

#[test]
fn the_books_of_a_closed_loop_of_every_election_agree() {
    on_ensemble(async |place| {
        for recipe in [Recipe::NaiveElection, Recipe::LeaderLatch, Recipe::LeaderSelector] {
            closed(place, recipe).await;
        }
    });
}

/// Somebody blocks the lock: two workers wait in it, what falls due meanwhile is left over, and the wait of those that
/// come after counts from the moment at which they were due.
#[test]
fn arrivals_of_an_open_loop_are_timed_from_the_moment_they_are_due() {
    on_ensemble(async |place| {
        const RATE: f64 = 200.0;
        const DUE_WHILE_BLOCKED: u64 = 40;
        let mode = Mode::Open(Arrivals::Constant(RATE));
        let trial = connect(place, &settings(Recipe::NaiveLock, 2, 1, mode)).await;
        let mut blocker = NaiveLock::new(place.session().await, &format!("{}/lock-0", trial.root));
        let mut grant = Some(acquire(&mut blocker).await);
        let blocker = tokio::sync::Mutex::new(&mut blocker);
        let grant = tokio::sync::Mutex::new(&mut grant);
        let schedule = Arrivals::Constant(RATE).schedule(LENGTH, &mut rand::rng());
        let books = trial
            .run(place, async |trial| {
                if trial.plan.arrivals_left(trial.recorder.now()) >= DUE_WHILE_BLOCKED
                    && let Some(grant) = grant.lock().await.take()
                {
                    // Nobody has been granted before, and two have been taken up.
                    assert_eq!(trial.recorder.acquisition_count(), 0);
                    blocker.lock().await.release(grant).await.unwrap();
                }
                trial.recorder.acquisition_count() >= 10
            })
            .await;
        in_order(&books.recording);
        let mut acquisitions = books.recording.acquisitions.clone();
        acquisitions.sort_by_key(|acquisition| acquisition.due);
        // Each arrival is taken up once, in its turn, and what is left over are the others.
        for (acquisition, due) in acquisitions.iter().zip(&schedule) {
            assert_eq!(acquisition.due, *due);
            assert!(acquisition.due <= acquisition.called, "{acquisition:?}");
        }
        let fell_due = schedule.iter().filter(|due| **due < books.recording.length).count() as u64;
        assert_eq!(acquisitions.len() as u64 + books.arrivals_left, fell_due);
        // The third arrival was due while the lock was blocked, and was called when it no longer was.
        let first = acquisitions.iter().filter(|acquisition| acquisition.is_granted()).map(|entry| entry.granted).min();
        let first = first.unwrap();
        assert!(acquisitions[2].due < first && acquisitions[2].called >= first, "{first} {:?}", acquisitions[2]);
    });
}
