//! A delete of which the reply was lost: neither left undone, nor done to somebody else.
use workloads::recipe::Lock;
use workloads::zookeeper::session::{CreateMode, Session};
use workloads::zookeeper::{NaiveLock, SequentialLock};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{Place, acquire, on_ensemble, within};

/// More broken connections in a row than a read is tried.
const MANY: usize = 40;

#[test]
fn a_naive_release_whose_reply_was_lost_never_deletes_the_next_holders_lock() {
    on_ensemble(async |place| {
        let (inner, next) = (place.session().await, place.session().await);
        let session = Faulty::new(inner.clone());
        let mut lock = NaiveLock::new(session.clone(), &place.base);
        let grant = acquire(&mut lock).await;
        let taker = next.clone();
        session.on(
            Op::Delete,
            0,
            Fault::instead(async move |path: String| {
                inner.delete(&path).await.unwrap();
                taker.create(&path, CreateMode::Ephemeral, b"").await.unwrap();
            }),
        );
        within(lock.release(grant.clone())).await.unwrap();
        let (_, stat) = next.data(&grant.path).await.unwrap();
        assert_eq!(stat.ephemeral_owner, next.id());
        next.delete(&grant.path).await.unwrap();
        place.left_clean().await;
    });
}

/// The delete is under way while the recipe looks: a second one might hit the next holder.
#[test]
fn a_naive_release_that_arrives_late_never_deletes_the_next_holders_lock() {
    on_ensemble(async |place| {
        let next = place.session().await;
        let session = Faulty::new(place.session().await);
        let mut lock = NaiveLock::new(session.clone(), &place.base);
        let grant = acquire(&mut lock).await;
        session.on(Op::Delete, 0, Fault::Late);
        within(lock.release(grant.clone())).await.unwrap();
        next.create(&grant.path, CreateMode::Ephemeral, b"").await.unwrap();
        session.deliver().await;
        let (_, stat) = next.data(&grant.path).await.unwrap();
        assert_eq!(stat.ephemeral_owner, next.id());
        next.delete(&grant.path).await.unwrap();
        place.left_clean().await;
    });
}

/// The session lives on, so an entry that stayed would hold the lock for ever.
async fn released_in_the_end<L: Lock>(place: &Place, session: &Faulty<impl Session>, mut lock: L) {
    let grant = acquire(&mut lock).await;
    for nth in 0..MANY {
        session.on(Op::Delete, nth, Fault::LostRequest);
    }
    within(lock.release(grant)).await.unwrap();
    assert!(session.is_used_up());
    place.left_clean().await;
    let again = acquire(&mut lock).await;
    session.on(Op::Delete, MANY + 1, Fault::LostReply);
    within(lock.release(again)).await.unwrap();
    assert!(session.is_used_up());
    place.left_clean().await;
}

#[test]
fn a_release_is_repeated_until_the_entry_is_gone() {
    on_ensemble(async |place| {
        let session = Faulty::new(place.session().await);
        released_in_the_end(place, &session, SequentialLock::new(session.clone(), &place.base)).await;
    });
}

#[test]
fn a_naive_release_is_repeated_until_the_lock_is_gone() {
    on_ensemble(async |place| {
        let session = Faulty::new(place.session().await);
        released_in_the_end(place, &session, NaiveLock::new(session.clone(), &place.base)).await;
    });
}

/// A lock whose acquire fails although the session lives takes its entry with it.
#[test]
fn an_acquire_that_gives_up_after_many_broken_connections_leaves_no_entry() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let session = Faulty::new(place.session().await);
        for nth in 0..MANY {
            session.on(Op::DataWatched, nth, Fault::LostRequest);
        }
        let mut lock = SequentialLock::new(session.clone(), &place.base);
        let outcome = within(lock.acquire(&mut crate::place::Notes::default())).await;
        assert!(matches!(outcome, Err(workloads::recipe::RecipeError::Service(_))), "{outcome:?}");
        place.queued(1).await;
        holder.release(grant).await.unwrap();
        place.left_clean().await;
    });
}
