//! What a leader latch adds to the queue that it stands in.
use uuid::Uuid;
use workloads::fenced_store::FencedStore;
use workloads::recipe::{Lock, Loss, RecipeError};
use workloads::zookeeper::leader_latch::CloseMode;
use workloads::zookeeper::session::{Client, CreateMode, Session, SessionError};
use workloads::zookeeper::{LeaderLatch, names, parents};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{LONG, Notes, Place, SHORT, acquire, acquiring, on_ensemble, within};
use crate::proxy::{Proxy, opcode};

/// A session with the first node, behind a proxy.
async fn behind_a_proxy(place: &Place, timeout: std::time::Duration) -> (Proxy, Client) {
    parents::make(&place.steward, &place.base).await.unwrap();
    let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
    let client = Client::connect(&proxy.endpoint(), timeout).await.unwrap();
    client.sync(&place.base).await.unwrap();
    (proxy, client)
}

/// A session with any of the nodes, which has seen that the queue exists.
async fn faulty(place: &Place) -> (Client, Faulty<Client>) {
    parents::make(&place.steward, &place.base).await.unwrap();
    let inner = place.session().await;
    inner.sync(&place.base).await.unwrap();
    (inner.clone(), Faulty::new(inner))
}

#[test]
fn participants_have_curators_names_and_their_id_as_data() {
    on_ensemble(async |place| {
        let session = place.session().await;
        let mut latch = LeaderLatch::new(session.clone(), &place.base, "someone");
        let grant = acquire(&mut latch).await;
        let entries = place.entries().await;
        let (uuid, number) = entries[0].strip_prefix("_c_").unwrap().split_at(36);
        assert!(Uuid::parse_str(uuid).is_ok());
        assert_eq!(number, "-latch-0000000000");
        assert_eq!(grant.path, format!("{}/{}", place.base, entries[0]));
        let (data, stat) = session.data(&grant.path).await.unwrap();
        assert_eq!((data.as_slice(), stat.czxid, stat.ephemeral_owner), (&b"someone"[..], grant.token, session.id()));
        latch.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

/// CURATOR-696: the znode under the own name is first, and belongs to a session that is about to go.
#[test]
fn a_latch_that_is_first_with_another_sessions_znode_joins_anew_instead_of_leading() {
    on_ensemble(async |place| {
        let (inner, session) = faulty(place).await;
        let (steward, other) = (place.steward.clone(), place.session().await);
        let stranger = other.clone();
        session.on(
            Op::Data,
            0,
            Fault::after(async move |own: String| {
                steward.delete(&own).await.unwrap();
                stranger.create(&own, CreateMode::Ephemeral, b"").await.unwrap();
                inner.sync(&own).await.unwrap();
            }),
        );
        let latch = LeaderLatch::new(session.clone(), &place.base, "");
        let (mut latch, outcome, notes) = within(acquiring(latch)).await.unwrap();
        let grant = outcome.unwrap();
        assert!(session.is_used_up());
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        let again = [Op::Create, Op::Children, Op::Data];
        assert_eq!(session.calls(), [&again[..], &[Op::Delete], &again[..]].concat());
        assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);
        let (_, stat) = session.data(&grant.path).await.unwrap();
        assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
        latch.release(grant).await.unwrap();
        place.left_clean().await;
        drop(other);
    });
}

/// CURATOR-620: the connection breaks, and breaks again in the middle of the reset that this caused.
#[test]
fn two_reconnects_and_a_reset_leave_one_participant_and_one_leader() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place, LONG).await;
        let mut latch = LeaderLatch::new(client.clone(), &place.base, "");
        let first = acquire(&mut latch).await;
        proxy.sever();
        assert!(matches!(within(latch.lost(&first)).await, Loss::Suspended(_)));
        place.steward.delete(&first.path).await.unwrap();
        proxy.mend().await;
        proxy.cut_reply_of(opcode::CREATE2);
        let second = acquire(&mut latch).await;
        assert!(proxy.has_cut() && second.token > first.token);
        assert_eq!(place.entries().await, [names::last_segment(&second.path)]);
        assert_eq!(latch.leadership().borrow().as_ref(), Some(&second));
        latch.release(second).await.unwrap();
        place.left_clean().await;
        drop((latch, client));
        proxy.idle().await;
    });
}

