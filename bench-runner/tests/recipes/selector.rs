//! Leadership that goes round.
use std::sync::{Arc, Mutex};

use workloads::recipe::{Lock, Loss};
use workloads::zookeeper::session::{Client, Session};
use workloads::zookeeper::{LeaderSelector, SequentialLock, names, parents};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{LONG, Notes, acquire, acquiring, eventually, on_ensemble, within};
use crate::proxy::Proxy;

#[test]
fn a_selector_stands_in_the_queue_of_the_mutex() {
    on_ensemble(async |place| {
        let mut lock = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut lock).await;
        let waiter = acquiring(LeaderSelector::new(place.session().await, &place.base, false));
        place.watched(1).await;
        let entries = place.entries().await;
        assert!(names::sequence(&entries[1], "-lock-") > names::sequence(&entries[0], "-lock-"), "{entries:?}");
        lock.release(grant).await.unwrap();
        let (mut selector, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        let grant = outcome.unwrap();
        assert_eq!(names::last_segment(&grant.path), entries[1]);
        selector.release(grant).await.unwrap();
        // Without a requeue nothing is left.
        place.left_clean().await;
    });
}

/// Everybody leads once before anybody leads again, in the order in which they queued and no other.
#[test]
fn leadership_of_5_selectors_goes_round_100_times() {
    const SELECTORS: usize = 5;
    const ROUNDS: usize = 100;
    on_ensemble(async |place| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let begin = tokio::sync::watch::Sender::new(false);
        let mut selectors = tokio::task::JoinSet::new();
        for number in 0..SELECTORS {
            let mut selector = LeaderSelector::new(place.session().await, &place.base, true);
            let (order, mut begin) = (Arc::clone(&order), begin.subscribe());
            selectors.spawn(async move {
                for _ in 0..ROUNDS {
                    let grant = acquire(&mut selector).await;
                    order.lock().unwrap().push((number, grant.token));
                    begin.wait_for(|begin| *begin).await.unwrap();
                    selector.release(grant).await.unwrap();
                }
            });
        }
        place.watched(SELECTORS as u64 - 1).await;
        begin.send_replace(true);
        within(async {
            while let Some(ended) = selectors.join_next().await {
                ended.unwrap();
            }
        })
        .await;
        let order = order.lock().unwrap().clone();
        assert_eq!(order.len(), SELECTORS * ROUNDS);
        let mut first: Vec<usize> = order[..SELECTORS].iter().map(|(number, _)| *number).collect();
        assert!(order.iter().zip(first.iter().cycle()).all(|((number, _), expected)| number == expected), "{order:?}");
        assert!(order.windows(2).all(|pair| pair[0].1 < pair[1].1), "{order:?}");
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3, 4]);
        // The last attempts that were queued are not taken up.
        place.left_clean().await;
    });
}

#[test]
fn the_next_attempt_is_queued_before_leadership_is_given_up() {
    on_ensemble(async |place| {
        let session = Faulty::new(place.session().await);
        let mut selector = LeaderSelector::new(session.clone(), &place.base, true);
        let grant = acquire(&mut selector).await;
        let (steward, base) = (place.steward.clone(), place.base.clone());
        session.on(
            Op::Delete,
            0,
            Fault::after(async move |_| {
                steward.sync(&base).await.unwrap();
                assert_eq!(steward.children(&base).await.unwrap().len(), 2);
            }),
        );
        selector.release(grant.clone()).await.unwrap();
        assert!(session.is_used_up());
        let queued = place.queued(1).await;
        let before = session.calls().len();
        let next = acquire(&mut selector).await;
        assert_eq!(names::last_segment(&next.path), queued[0]);
        assert!(next.token > grant.token);
        assert_eq!(session.calls()[before..], [Op::Children]);
        selector.release(next).await.unwrap();

        // A selector that goes takes its queued attempt with it, although the session lives.
        place.queued(1).await;
        drop(selector);
        place.left_clean().await;
    });
}

