//! The single barrier on ZooKeeper.
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::SingleBarrier as _;
use workloads::zookeeper::SingleBarrier;
use workloads::zookeeper::session::Session;

use crate::place::{on_ensemble, within};
use crate::rounds::{Held, Told, cut_off, waiting, waiting_as};

#[test]
fn nobody_waits_where_no_barrier_stands_and_no_watch_is_left() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut barrier = SingleBarrier::new(place.session().await, &place.base);
        within(barrier.wait(&mut told.clone())).await.unwrap();
        barrier.set().await.unwrap();
        barrier.set().await.unwrap();
        cut_off(barrier.wait(&mut told.clone()), &told).await;
        place.watched(0).await;
        barrier.remove().await.unwrap();
        barrier.remove().await.unwrap();
        within(barrier.wait(&mut told.clone())).await.unwrap();
        assert_eq!(told.woken(), 0);
    });
}

/// Whoever looks late finds the next barrier, which is not the one that it waits for.
#[test]
fn a_late_waiter_is_not_held_back_by_a_barrier_that_was_set_anew() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut controller = SingleBarrier::new(place.session().await, &place.base);
        controller.set().await.unwrap();
        let (session, (go_on, held)) = (place.session().await, Held::new(&told));
        let waiter = waiting_as(SingleBarrier::new(session.clone(), &place.base), held);
        told.settled(0, 1).await;
        controller.remove().await.unwrap();
        controller.set().await.unwrap();
        // Where its node lags it would find none at all.
        session.sync(&place.base).await.unwrap();
        go_on.send(()).unwrap();
        waiter.done().await;
        place.watched(0).await;
        controller.remove().await.unwrap();
    });
}

/// A write of the barrier wakes a waiter as well, and does not release it.
#[test]
fn a_wake_up_alone_is_no_release() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut controller = SingleBarrier::new(place.session().await, &place.base);
        controller.set().await.unwrap();
        let waiter = waiting(SingleBarrier::new(place.session().await, &place.base), &told);
        told.settled(0, 1).await;
        place.steward.set_data(&place.base, b"still here").await.unwrap();
        told.settled(1, 1).await;
        assert!(!waiter.is_over());
        controller.remove().await.unwrap();
        waiter.done().await;
    });
}

#[test]
fn a_watch_that_dies_with_its_session_is_an_error() {
    on_ensemble(async |place| {
        let told = Told::default();
        let mut controller = SingleBarrier::new(place.session().await, &place.base);
        controller.set().await.unwrap();
        let (proxy, client) = crate::death::mortal(place).await;
        let waiter = waiting(SingleBarrier::new(client, &place.base), &told);
        told.settled(0, 1).await;
        proxy.sever();
        let (_, outcome) = waiter.outcome().await;
        assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
        controller.remove().await.unwrap();
    });
}
