//! The single barrier on etcd.
use workloads::etcd::SingleBarrier;
use workloads::etcd::session::Session;
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::SingleBarrier as _;

use super::super::support::{etcdctl, eventually, revoke, session_at, three_nodes};
use super::BASE;
use crate::rounds::{Held, Told, cut_off, waiting, waiting_as};

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_where_no_barrier_stands_and_no_watch_is_left() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let mut barrier = SingleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE);
    barrier.wait(&mut told.clone()).await.unwrap();
    barrier.set().await.unwrap();
    barrier.set().await.unwrap();
    cut_off(barrier.wait(&mut told.clone()), &told).await;
    eventually("no watch", async || ensemble.counters().await.is_ok_and(|counters| counters.watches == 0)).await;
    barrier.remove().await.unwrap();
    barrier.remove().await.unwrap();
    assert_eq!(etcdctl(&ensemble, &["get", "--prefix", BASE]), "");
    barrier.wait(&mut told.clone()).await.unwrap();
    assert_eq!(told.woken(), 0);
    drop(barrier);
    ensemble.stop().await.unwrap();
}

/// etcd PR #16223: a wait hangs after the release when another put came first.
#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_comes_first_does_not_use_up_the_watch() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let mut controller = SingleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE);
    controller.set().await.unwrap();
    let waiter = waiting(SingleBarrier::new(session_at(&ensemble.connect_string(), 1).await, BASE), &told);
    told.settled(0, 1).await;
    etcdctl(&ensemble, &["put", BASE, "once more"]);
    assert!(!waiter.is_over());
    controller.remove().await.unwrap();
    waiter.done().await;
    assert_eq!(told.woken(), 1);
    ensemble.stop().await.unwrap();
}

/// Whoever looks late finds the next barrier, which is not the one that it waits for.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_waiter_is_not_held_back_by_a_barrier_that_was_set_anew() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let mut controller = SingleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE);
    controller.set().await.unwrap();
    let (go_on, held) = Held::new(&told);
    let waiter = waiting_as(SingleBarrier::new(session_at(&ensemble.connect_string(), 1).await, BASE), held);
    told.settled(0, 1).await;
    controller.remove().await.unwrap();
    controller.set().await.unwrap();
    go_on.send(()).unwrap();
    waiter.done().await;
    controller.remove().await.unwrap();
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_dies_with_its_lease_is_an_error() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let mut controller = SingleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE);
    controller.set().await.unwrap();
    let session = session_at(&ensemble.connect_string(), 1).await;
    let lease = session.lease();
    let waiter = waiting(SingleBarrier::new(session, BASE), &told);
    told.settled(0, 1).await;
    revoke(&ensemble, lease);
    let (_, outcome) = waiter.outcome().await;
    assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
    // The barrier is nobody's: it has outlived a lease, and outlives its setter's.
    drop(controller);
    assert!(etcdctl(&ensemble, &["get", BASE, "--keys-only"]).contains(BASE));
    ensemble.stop().await.unwrap();
}
