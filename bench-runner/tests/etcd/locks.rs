//! All locks and elections on three real nodes: what goes wrong elsewhere goes right here.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use workloads::etcd::session::{Client, Connection, Session, Untapped};
use workloads::etcd::{NaiveLock, SequentialLock};
use workloads::recipe::{Lock, RecipeError};

use super::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn grants_follow_one_another_with_rising_tokens() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let mut last = 0;
    for round in 0..4 {
        let (one, other) = (session_at(&endpoints, round).await, session_at(&endpoints, round + 1).await);
        let key = format!("{BASE}/{:x}", one.lease());
        let (mut lock, grant) = sequential(one).granted().await;
        assert_eq!(grant.path, key);
        let waiting = sequential(other).enqueued().await;
        assert!(!waiting.task.is_finished());
        lock.release(grant.clone()).await.unwrap();
        let (mut lock, next) = waiting.granted().await;
        assert!(last < grant.token && grant.token < next.token);
        lock.release(next.clone()).await.unwrap();
        last = next.token;
    }
    assert!(queue(&ensemble).is_empty());
    ensemble.stop().await.unwrap();
}

/// etcd #11456, #9921, #16221: a waiter whose lease has gone must not be granted, however the queue moves. etcd's own
/// Campaign does not look at its key after the wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_whose_lease_is_gone_gets_an_error_and_never_a_grant() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    for recipe in QUEUES.into_iter().chain(HERDS) {
        let (mut holder, grant) = contending(recipe, session_at(&endpoints, 0).await).granted().await;
        let waiting = contending(recipe, session_at(&endpoints, 1).await).enqueued().await;
        watched(&ensemble, 1).await;
        // Revoked, and then the place becomes free before the waiter can know of it.
        revoke(&ensemble, waiting.lease);
        holder.release(grant).await.unwrap();
        let (_, outcome) = waiting.outcome().await;
        match outcome {
            Err(RecipeError::SessionLost(_)) => {}
            // The own key tells before the session does. A naive waiter has none: its create is refused.
            Err(RecipeError::EntryVanished(_)) if QUEUES.contains(&recipe) => {}
            outcome => panic!("{recipe}: {outcome:?}"),
        }
        assert!(queue(&ensemble).is_empty(), "{recipe}");
    }
    ensemble.stop().await.unwrap();
}

/// etcd #19597: a waiter goes on blocking after its own lease died.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_whose_lease_is_gone_does_not_wait_on() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    for recipe in QUEUES.into_iter().chain(HERDS) {
        let (mut holder, grant) = contending(recipe, session_at(&endpoints, 0).await).granted().await;
        let waiting = contending(recipe, session_at(&endpoints, 1).await).enqueued().await;
        revoke(&ensemble, waiting.lease);
        // Nobody releases: the keep-alive finds a ttl of 0.
        let (_, outcome) = waiting.outcome().await;
        assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{recipe}: {outcome:?}");
        holder.release(grant).await.unwrap();
    }
    ensemble.stop().await.unwrap();
}

