//! Who passed early, and how far the members came apart.
use std::time::Duration;

use workloads::settings::{Delay, Precautions};

use super::*;

const MS: u64 = 1_000_000;

fn settings(recipe: Recipe, workers: u32, barriers: u32) -> WorkerSettings {
    WorkerSettings {
        recipe,
        workers,
        resources: 1,
        mode: Mode::Barriers { barriers, settled: false },
        hold: Delay::NONE,
        think: Delay::NONE,
        auto_requeue: false,
        updates: None,
        sessions: None,
        session_timeout: Duration::from_secs(10),
        connections: None,
        connect_concurrency: 1,
        seed: 1,
        precautions: Precautions::default(),
    }
}

fn passage(worker: u32, moments: [u64; 4]) -> Passage {
    let [arrived, released, leaving, left] = moments.map(|moment| moment * MS);
    Passage { worker, arrived, released, leaving, left, ..Passage::default() }
}

fn measured(passages: &[Passage]) -> MeasuredBarriers {
    let requests = Requests { total: 24, response_bytes: 400, ..Requests::default() };
    measure(&settings(Recipe::DoubleBarrier, 2, 1), passages, &requests).unwrap()
}

#[test]
fn a_barrier_that_was_kept() {
    let trial = measured(&[passage(0, [1, 5, 10, 20]), passage(1, [4, 8, 15, 17])]);
    let figures = trial.figures;
    assert_eq!((figures.early_entries, figures.early_leaves), (0, 0));
    assert_eq!((figures.enters, figures.leaves), (2, 2));
    assert_eq!((figures.requests_per_operation, figures.response_bytes_per_operation), (Some(6.0), Some(100.0)));
    let millis = |micros: &Micros| micros.max() / 1_000;
    assert_eq!((millis(&trial.enter_skew), millis(&trial.leave_skew)), (3, 3));
    assert_eq!((millis(&trial.enter), millis(&trial.leave)), (4, 10));
    // 19 ms and 13 ms.
    assert!((figures.client_seconds.unwrap() - 0.016).abs() < 1e-9);
    assert_eq!(trial.door.len(), 2);
    assert_eq!(trial.door[1].released_ms, Some(7.0));
}

#[test]
fn whoever_is_through_before_the_last_has_come_is_early() {
    let figures = measured(&[passage(0, [1, 3, 10, 14]), passage(1, [4, 8, 15, 17])]).figures;
    assert_eq!((figures.early_entries, figures.early_leaves), (1, 1));
}

#[test]
fn whoever_is_through_although_one_never_came_is_early() {
    let figures = measured(&[passage(0, [1, 3, 10, 14])]).figures;
    assert_eq!((figures.early_entries, figures.early_leaves), (1, 1));
    // One that has come and is not through yet holds nobody to account.
    let figures = measured(&[passage(0, [1, 5, 0, 0]), passage(1, [2, 0, 0, 0])]).figures;
    assert_eq!((figures.early_entries, figures.early_leaves), (0, 0));
}

#[test]
fn the_closed_forms_of_a_hundred_members() {
    use workloads::settings::Service::{Etcd, Zookeeper};
    let form = |recipe, service| {
        let mode = Mode::Barriers { barriers: 3, settled: true };
        closed_form::notifications(service, &WorkerSettings { mode, ..settings(recipe, 100, 3) }).unwrap() / 3
    };
    assert_eq!((form(Recipe::SingleBarrier, Zookeeper), form(Recipe::SingleBarrier, Etcd)), (99, 99));
    assert_eq!((form(Recipe::DoubleBarrier, Zookeeper), form(Recipe::DoubleBarrier, Etcd)), (199, 198));
    assert_eq!((form(Recipe::NaiveDoubleBarrier, Zookeeper), form(Recipe::NaiveDoubleBarrier, Etcd)), (10_000, 9_900));
    assert_eq!(closed_form::notifications(Zookeeper, &settings(Recipe::DoubleBarrier, 100, 3)), None);
}
