//! Waiters and holders that die.
use workloads::recipe::{Lock, RecipeError};
use workloads::zookeeper::session::{Client, CreateMode, Session};
use workloads::zookeeper::{NaiveLock, SequentialLock, names};

use crate::faulty::{Faulty, Op};
use crate::place::{Place, SHORT, acquire, acquiring, eventually, on_ensemble, within};
use crate::proxy::Proxy;

/// A session with the first node that expires as soon as the proxy is severed.
pub async fn mortal(place: &Place) -> (Proxy, Client) {
    let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
    let client = Client::connect(&proxy.endpoint(), SHORT).await.unwrap();
    (proxy, client)
}

/// Puts a waiter of four in the middle of the queue to death.
async fn the_middle_dies(place: &Place, victim: Client, die: impl AsyncFnOnce(Client)) {
    let mut holder = SequentialLock::new(place.session().await, &place.base);
    let grant = acquire(&mut holder).await;
    // It stands in the queue as any client would, and takes no leave.
    let prefix = format!("{}/{}", place.base, names::protected("lock-"));
    let dying = victim.create(&prefix, CreateMode::EphemeralSequential, b"").await.unwrap();
    let next = Faulty::new(place.session().await);
    let successor = acquiring(SequentialLock::new(next.clone(), &place.base));
    place.watched(1).await;
    let after_next = Faulty::new(place.session().await);
    let last = acquiring(SequentialLock::new(after_next.clone(), &place.base));
    place.watched(2).await;
    assert_eq!(place.entries().await[1], names::last_segment(&dying.path));

    die(victim).await;
    let relinked = [Op::Create, Op::Children, Op::DataWatched, Op::Fired, Op::Children, Op::DataWatched];
    eventually("the successor watches the holder", async || next.calls() == relinked).await;
    place.watched(2).await;
    assert_eq!(after_next.calls(), [Op::Create, Op::Children, Op::DataWatched]);
    assert!(!successor.is_finished() && !last.is_finished());

    holder.release(grant.clone()).await.unwrap();
    let (mut successor, outcome, notes) = within(successor).await.unwrap();
    let second = outcome.unwrap();
    assert!(second.token > grant.token && notes.woken == 2);
    assert_eq!(after_next.calls(), [Op::Create, Op::Children, Op::DataWatched]);
    successor.release(second).await.unwrap();
    let (mut last, outcome, notes) = within(last).await.unwrap();
    assert_eq!(notes.woken, 1);
    last.release(outcome.unwrap()).await.unwrap();
    place.left_clean().await;
}

#[test]
fn a_waiter_that_closes_in_the_middle_of_the_queue_wakes_its_successor_alone() {
    on_ensemble(async |place| {
        let victim = place.session().await;
        the_middle_dies(place, victim, async |victim| drop(victim)).await;
    });
}

#[test]
fn a_waiter_that_expires_in_the_middle_of_the_queue_wakes_its_successor_alone() {
    on_ensemble(async |place| {
        let (proxy, victim) = mortal(place).await;
        the_middle_dies(place, victim, async |_victim| {
            proxy.sever();
            // Until then its client keeps trying to come back.
            place.queued(3).await;
        })
        .await;
    });
}

/// The lock is given to somebody else while the session of a waiter is over: the waiter must not believe it is granted.
async fn expiry_is_an_error<H: Lock, W: Lock + 'static>(place: &Place, mut holder: H, waiter: W, proxy: Proxy) {
    let grant = acquire(&mut holder).await;
    let waiter = acquiring(waiter);
    place.watched(1).await;
    proxy.sever();
    place.watched(0).await;
    holder.release(grant).await.unwrap();
    let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
    assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
    assert_eq!(notes.woken, 0);
    let again = within(waiter.acquire(&mut crate::place::Notes::default())).await;
    assert!(matches!(again, Err(RecipeError::SessionLost(_))), "{again:?}");
    place.left_clean().await;
}

#[test]
fn a_session_that_expires_while_it_waits_is_an_error_and_no_grant() {
    on_ensemble(async |place| {
        let (proxy, client) = mortal(place).await;
        let holder = SequentialLock::new(place.session().await, &place.base);
        expiry_is_an_error(place, holder, SequentialLock::new(client, &place.base), proxy).await;
    });
}

#[test]
fn a_session_that_expires_while_it_waits_is_an_error_and_no_naive_grant() {
    on_ensemble(async |place| {
        let (proxy, client) = mortal(place).await;
        let holder = NaiveLock::new(place.session().await, &place.base);
        expiry_is_an_error(place, holder, NaiveLock::new(client, &place.base), proxy).await;
    });
}

#[test]
fn a_holder_that_expires_hands_over_and_its_release_is_an_error() {
    on_ensemble(async |place| {
        let (proxy, client) = mortal(place).await;
        let mut holder = SequentialLock::new(client, &place.base);
        let grant = acquire(&mut holder).await;
        let waiter = acquiring(SequentialLock::new(place.session().await, &place.base));
        place.watched(1).await;
        proxy.sever();
        let (mut waiter, outcome, _) = within(waiter).await.unwrap();
        let next = outcome.unwrap();
        assert!(next.token > grant.token);
        assert!(matches!(within(holder.release(grant)).await, Err(RecipeError::SessionLost(_))));
        waiter.release(next).await.unwrap();
        place.left_clean().await;
    });
}