/// CURATOR-644, CURATOR-645: the other latch closes between list and watch. Whoever then made a new znode, as both did
/// there, would go round for ever.
#[test]
fn a_latch_whose_predecessor_vanishes_before_it_is_watched_lists_again_and_keeps_its_znode() {
    on_ensemble(async |place| {
        let mut leader = LeaderLatch::new(place.session().await, &place.base, "");
        acquire(&mut leader).await;
        let (inner, session) = faulty(place).await;
        session.on(
            Op::DataWatched,
            0,
            Fault::after(async move |predecessor: String| {
                leader.close(CloseMode::Silent).await.unwrap();
                inner.sync(&predecessor).await.unwrap();
            }),
        );
        let (mut latch, outcome, notes) =
            within(acquiring(LeaderLatch::new(session.clone(), &place.base, ""))).await.unwrap();
        assert_eq!(session.calls(), [Op::Create, Op::Children, Op::DataWatched, Op::Children, Op::Data]);
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        place.watched(0).await;
        latch.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

/// CURATOR-527: the predecessor goes, and the notification comes, before the latch waits for it.
#[test]
fn a_notification_between_the_watch_and_the_wait_is_not_lost() {
    on_ensemble(async |place| {
        let mut leader = LeaderLatch::new(place.session().await, &place.base, "");
        acquire(&mut leader).await;
        let (inner, session) = faulty(place).await;
        session.on(
            Op::Fired,
            0,
            Fault::after(async move |predecessor: String| {
                leader.close(CloseMode::Silent).await.unwrap();
                // The notification comes before this reply.
                inner.sync(&predecessor).await.unwrap();
                assert_eq!(inner.data(&predecessor).await, Err(SessionError::NoNode));
            }),
        );
        let (mut latch, outcome, notes) =
            within(acquiring(LeaderLatch::new(session.clone(), &place.base, ""))).await.unwrap();
        assert!(session.is_used_up());
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        latch.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}

/// Somebody removes the znode of a waiter: it joins anew, and is found.
#[test]
fn a_participant_whose_znode_vanished_joins_anew() {
    on_ensemble(async |place| {
        let mut leader = LeaderLatch::new(place.session().await, &place.base, "");
        let grant = acquire(&mut leader).await;
        let (_, session) = faulty(place).await;
        let waiter = acquiring(LeaderLatch::new(session.clone(), &place.base, ""));
        place.watched(1).await;
        let before = place.entries().await;
        place.steward.delete(&format!("{}/{}", place.base, before[1])).await.unwrap();
        leader.release(grant).await.unwrap();
        let (mut waiter, outcome, _) = within(waiter).await.unwrap();
        let grant = outcome.unwrap();
        assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);
        assert_ne!(before[1], names::last_segment(&grant.path));
        waiter.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

/// CURATOR-478: each reconnection sets the watches again.
#[test]
fn a_latch_that_reconnects_again_and_again_has_one_watch_and_is_notified_once() {
    on_ensemble(async |place| {
        let mut leader = LeaderLatch::new(place.session().await, &place.base, "");
        let grant = acquire(&mut leader).await;
        let (proxy, client) = behind_a_proxy(place, LONG).await;
        let waiter = acquiring(LeaderLatch::new(client.clone(), &place.base, ""));
        place.watched(1).await;
        for _ in 0..5 {
            proxy.sever();
            place.watched(0).await;
            proxy.mend().await;
            place.watched(1).await;
            // What it sets again it has set before it answers anything.
            within(client.sync(&place.base)).await.unwrap();
            place.watched(1).await;
        }
        let before = place.ensemble.counters().await.unwrap();
        leader.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(notes, Notes { enqueued: 1, woken: 1 });
        let caused = place.ensemble.counters().await.unwrap().since(&before);
        assert_eq!(caused.unwrap().notifications.unwrap().total, 1);
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
        drop((waiter, client));
        proxy.idle().await;
    });
}

#[test]
fn a_suspended_connection_ends_leadership_and_the_next_acquire_goes_on_with_the_same_znode() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place, LONG).await;
        let session = Faulty::new(client.clone());
        let mut latch = LeaderLatch::new(session.clone(), &place.base, "");
        let mut listener = latch.leadership();
        let grant = acquire(&mut latch).await;
        assert_eq!(listener.borrow_and_update().as_ref(), Some(&grant));
        proxy.sever();
        assert!(matches!(within(latch.lost(&grant)).await, Loss::Suspended(_)));
        within(listener.wait_for(Option::is_none)).await.unwrap();
        assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);

        proxy.mend().await;
        let before = session.calls().len();
        let (mut latch, outcome, notes) = within(acquiring(latch)).await.unwrap();
        assert_eq!(outcome.as_ref(), Ok(&grant));
        assert_eq!(notes, Notes { enqueued: 1, woken: 0 });
        assert!(!session.calls()[before..].contains(&Op::Create), "{:?}", session.calls());
        assert_eq!(listener.borrow_and_update().as_ref(), Some(&grant));
        latch.release(grant).await.unwrap();
        place.left_clean().await;
        drop((latch, session, client));
        proxy.idle().await;
    });
}

/// CURATOR-79: also the znode that the latch has kept through a suspended connection.
#[test]
fn an_acquire_dropped_after_a_suspended_connection_leaves_no_participant() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place, LONG).await;
        let session = Faulty::new(client.clone());
        let mut latch = LeaderLatch::new(session.clone(), &place.base, "");
        let grant = acquire(&mut latch).await;
        proxy.sever();
        within(latch.lost(&grant)).await;
        proxy.mend().await;
        session.on(Op::Children, 1, Fault::Silent);
        let waiter = acquiring(latch);
        crate::place::eventually("it looks again", async || session.is_used_up()).await;
        waiter.cancel().await;
        place.left_clean().await;
        drop((session, client));
        proxy.idle().await;
    });
}