/// CURATOR-671, CURATOR-518: leadership ends because the connection is suspended.
#[test]
fn a_selector_whose_leadership_is_suspended_is_queued_again() {
    on_ensemble(async |place| {
        parents::make(&place.steward, &place.base).await.unwrap();
        let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
        let client = Client::connect(&proxy.endpoint(), LONG).await.unwrap();
        let mut selector = LeaderSelector::new(client.clone(), &place.base, true);
        let mut grant = acquire(&mut selector).await;
        for _ in 0..3 {
            let other = acquiring(LeaderSelector::new(place.session().await, &place.base, false));
            place.watched(1).await;
            proxy.sever();
            assert!(matches!(within(selector.lost(&grant)).await, Loss::Suspended(_)));
            proxy.mend().await;
            within(selector.release(grant.clone())).await.unwrap();
            let (mut other, outcome, _) = within(other).await.unwrap();
            let others = outcome.unwrap();
            assert_eq!(place.queued(2).await[0], names::last_segment(&others.path));
            other.release(others).await.unwrap();
            let next = acquire(&mut selector).await;
            assert!(next.token > grant.token);
            grant = next;
        }
        drop(selector);
        place.steward.delete(&grant.path).await.unwrap();
        place.left_clean().await;
        drop(client);
        proxy.idle().await;
    });
}

/// CURATOR-518: the release itself is interrupted, where it queues and where it lets go.
#[test]
fn a_release_that_is_cut_off_loses_neither_the_requeue_nor_the_release() {
    on_ensemble(async |place| {
        parents::make(&place.steward, &place.base).await.unwrap();
        for op in [Op::Create, Op::Delete] {
            let inner = place.session().await;
            inner.sync(&place.base).await.unwrap();
            let session = Faulty::new(inner);
            let mut selector = LeaderSelector::new(session.clone(), &place.base, true);
            let grant = acquire(&mut selector).await;
            let nth = session.calls().iter().filter(|call| **call == op).count();
            session.on(op, nth, Fault::Silent);
            let stands = if op == Op::Create { 2 } else { 1 };
            let is_there = async || session.is_used_up() && place.entries().await.len() == stands;
            tokio::select! {
                biased;
                () = eventually("it is carried out", is_there) => {}
                outcome = selector.release(grant.clone()) => panic!("{outcome:?}"),
            }
            let queued = place.entries().await.pop().unwrap();
            let next = acquire(&mut selector).await;
            assert_eq!(names::last_segment(&next.path), queued);
            assert_eq!(place.queued(1).await, [queued]);
            selector.release(next).await.unwrap();
            place.queued(1).await;
            drop(selector);
            place.left_clean().await;
        }
    });
}

/// A reply that is lost while the next attempt is queued makes neither two of them nor none.
#[test]
fn a_requeue_whose_reply_was_lost_is_found_and_not_doubled() {
    on_ensemble(async |place| {
        parents::make(&place.steward, &place.base).await.unwrap();
        for fault in [Fault::LostReply, Fault::LostRequest, Fault::Late] {
            let inner = place.session().await;
            inner.sync(&place.base).await.unwrap();
            let session = Faulty::new(inner);
            let mut selector = LeaderSelector::new(session.clone(), &place.base, true);
            let grant = acquire(&mut selector).await;
            session.on(Op::Create, 1, fault);
            selector.release(grant).await.unwrap();
            assert!(session.is_used_up());
            session.deliver().await;
            let queued = place.queued(1).await;
            let next = acquire(&mut selector).await;
            assert_eq!(names::last_segment(&next.path), queued[0]);
            selector.release(next).await.unwrap();
            drop(selector);
            place.left_clean().await;
        }
    });
}

/// Somebody removes the queued attempt before it is taken up, or while it waits.
#[test]
fn a_queued_attempt_that_vanished_is_queued_again() {
    on_ensemble(async |place| {
        let session = place.session().await;
        let mut selector = LeaderSelector::new(session.clone(), &place.base, true);
        let grant = acquire(&mut selector).await;
        selector.release(grant).await.unwrap();
        let vanished = place.queued(1).await;
        place.steward.delete(&format!("{}/{}", place.base, vanished[0])).await.unwrap();
        // Its own server may lag behind, and no recipe can know then what an operator has done elsewhere.
        session.sync(&place.base).await.unwrap();
        drop(session);
        let (mut selector, outcome, notes) = within(acquiring(selector)).await.unwrap();
        let grant = outcome.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);
        selector.release(grant).await.unwrap();
        drop(selector);
        place.left_clean().await;
    });
}
