//! An acquire that is dropped, as a time-out does, leaves nothing behind, in whatever it was.
use std::task::Poll;

use workloads::recipe::Lock;
use workloads::zookeeper::session::Session;
use workloads::zookeeper::{NaiveLock, SequentialLock};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{Notes, acquire, acquiring, eventually, on_ensemble};

/// How often a cancellation that may hit any moment is repeated.
const ROUNDS: usize = 20;

/// Polls an acquire once, so that its first request is on its way, and drops it.
async fn begin_and_drop(lock: &mut impl Lock) {
    let mut notes = Notes::default();
    let polled = {
        let acquire = lock.acquire(&mut notes);
        tokio::pin!(acquire);
        std::future::poll_fn(|context| Poll::Ready(acquire.as_mut().poll(context))).await
    };
    // On a busy machine all replies may have come before the task looked for them: then there was nothing to cut off.
    if let Poll::Ready(outcome) = polled {
        lock.release(outcome.unwrap()).await.unwrap();
    }
}

#[test]
fn an_acquire_dropped_while_it_creates_leaves_no_entry() {
    on_ensemble(async |place| {
        let session = Faulty::new(place.session().await);
        workloads::zookeeper::parents::make(&place.steward, &place.base).await.unwrap();
        session.on(Op::Create, 0, Fault::Silent);
        let waiter = acquiring(SequentialLock::new(session.clone(), &place.base));
        place.queued(1).await;
        waiter.cancel().await;
        place.left_clean().await;
        assert!(session.calls().contains(&Op::Delete));
    });
}

#[test]
fn an_acquire_dropped_with_its_create_on_the_wire_leaves_no_entry() {
    on_ensemble(async |place| {
        workloads::zookeeper::parents::make(&place.steward, &place.base).await.unwrap();
        let session = place.session().await;
        let mut lock = SequentialLock::new(session.clone(), &place.base);
        for _ in 0..ROUNDS {
            begin_and_drop(&mut lock).await;
            // Its create is decided now, so an entry that is not removed would be found.
            session.sync(&place.base).await.unwrap();
            place.left_clean().await;
        }
    });
}

#[test]
fn an_acquire_dropped_while_it_looks_for_its_entry_leaves_none() {
    on_ensemble(async |place| {
        workloads::zookeeper::parents::make(&place.steward, &place.base).await.unwrap();
        let session = Faulty::new(place.session().await);
        session.on(Op::Create, 0, Fault::LostReply);
        session.on(Op::Children, 0, Fault::Silent);
        let waiter = acquiring(SequentialLock::new(session.clone(), &place.base));
        eventually("it looks", async || session.calls().contains(&Op::Children)).await;
        place.queued(1).await;
        waiter.cancel().await;
        place.left_clean().await;
    });
}

#[test]
fn an_acquire_dropped_while_it_waits_leaves_neither_entry_nor_watch() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = place.session().await;
        let waiter = acquiring(SequentialLock::new(session.clone(), &place.base));
        place.watched(1).await;
        waiter.cancel().await;
        assert_eq!(place.queued(1).await.len(), 1);
        place.watched(0).await;
        holder.release(grant).await.unwrap();
        place.left_clean().await;
        // The same worker may try again.
        let mut again = SequentialLock::new(session, &place.base);
        let grant = acquire(&mut again).await;
        again.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_naive_acquire_dropped_while_it_creates_leaves_no_lock() {
    on_ensemble(async |place| {
        workloads::zookeeper::parents::make(&place.steward, &place.base).await.unwrap();
        let session = Faulty::new(place.session().await);
        session.on(Op::Create, 0, Fault::Silent);
        let waiter = acquiring(NaiveLock::new(session.clone(), &place.base));
        place.queued(1).await;
        waiter.cancel().await;
        place.left_clean().await;
        assert!(session.calls().contains(&Op::Delete));
    });
}

#[test]
fn a_naive_acquire_dropped_while_it_waits_leaves_the_holder_its_lock_and_no_watch() {
    on_ensemble(async |place| {
        let mut holder = NaiveLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        let waiter = acquiring(NaiveLock::new(session.clone(), &place.base));
        place.watched(1).await;
        waiter.cancel().await;
        place.watched(0).await;
        assert_eq!(place.entries().await, ["lock"]);
        assert!(!session.calls().contains(&Op::Delete));
        holder.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

/// What the first acquire leaves to be undone has the same name and the same owner as what the second is granted.
#[test]
fn a_naive_acquire_after_a_dropped_one_keeps_its_grant() {
    on_ensemble(async |place| {
        let mut holder = NaiveLock::new(place.session().await, &place.base);
        let held = acquire(&mut holder).await;
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let (released, free) = tokio::sync::oneshot::channel();
        session.on(Op::Create, 0, Fault::Silent);
        // Before the undoing reads who owns the lock, it gives the second acquire every occasion to be granted.
        session.on(
            Op::Data,
            0,
            Fault::after(async move |path: String| {
                free.await.unwrap();
                for _ in 0..20 {
                    inner.sync(&path).await.unwrap();
                }
            }),
        );
        let mut lock = NaiveLock::new(session.clone(), &place.base);
        let mut notes = Notes::default();
        tokio::select! {
            biased;
            () = eventually("it creates", async || session.calls().contains(&Op::Create)) => {}
            outcome = lock.acquire(&mut notes) => panic!("{outcome:?}"),
        }
        holder.release(held).await.unwrap();
        released.send(()).unwrap();
        let grant = acquire(&mut lock).await;
        eventually("it is undone", async || session.is_used_up()).await;
        for _ in 0..ROUNDS {
            session.sync(&grant.path).await.unwrap();
            let (_, stat) = session.data(&grant.path).await.unwrap();
            assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
        }
        lock.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

/// The wait for what is to be undone may itself be cut off, any number of times.
#[test]
fn a_naive_acquire_dropped_while_it_waits_for_an_earlier_one_to_be_undone_leaves_no_lock() {
    on_ensemble(async |place| {
        workloads::zookeeper::parents::make(&place.steward, &place.base).await.unwrap();
        let mut lock = NaiveLock::new(place.session().await, &place.base);
        for _ in 0..3 {
            begin_and_drop(&mut lock).await;
        }
        let grant = acquire(&mut lock).await;
        lock.release(grant).await.unwrap();
        place.left_clean().await;
    });
}
