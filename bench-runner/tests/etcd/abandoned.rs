//! Sessions that are abandoned, as a crash of their process does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_runner::ensemble::Ensemble;
use tokio::time::timeout;
use workloads::etcd::SequentialLock;
use workloads::etcd::session::{Client, Connection, Session, SessionError, Untapped};
use workloads::recipe::{Lock, Loss, RecipeError};

use super::PATIENCE;
use super::proxy::Proxy;
use super::support::*;

/// Renewals are a third of it apart: time enough to see the lease run down between two.
const LONG_TTL: Duration = Duration::from_secs(12);

/// The seconds that are left of a lease; `None` when it is gone.
fn seconds_left(ensemble: &Ensemble, lease: i64) -> Option<u64> {
    let told = etcdctl(ensemble, &["lease", "timetolive", &format!("{lease:x}")]);
    let left = told.split_once("remaining(")?.1;
    Some(left.split_once('s').unwrap().0.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_session_leaves_its_key_until_the_lease_runs_out() {
    let ensemble = three_nodes().await;
    let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
    let connection = Connection::new(&proxy.endpoint(), 0).await.unwrap();
    let session = Client::open(Arc::new(connection), LONG_TTL, Arc::new(Untapped)).await.unwrap();
    let (mut lock, grant) = sequential(session.clone()).granted().await;
    let waiting = sequential(session_at(&ensemble.connect_string(), 1).await).enqueued().await;

    let ttl = LONG_TTL.as_secs();
    eventually("the lease has run down", async || {
        seconds_left(&ensemble, session.lease()).is_some_and(|left| left < ttl - 2)
    })
    .await;
    let crash = Instant::now();
    session.sign_of_life().await.unwrap();
    assert!(seconds_left(&ensemble, session.lease()).is_some_and(|left| left >= ttl - 2), "the lease was not renewed");

    session.abandon();
    assert!(matches!(session.check(), Err(SessionError::Lost(_))));
    let loss = timeout(PATIENCE, lock.lost(&grant)).await.unwrap();
    assert!(matches!(loss, Loss::Session(_)), "{loss:?}");
    assert!(matches!(session.sign_of_life().await, Err(SessionError::Lost(_))));
    let outcome = lock.release(grant.clone()).await;
    assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
    // The session and the lock are still there, the connection is not.
    eventually("the connection is closed", async || proxy.open() == 0).await;
    assert_eq!(queue(&ensemble)[0], grant.path);
    drop((session, lock));

    let (mut lock, grant) = waiting.granted().await;
    assert!(crash.elapsed() >= LONG_TTL, "the key went before the lease was over: {:?}", crash.elapsed());
    lock.release(grant).await.unwrap();
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_that_is_abandoned_leaves_others_on_the_same_connection_alone() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let (mut holder, grant) = sequential(session_at(&endpoints, 0).await).granted().await;
    let shared = Arc::new(Connection::new(&endpoints, 1).await.unwrap());
    let open = async || Client::open(Arc::clone(&shared), TTL, Arc::new(Untapped)).await.unwrap();
    let (crashing, other) = (open().await, open().await);
    let abandoned = sequential(crashing.clone()).enqueued().await;
    let waiting = Contender::begin(other.lease(), SequentialLock::new(other, BASE)).enqueued().await;
    watched(&ensemble, 2).await;

    crashing.abandon();
    let (_, outcome) = abandoned.outcome().await;
    assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
    // Its watch goes at once, its place in the queue stays until the lease is over.
    watched(&ensemble, 1).await;
    holder.release(grant).await.unwrap();
    let (mut lock, grant) = waiting.granted().await;
    lock.release(grant).await.unwrap();
    ensemble.stop().await.unwrap();
}
