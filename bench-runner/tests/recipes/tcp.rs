//! The same faults as elsewhere, made by a network: the connection is cut after the node has carried out a request and
//! before its reply.
use workloads::recipe::Lock;
use workloads::zookeeper::session::{Client, CreateMode, Session};
use workloads::zookeeper::{NaiveLock, SequentialLock, names, parents};

use crate::place::{LONG, Place, acquire, acquiring, on_ensemble, within};
use crate::proxy::{Proxy, opcode};

async fn behind_a_proxy(place: &Place) -> (Proxy, Client) {
    parents::make(&place.steward, &place.base).await.unwrap();
    let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
    let client = Client::connect(&proxy.endpoint(), LONG).await.unwrap();
    client.sync(&place.base).await.unwrap();
    (proxy, client)
}

#[test]
fn a_connection_cut_before_each_reply_of_a_sequential_lock_costs_nothing_but_time() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place).await;
        let mut lock = SequentialLock::new(client.clone(), &place.base);
        proxy.cut_reply_of(opcode::CREATE2);
        let grant = acquire(&mut lock).await;
        assert!(proxy.has_cut());
        assert_eq!(place.entries().await, [names::last_segment(&grant.path)]);
        let (_, stat) = client.data(&grant.path).await.unwrap();
        assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, client.id()));

        let waiter = acquiring(SequentialLock::new(place.session().await, &place.base));
        place.watched(1).await;
        proxy.cut_reply_of(opcode::DELETE);
        within(lock.release(grant)).await.unwrap();
        assert!(proxy.has_cut());
        let (mut waiter, outcome, _) = within(waiter).await.unwrap();
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
        assert_eq!(proxy.traffic().connects, 3);
        drop((lock, client));
        proxy.idle().await;
    });
}

#[test]
fn a_connection_cut_before_each_reply_of_a_naive_lock_costs_nothing_but_time() {
    on_ensemble(async |place| {
        let (proxy, client) = behind_a_proxy(place).await;
        let mut lock = NaiveLock::new(client.clone(), &place.base);
        proxy.cut_reply_of(opcode::CREATE2);
        let grant = acquire(&mut lock).await;
        assert!(proxy.has_cut());
        let (_, stat) = client.data(&grant.path).await.unwrap();
        assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, client.id()));

        // By the time the session is back, the lock is somebody else's.
        let next = place.session().await;
        let waiter = acquiring(NaiveLock::new(next.clone(), &place.base));
        place.watched(1).await;
        proxy.cut_reply_of(opcode::DELETE);
        within(lock.release(grant)).await.unwrap();
        assert!(proxy.has_cut());
        let (mut waiter, outcome, _) = within(waiter).await.unwrap();
        let second = outcome.unwrap();
        client.sync(&second.path).await.unwrap();
        assert_eq!(client.data(&second.path).await.unwrap().1.ephemeral_owner, next.id());
        waiter.release(second).await.unwrap();
        place.left_clean().await;
        drop((lock, client));
        proxy.idle().await;
    });
}

/// The watch is set again on reconnection, and what it missed is told.
#[test]
fn a_waiter_whose_connection_breaks_is_woken_all_the_same() {
    on_ensemble(async |place| {
        let mut holder = SequentialLock::new(place.session().await, &place.base);
        let grant = acquire(&mut holder).await;
        let (proxy, client) = behind_a_proxy(place).await;
        let waiter = acquiring(SequentialLock::new(client.clone(), &place.base));
        place.watched(1).await;
        proxy.cut_reply_of(opcode::SET_DATA);
        let scratch = format!("{}-scratch", place.base);
        place.steward.create(&scratch, CreateMode::Persistent, b"").await.unwrap();
        client.sync(&scratch).await.unwrap();
        let broken = client.set_data(&scratch, b"x").await;
        assert!(broken.is_err() && proxy.has_cut(), "{broken:?}");
        holder.release(grant).await.unwrap();
        let (mut waiter, outcome, notes) = within(waiter).await.unwrap();
        assert_eq!(notes.woken, 1);
        waiter.release(outcome.unwrap()).await.unwrap();
        place.left_clean().await;
        drop((waiter, client));
        proxy.idle().await;
    });
}
