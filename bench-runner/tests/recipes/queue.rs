//! What a waiter does between its request and its grant.
use workloads::recipe::{Lock, RecipeError};
use workloads::zookeeper::session::{Session, SessionError};
use workloads::zookeeper::{NaiveLock, SequentialLock};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{Notes, acquire, acquiring, on_ensemble, within};

#[test]
fn a_grant_follows_the_check_of_ownership_that_follows_the_last_wake_up() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        let waiter = acquiring(SequentialLock::new(session.clone(), &place.base));
        place.watched(1).await;
        holder.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::Children, Op::DataWatched, Op::Fired, Op::Children]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_naive_grant_follows_a_create_that_follows_the_last_wake_up() {
    on_ensemble(async |place| {
        let mut holder = NaiveLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        let waiter = acquiring(NaiveLock::new(session.clone(), &place.base));
        place.watched(1).await;
        holder.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::DataWatched, Op::Fired, Op::Create]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

/// Between the wake-up and the check the own entry goes, as it does with a session that expires.
#[test]
fn a_waiter_whose_entry_vanished_is_not_granted() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let (steward, base) = (place.steward.clone(), place.base.clone());
        session.on(
            Op::Children,
            1,
            Fault::after(async move |base_again| {
                assert_eq!(base_again, base);
                steward.sync(&base).await.unwrap();
                for entry in steward.children(&base).await.unwrap() {
                    steward.delete(&format!("{base}/{entry}")).await.unwrap();
                }
                inner.sync(&base).await.unwrap();
            }),
        );
        let waiter = acquiring(SequentialLock::new(session, &place.base));
        place.watched(1).await;
        let entries = place.entries().await;
        holder.release(grant).await.unwrap();
        let (_waiter, outcome, _) = within(waiter).await.unwrap();
        assert_eq!(outcome, Err(RecipeError::EntryVanished(format!("{}/{}", place.base, entries[1]))));
        place.left_clean().await;
    });
}

/// As above, and the container that held the queue went as well.
#[test]
fn a_waiter_whose_queue_vanished_is_not_granted() {
    on_ensemble(async |place| {
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let steward = place.steward.clone();
        session.on(
            Op::Children,
            0,
            Fault::after(async move |base| {
                workloads::zookeeper::parents::remove_tree(&steward, &base).await.unwrap();
                inner.sync(&base).await.unwrap();
            }),
        );
        let (_waiter, outcome, _) = within(acquiring(SequentialLock::new(session, &place.base))).await.unwrap();
        assert!(
            matches!(&outcome, Err(RecipeError::EntryVanished(path)) if path.starts_with(&place.base)),
            "{outcome:?}"
        );
        place.left_clean().await;
    });
}

#[test]
fn a_predecessor_that_vanishes_before_it_is_watched_makes_the_waiter_list_again_at_once() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let steward = place.steward.clone();
        session.on(
            Op::DataWatched,
            0,
            Fault::after(async move |predecessor| {
                steward.delete(&predecessor).await.unwrap();
                inner.sync(&predecessor).await.unwrap();
            }),
        );
        let (_waiter, outcome, notes) =
            within(acquiring(SequentialLock::new(session.clone(), &place.base))).await.unwrap();
        let second = outcome.unwrap();
        assert!(second.token > grant.token);
        assert_eq!(session.calls(), [Op::Create, Op::Children, Op::DataWatched, Op::Children]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        // No watch was left on what had gone.
        place.watched(0).await;
        holder.release(second).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_naive_lock_that_vanishes_before_it_is_watched_is_tried_again_at_once() {
    on_ensemble(async |place| {
        let mut holder = NaiveLock::new(place.session().await, &place.base);
        acquire(&mut holder).await;
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let steward = place.steward.clone();
        session.on(
            Op::DataWatched,
            0,
            Fault::after(async move |lock| {
                steward.delete(&lock).await.unwrap();
                inner.sync(&lock).await.unwrap();
            }),
        );
        let (mut waiter, outcome, notes) =
            within(acquiring(NaiveLock::new(session.clone(), &place.base))).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::DataWatched, Op::Create]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        place.watched(0).await;
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn the_data_watch_leaves_no_watch_on_a_missing_znode_and_exists_does() {
    on_ensemble(async |place| {
        let session = place.session().await;
        assert_eq!(session.data_watched(&place.base).await.err(), Some(SessionError::NoNode));
        // The reply comes after the watch, so it stands by now if it ever will.
        assert_eq!(place.ensemble.counters().await.unwrap().watches, 0);
        let (stat, watch) = session.exists_watched(&place.base).await.unwrap();
        assert_eq!((stat, place.ensemble.counters().await.unwrap().watches), (None, 1));
        // A watch that is dropped is taken back.
        drop(watch);
        place.watched(0).await;
    });
}

/// Both of the session's reads are answered in the end, however often the connection breaks.
#[test]
fn a_waiter_outlives_broken_connections() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        for nth in [0, 1, 3] {
            session.on(Op::Children, nth, Fault::LostReply);
            session.on(Op::DataWatched, nth, Fault::LostReply);
        }
        let waiter = acquiring(SequentialLock::new(session.clone(), &place.base));
        place.watched(1).await;
        holder.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}