/// etcd #10756: whoever shares a session holds what the others hold. Each worker has a lease of its own, also where several
/// share a connection.
#[tokio::test(flavor = "multi_thread")]
async fn workers_that_share_a_connection_hold_one_after_the_other() {
    let ensemble = three_nodes().await;
    let shared = Arc::new(Connection::new(&ensemble.connect_string(), 0).await.unwrap());
    for recipe in QUEUES.into_iter().chain(HERDS) {
        let mut workers = Vec::new();
        for _ in 0..4 {
            let session = Client::open(Arc::clone(&shared), TTL, Arc::new(Untapped)).await.unwrap();
            workers.push(contending(recipe, session).enqueued().await);
        }
        while !workers.is_empty() {
            // All others have armed their watch: nobody is on its way to a grant.
            watched(&ensemble, workers.len() as u64 - 1).await;
            let (mut holder, grant) = first_of(&mut workers).await.granted().await;
            assert!(workers.iter().all(|worker| !worker.task.is_finished()), "{recipe}: several hold at once");
            holder.release(grant).await.unwrap();
        }
    }
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_removes_its_own_instance_alone() {
    let ensemble = three_nodes().await;
    let session = session_at(&ensemble.connect_string(), 0).await;
    let (mut lock, grant) = sequential(session).granted().await;
    // Somebody removes the key and makes one of the same name.
    etcdctl(&ensemble, &["del", &grant.path]);
    etcdctl(&ensemble, &["put", &grant.path, "somebody else's"]);
    let outcome = lock.release(grant.clone()).await;
    assert_eq!(outcome, Err(RecipeError::EntryVanished(grant.path.clone())));
    assert_eq!(queue(&ensemble), [grant.path]);
    ensemble.stop().await.unwrap();
}

/// microsoft/etcd3 #176: the middle waiter dies and the next one leads.
#[tokio::test(flavor = "multi_thread")]
async fn a_middle_waiters_death_wakes_its_successor_alone() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    for recipe in QUEUES {
        let (mut holder, grant) = contending(recipe, session_at(&endpoints, 0).await).granted().await;
        let mut waiting = Vec::new();
        for place in 0..3 {
            waiting.push(contending(recipe, session_at(&endpoints, place).await).enqueued().await);
        }
        // Everybody has armed its watch.
        watched(&ensemble, 3).await;
        let [middle, successor, last] = <[_; 3]>::try_from(waiting).ok().unwrap();
        revoke(&ensemble, middle.lease);
        eventually("it is woken", async || successor.seen.woken.load(Ordering::SeqCst) == 1).await;
        let (_, outcome) = middle.outcome().await;
        assert!(outcome.is_err(), "{recipe}: {outcome:?}");
        // It has linked itself to the holder.
        watched(&ensemble, 2).await;
        assert!(!successor.task.is_finished() && !last.task.is_finished(), "{recipe}");
        assert_eq!(last.seen.woken.load(Ordering::SeqCst), 0, "{recipe}");

        holder.release(grant).await.unwrap();
        let (mut holder, grant) = successor.granted().await;
        assert!(!last.task.is_finished(), "{recipe}");
        holder.release(grant).await.unwrap();
        let (mut holder, grant) = last.granted().await;
        holder.release(grant).await.unwrap();
    }
    ensemble.stop().await.unwrap();
}

/// zk-ruby #49: a timed-out waiter leaves its entry behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_acquire_leaves_no_key() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let (mut holder, grant) = sequential(session_at(&endpoints, 0).await).granted().await;
    // While it waits.
    let session = session_at(&endpoints, 1).await;
    let waiting = Contender::begin(session.lease(), SequentialLock::new(session.clone(), BASE)).enqueued().await;
    assert_eq!(queue(&ensemble).len(), 2);
    waiting.task.abort();
    eventually("its key is gone", async || queue(&ensemble) == [grant.path.clone()]).await;
    watched(&ensemble, 0).await;

    // While its create is under way, and acquired again at once by the same worker.
    let mut lock = SequentialLock::new(session.clone(), BASE);
    let mut seen = Seen::default();
    assert!(poll_once(pin!(lock.acquire(&mut seen))).is_pending());
    let again = Contender::begin(session.lease(), lock).enqueued().await;
    holder.release(grant).await.unwrap();
    let (mut lock, grant) = again.granted().await;
    lock.release(grant).await.unwrap();
    eventually("the queue is empty", async || queue(&ensemble).is_empty()).await;

    // The naive lock, whose key would be everybody's lock.
    let mut lock = NaiveLock::new(session.clone(), BASE);
    for _ in 0..5 {
        assert!(poll_once(pin!(lock.acquire(&mut seen))).is_pending());
        let (mut other, grant) = naive(session_at(&endpoints, 2).await).granted().await;
        other.release(grant).await.unwrap();
    }
    eventually("the key is gone", async || queue(&ensemble).is_empty()).await;
    drop((lock, session, holder));
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_dropped_leave_neither_lease_nor_watch() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let (lock, _grant) = sequential(session_at(&endpoints, 0).await).granted().await;
    let waiting = sequential(session_at(&endpoints, 1).await).enqueued().await;
    drop(lock);
    waiting.granted().await;
    ensemble.settled(0, 0, super::PATIENCE).await.unwrap();
    ensemble.stop().await.unwrap();
}
