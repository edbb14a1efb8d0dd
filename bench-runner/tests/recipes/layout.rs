//! Curator's layout: what a Java client in the same queue relies on.
use uuid::Uuid;
use workloads::recipe::Lock;
use workloads::zookeeper::session::Session;
use workloads::zookeeper::{NaiveLock, SequentialLock};

use crate::place::{acquire, eventually, on_ensemble, on_ensemble_with};

#[test]
fn queue_entries_have_curators_names() {
    on_ensemble(async |place| {
        let session = place.session().await;
        let mut lock = SequentialLock::new(session.clone(), &place.base);
        for round in 0..3 {
            let grant = acquire(&mut lock).await;
            let entries = place.entries().await;
            let entry = entries[0].strip_prefix("_c_").unwrap();
            let (uuid, number) = entry.split_at(36);
            assert_eq!(Uuid::parse_str(uuid).unwrap().get_version_num(), 4);
            assert_eq!(number, format!("-lock-{round:010}"));
            assert_eq!(grant.path, format!("{}/{}", place.base, entries[0]));
            let (_, stat) = session.data(&grant.path).await.unwrap();
            assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
            lock.release(grant).await.unwrap();
        }
        place.left_clean().await;
    });
}

#[test]
fn the_naive_lock_is_one_ephemeral_znode() {
    on_ensemble(async |place| {
        let session = place.session().await;
        let mut lock = NaiveLock::new(session.clone(), &place.base);
        let grant = acquire(&mut lock).await;
        assert_eq!(place.entries().await, ["lock"]);
        let (_, stat) = session.data(&grant.path).await.unwrap();
        assert_eq!((stat.czxid, stat.ephemeral_owner), (grant.token, session.id()));
        lock.release(grant).await.unwrap();
        place.left_clean().await;
    });
}

/// A server tells nobody which of its nodes are containers, but it removes them once they are empty; this one looks often.
#[test]
fn parents_are_containers_that_go_when_the_queue_is_empty_and_are_made_again() {
    on_ensemble_with(&["-Dznode.container.checkIntervalMs=50"], async |place| {
        let above = place.base.replace("/lock", "");
        let gone = async || {
            place.steward.sync(&above).await.unwrap();
            place.steward.exists(&above).await.unwrap().is_none()
        };
        let session = place.session().await;
        let mut sequential = SequentialLock::new(session.clone(), &place.base);
        let mut naive = NaiveLock::new(session, &place.base);
        for _ in 0..3 {
            let grant = acquire(&mut sequential).await;
            sequential.release(grant).await.unwrap();
            eventually("the server removes the empty containers", gone).await;
            let grant = acquire(&mut naive).await;
            naive.release(grant).await.unwrap();
            eventually("the server removes the empty containers", gone).await;
        }
    });
}
