//! A create of which the reply was lost may have succeeded, or be yet to succeed.
use workloads::recipe::Lock;
use workloads::zookeeper::session::{CreateMode, Session};
use workloads::zookeeper::{NaiveLock, SequentialLock, names, parents};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{Notes, Place, acquire, acquiring, on_ensemble, within};

/// Acquires with a first create of which `fault` becomes, and hands back what was asked of the session. In the end there
/// must be one entry, of this session, with the token of the grant.
async fn one_entry(place: &Place, fault: Fault) -> Vec<Op> {
    parents::make(&place.steward, &place.base).await.unwrap();
    let session = Faulty::new(place.session().await);
    session.on(Op::Create, 0, fault);
    let (mut lock, outcome, notes) =
        within(acquiring(SequentialLock::new(session.clone(), &place.base))).await.unwrap();
    let grant = outcome.unwrap();
    assert!(session.is_used_up());
    assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
    let entries = place.entries().await;
    assert_eq!(entries, [names::last_segment(&grant.path)]);
    let (_, stat) = place.steward.data(&grant.path).await.unwrap();
    assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
    let calls = session.calls();
    lock.release(grant).await.unwrap();
    session.deliver().await;
    place.left_clean().await;
    calls
}

fn creates(calls: &[Op]) -> usize {
    calls.iter().filter(|call| **call == Op::Create).count()
}

#[test]
fn a_create_whose_reply_was_lost_is_found_by_its_uuid_and_not_doubled() {
    on_ensemble(async |place| assert_eq!(creates(&one_entry(place, Fault::LostReply).await), 1));
}

#[test]
fn a_create_that_never_arrived_is_made_again() {
    on_ensemble(async |place| assert_eq!(creates(&one_entry(place, Fault::LostRequest).await), 2));
}

/// The server that answers after a reconnection may lag behind the one that took the create.
#[test]
fn a_create_that_arrives_late_is_not_doubled() {
    on_ensemble(async |place| assert_eq!(creates(&one_entry(place, Fault::Late).await), 1));
}

/// CURATOR-498: what is found may belong to an earlier session and go with it.
#[test]
fn an_entry_found_that_is_another_sessions_is_removed_and_created_anew() {
    on_ensemble(async |place| {
        let earlier = place.session().await;
        // A clone, so that the session lives on and nothing but the recipe removes its entry.
        let creator = earlier.clone();
        let create = Fault::instead(async move |prefix: String| {
            creator.create(&prefix, CreateMode::EphemeralSequential, b"").await.unwrap();
        });
        let calls = one_entry(place, create).await;
        assert_eq!(creates(&calls), 2);
        assert!(calls.contains(&Op::Delete));
        drop(earlier);
    });
}

async fn one_naive_grant(place: &Place, fault: Fault) -> Vec<Op> {
    parents::make(&place.steward, &place.base).await.unwrap();
    let session = Faulty::new(place.session().await);
    session.on(Op::Create, 0, fault);
    let (mut lock, outcome, notes) = within(acquiring(NaiveLock::new(session.clone(), &place.base))).await.unwrap();
    let grant = outcome.unwrap();
    assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
    place.steward.sync(&grant.path).await.unwrap();
    let (_, stat) = place.steward.data(&grant.path).await.unwrap();
    assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
    let calls = session.calls();
    lock.release(grant).await.unwrap();
    session.deliver().await;
    place.left_clean().await;
    calls
}

#[test]
fn a_naive_create_whose_reply_was_lost_is_found_by_its_owner() {
    on_ensemble(async |place| assert_eq!(creates(&one_naive_grant(place, Fault::LostReply).await), 1));
}

#[test]
fn a_naive_create_that_never_arrived_is_made_again() {
    on_ensemble(async |place| assert_eq!(creates(&one_naive_grant(place, Fault::LostRequest).await), 2));
}

#[test]
fn a_naive_create_that_arrives_late_is_found_by_its_owner() {
    on_ensemble(async |place| assert_eq!(creates(&one_naive_grant(place, Fault::Late).await), 1));
}

#[test]
fn a_naive_create_that_was_refused_in_a_lost_reply_waits_for_the_holder() {
    on_ensemble(async |place| {
        let mut holder = NaiveLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        session.on(Op::Create, 0, Fault::LostReply);
        let waiter = acquiring(NaiveLock::new(session, &place.base));
        place.watched(1).await;
        holder.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}
