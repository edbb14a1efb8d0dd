//! The fleet: what it opens it closes, whatever cuts it short, and a drain goes on without those that drop out.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use workloads::access::Access;
use workloads::fleet::{Fleet, FleetError, Target};
use workloads::record::{Capacity, Outcome, Recorder};
use workloads::settings::{Mode, Recipe, Service, WorkerSettings};
use workloads::worker::Plan;
use workloads::zookeeper::session::{CreateMode, Session, SessionError};

use crate::modes::{connect, settings};
use crate::place::{PATIENCE, Place, SHORT, eventually, on_ensemble};

fn plan(settings: &WorkerSettings) -> Arc<Plan> {
    let recorder = Arc::new(Recorder::new(Capacity { length: Duration::from_secs(1), grants: 1 }, true));
    Arc::new(Plan::new(settings, Duration::from_secs(1), 1, recorder))
}

/// The steward's session alone is left, and nothing of the trial.
async fn nothing_is_left(place: &Place) {
    place.ensemble.settled(1, 0, PATIENCE).await.unwrap();
    place.steward.sync(&place.base).await.unwrap();
    assert_eq!(place.steward.data(&place.base).await.err(), Some(SessionError::NoNode));
}

#[test]
fn connecting_that_is_cancelled_half_way_closes_what_was_opened() {
    on_ensemble(async |place| {
        // Sessions of which the server's answer was still under way can be closed by nobody: they expire.
        let settings =
            WorkerSettings { session_timeout: SHORT, ..settings(Recipe::SequentialLock, 200, 1, Mode::Closed) };
        let connected = Arc::new(AtomicU32::new(0));
        let target = Target {
            service: Service::Zookeeper,
            endpoints: place.ensemble.connect_string(),
            root: place.base.clone(),
            access: Access::default(),
        };
        let half_way = eventually("some are connected", async || connected.load(Ordering::Relaxed) >= 20);
        tokio::select! {
            biased;
            () = half_way => {}
            fleet = Fleet::connect(target, &settings, plan(&settings), Arc::clone(&connected)) => {
                panic!("all were connected at once: {:?}", fleet.map(|_| ()));
            }
        }
        assert!(connected.load(Ordering::Relaxed) < 200);
        nothing_is_left(place).await;
    });
}

#[test]
fn connecting_that_fails_names_the_first_error_and_leaves_nothing() {
    on_ensemble(async |place| {
        let settings = WorkerSettings {
            session_timeout: Duration::from_millis(300),
            ..settings(Recipe::NaiveLock, 3, 1, Mode::Closed)
        };
        // A port that is taken and answers nothing.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target {
            service: Service::Zookeeper,
            endpoints: silent.local_addr().unwrap().to_string(),
            root: place.base.clone(),
            access: Access::default(),
        };
        let error = Fleet::connect(target, &settings, plan(&settings), Arc::default()).await.err().unwrap();
        assert!(matches!(error, FleetError::Connect { failed: 1.., .. }), "{error}");
        nothing_is_left(place).await;
    });
}

/// Workers that are ended while they wait remove their entries in the background, from under which the root is removed.
#[test]
fn disconnecting_in_the_middle_of_the_queue_leaves_nothing() {
    on_ensemble(async |place| {
        for recipe in [Recipe::NaiveLock, Recipe::SequentialLock] {
            let mut trial = connect(place, &settings(recipe, 40, 1, Mode::Closed)).await;
            trial.fleet.start();
            eventually("grants", async || trial.recorder.acquisition_count() >= 10).await;
            trial.fleet.finish(1).await;
            trial.fleet.disconnect().await.unwrap();
            nothing_is_left(place).await;
        }
    });
}

#[test]
fn a_fleet_that_is_dropped_while_it_works_leaves_no_session_and_no_watch() {
    on_ensemble(async |place| {
        let trial = connect(place, &settings(Recipe::SequentialLock, 20, 1, Mode::Closed)).await;
        trial.fleet.start();
        eventually("grants", async || trial.recorder.acquisition_count() >= 10).await;
        drop(trial);
        place.ensemble.settled(1, 0, PATIENCE).await.unwrap();
    });
}

/// An entry that somebody removes costs its worker the acquisition, and nobody else anything.
#[test]
fn a_drain_goes_on_without_a_worker_that_lost_its_entry() {
    on_ensemble(async |place| {
        const WORKERS: u32 = 10;
        let mut trial = connect(place, &settings(Recipe::SequentialLock, WORKERS, 1, Mode::Drain)).await;
        let queue = format!("{}/lock-0", trial.root);
        // In front of all, so that nobody is granted before the entry is gone.
        let first =
            place.steward.create(&format!("{queue}/lock-"), CreateMode::EphemeralSequential, b"").await.unwrap();
        trial.fleet.start();
        place.watched(u64::from(WORKERS)).await;
        place.steward.sync(&queue).await.unwrap();
        let mut entries = place.steward.children(&queue).await.unwrap();
        entries.sort_by_key(|entry| workloads::zookeeper::names::sequence(entry, "lock-"));
        place.steward.delete(&format!("{queue}/{}", entries[4])).await.unwrap();
        eventually("the successor watches another", async || trial.recorder.tally().total_notifications() == 1).await;
        place.watched(u64::from(WORKERS)).await;
        place.steward.delete(&first.path).await.unwrap();
        eventually("all are done", async || trial.fleet.done() == WORKERS).await;
        let recording = trial.fleet.finish(trial.recorder.now()).await;
        let count = |outcome| recording.acquisitions.iter().filter(|entry| entry.outcome == outcome).count();
        assert_eq!((count(Outcome::Released), count(Outcome::Failed)), (WORKERS as usize - 1, 1));
        assert_eq!(trial.recorder.standing_watches(), 0);
        trial.fleet.disconnect().await.unwrap();
        nothing_is_left(place).await;
    });
}