/// CURATOR-206: the leader learns of it before another leads, and what it writes all the same is refused.
#[test]
fn a_leader_that_expires_is_told_and_its_writes_are_refused() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place, SHORT).await;
        let mut leader = LeaderLatch::new(client, &place.base, "");
        let grant = acquire(&mut leader).await;
        let waiter = acquiring(LeaderLatch::new(place.session().await, &place.base, ""));
        place.watched(1).await;
        proxy.sever();
        within(leader.lost(&grant)).await;
        assert!(!waiter.is_finished());
        let (mut waiter, outcome, _) = within(waiter).await.unwrap();
        let next = outcome.unwrap();
        assert_eq!(*leader.leadership().borrow(), None);
        let store = FencedStore::new(1);
        assert!(store.write(0, grant.token) && store.write(0, next.token) && !store.write(0, grant.token));
        assert!(matches!(within(leader.release(grant)).await, Err(RecipeError::SessionLost(_))));
        waiter.release(next).await.unwrap();
        place.left_clean().await;
    });
}

#[test]
fn a_latch_closes_silently_or_notifies_its_leader() {
    on_ensemble(async |place| {
        let mut latch = LeaderLatch::new(place.session().await, &place.base, "");
        let mut listener = latch.leadership();
        for (mode, woken) in [(CloseMode::Silent, false), (CloseMode::NotifyLeader, true)] {
            let grant = acquire(&mut latch).await;
            assert!(listener.has_changed().unwrap());
            assert_eq!(listener.borrow_and_update().as_ref(), Some(&grant));
            latch.close(mode).await.unwrap();
            assert_eq!(listener.has_changed().unwrap(), woken, "{mode:?}");
            assert_eq!(*listener.borrow_and_update(), None);
            place.left_clean().await;
            // A latch that does not lead has nothing to tell.
            latch.close(mode).await.unwrap();
            assert!(!listener.has_changed().unwrap());
        }
        drop(latch);
        assert!(listener.changed().await.is_err());
    });
}
