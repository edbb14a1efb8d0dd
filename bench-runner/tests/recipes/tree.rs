//! Parents that come and go.
use workloads::recipe::Lock;
use workloads::zookeeper::session::{CreateMode, Session, SessionError};
use workloads::zookeeper::{NaiveLock, SequentialLock, parents};

use crate::faulty::{Fault, Faulty, Op};
use crate::place::{acquire, on_ensemble, within};

#[test]
fn parents_that_are_made_by_many_at_once_are_made_once() {
    on_ensemble(async |place| {
        let path = format!("{}/a/b/c", place.base);
        let mut makers = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (session, path) = (place.session().await, path.clone());
            makers.spawn(async move { parents::make(&session, &path).await });
        }
        for made in makers.join_all().await {
            made.unwrap();
        }
        place.steward.sync(&path).await.unwrap();
        assert!(place.steward.exists(&path).await.unwrap().is_some());
        parents::remove_tree(&place.steward, &place.base).await.unwrap();
        assert_eq!(place.steward.exists(&place.base).await.unwrap(), None);
    });
}

/// The server removes a container that has lost its last child, between the making of it and of what is below.
#[test]
fn a_container_that_is_removed_while_its_children_are_made_is_made_again() {
    on_ensemble(async |place| {
        let inner = place.session().await;
        let session = Faulty::new(inner.clone());
        let vanishing = place.base.clone();
        session.on(
            Op::Create,
            2,
            Fault::after(async move |path: String| {
                assert_eq!(path, format!("{vanishing}/below"));
                inner.delete(&vanishing).await.unwrap();
            }),
        );
        let path = format!("{}/below/it", place.base);
        within(parents::make(&session, &path)).await.unwrap();
        assert!(session.exists(&path).await.unwrap().is_some());
        assert!(session.is_used_up());
    });
}

#[test]
fn a_queue_that_is_removed_before_the_create_is_made_again() {
    on_ensemble(async |place| {
        for naive in [false, true] {
            parents::make(&place.steward, &place.base).await.unwrap();
            let inner = place.session().await;
            let session = Faulty::new(inner.clone());
            let base = place.base.clone();
            session.on(
                Op::Create,
                0,
                Fault::after(async move |_| {
                    parents::remove_tree(&inner, &base).await.unwrap();
                }),
            );
            if naive {
                let mut lock = NaiveLock::new(session, &place.base);
                let grant = acquire(&mut lock).await;
                lock.release(grant).await.unwrap();
            } else {
                let mut lock = SequentialLock::new(session, &place.base);
                let grant = acquire(&mut lock).await;
                lock.release(grant).await.unwrap();
            }
            place.left_clean().await;
        }
    });
}

#[test]
fn a_tree_that_grows_while_it_is_removed_goes_all_the_same() {
    on_ensemble(async |place| {
        let path = format!("{}/a/b", place.base);
        parents::make(&place.steward, &path).await.unwrap();
        let session = Faulty::new(place.session().await);
        // Before the first delete a child comes into being below, before the second one its parent's other child goes.
        let (grower, below) = (place.session().await, path.clone());
        session.on(
            Op::Delete,
            0,
            Fault::after(async move |deleted: String| {
                assert_eq!(deleted, below);
                grower.create(&format!("{below}/late"), CreateMode::Persistent, b"").await.unwrap();
            }),
        );
        let goer = place.session().await;
        session.on(
            Op::Delete,
            1,
            Fault::after(async move |deleted: String| {
                assert!(deleted.ends_with("/late"), "{deleted}");
                goer.delete(&deleted).await.unwrap();
            }),
        );
        session.on(Op::Delete, 2, Fault::LostReply);
        session.on(Op::Children, 1, Fault::LostReply);
        parents::remove_tree(&session, &place.base).await.unwrap();
        assert!(session.is_used_up());
        assert_eq!(session.exists(&place.base).await.unwrap(), None);
        // Nothing there is nothing to remove.
        parents::remove_tree(&session, &place.base).await.unwrap();
    });
}

#[test]
fn a_tree_that_is_removed_by_many_at_once_goes() {
    on_ensemble(async |place| {
        for number in 0..30 {
            parents::make(&place.steward, &format!("{}/{}/{number}", place.base, number % 5)).await.unwrap();
        }
        let mut removers = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (session, base) = (place.session().await, place.base.clone());
            removers.spawn(async move {
                session.sync(&base).await.unwrap();
                parents::remove_tree(&session, &base).await
            });
        }
        for removed in removers.join_all().await {
            removed.unwrap();
        }
        place.steward.sync(&place.base).await.unwrap();
        assert_eq!(place.steward.data(&place.base).await.err(), Some(SessionError::NoNode));
    });
}
