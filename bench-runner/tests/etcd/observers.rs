//! etcd's election beyond the verbs of a lock: proclaim, resign, leader, observe.

use tokio::time::timeout;
use workloads::etcd::Election;
use workloads::etcd::election::{Leader, Observation};
use workloads::etcd::session::{Client, Session};
use workloads::recipe::{Grant, RecipeError};

use super::PATIENCE;
use super::proxy::Proxy;
use super::support::*;

async fn campaign(election: &mut Election<Client>, value: &str) -> Grant {
    let mut seen = Seen::default();
    timeout(PATIENCE, election.campaign(value.as_bytes(), &mut seen)).await.expect("the campaign is won").unwrap()
}

fn leader(leadership: &Grant, value: &str) -> Option<Leader> {
    Some(Leader { key: leadership.path.clone(), token: leadership.token, value: value.into() })
}

async fn next(observation: &mut Observation<Client>) -> Option<Leader> {
    timeout(PATIENCE, observation.next()).await.expect("there is something to tell").unwrap()
}

/// Whoever listens late, or slowly, is told everything in order.
#[tokio::test(flavor = "multi_thread")]
async fn an_observer_is_told_every_change_and_that_nobody_leads() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let proxy = Proxy::before(ensemble.nodes()[2].endpoint()).await;
    let listening = Election::new(session_at(&proxy.endpoint(), 0).await, BASE);
    let mut observation = listening.observe();
    assert_eq!((next(&mut observation).await, listening.leader().await.unwrap()), (None, None));

    // Told while it listens, at each step.
    let mut one = Election::new(session_at(&endpoints, 0).await, BASE);
    let (told, leadership) = tokio::join!(next(&mut observation), campaign(&mut one, "one"));
    assert_eq!(told, leader(&leadership, "one"));
    let (told, _) =
        tokio::join!(next(&mut observation), async { one.proclaim(&leadership, b"still one").await.unwrap() });
    assert_eq!(told, leader(&leadership, "still one"));
    assert_eq!(listening.leader().await.unwrap(), told);

    // Told afterwards, out of the history: its connection was gone meanwhile. The other takes over without a gap.
    proxy.cut();
    let mut other = Election::new(session_at(&endpoints, 1).await, BASE);
    let (_, next_leadership) = tokio::join!(
        async {
            eventually("the other is in the queue", async || queue(&ensemble).len() == 2).await;
            one.resign(leadership).await.unwrap();
        },
        campaign(&mut other, "other"),
    );
    other.proclaim(&next_leadership, b"still the other").await.unwrap();
    other.resign(next_leadership.clone()).await.unwrap();
    let last = campaign(&mut one, "one again").await;
    proxy.mend();
    assert_eq!(next(&mut observation).await, leader(&next_leadership, "other"));
    assert_eq!(next(&mut observation).await, leader(&next_leadership, "still the other"));
    assert_eq!(next(&mut observation).await, None);
    assert_eq!(next(&mut observation).await, leader(&last, "one again"));

    // A call that is dropped loses nothing; a leader's death is told as well as its resignation.
    for _ in 0..3 {
        assert!(poll_once(std::pin::pin!(observation.next())).is_pending());
    }
    revoke(&ensemble, i64::from_str_radix(last.path.rsplit('/').next().unwrap(), 16).unwrap());
    assert_eq!(next(&mut observation).await, None);
    drop((observation, listening));
    watched(&ensemble, 0).await;
    ensemble.stop().await.unwrap();
}

/// What was compacted away cannot be told any more; how things stand can.
#[tokio::test(flavor = "multi_thread")]
async fn an_observer_whose_history_is_compacted_away_is_told_how_things_stand() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let mut one = Election::new(session_at(&endpoints, 0).await, BASE);
    let mut observation = Election::new(session_at(&endpoints, 1).await, BASE).observe();
    assert_eq!(next(&mut observation).await, None);
    let first = campaign(&mut one, "first").await;
    one.resign(first).await.unwrap();
    let second = campaign(&mut one, "second").await;
    etcdctl(&ensemble, &["compact", &second.token.to_string()]);
    assert_eq!(next(&mut observation).await, leader(&second, "second"));
    drop(observation);
    // A server counts a watch that it could not serve until its stream closes.
    watched(&ensemble, 0).await;

    // The event arrives, and what led at its revision is compacted away before the observer asks for it.
    let mut observation = Election::new(session_at(&endpoints, 2).await, BASE).observe();
    assert_eq!(next(&mut observation).await, leader(&second, "second"));
    let third = {
        let mut listening = std::pin::pin!(next(&mut observation));
        assert!(poll_once(listening.as_mut()).is_pending());
        watched(&ensemble, 1).await;
        one.resign(second).await.unwrap();
        let third = campaign(&mut one, "third").await;
        etcdctl(&ensemble, &["compact", &third.token.to_string()]);
        assert_eq!(listening.await, leader(&third, "third"));
        third
    };
    one.resign(third).await.unwrap();
    assert_eq!(next(&mut observation).await, None);
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn proclaiming_and_resigning_a_lost_leadership_are_refused() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let refused = |outcome: Result<(), RecipeError>| {
        assert!(matches!(outcome, Err(RecipeError::EntryVanished(_))), "{outcome:?}");
    };
    let mut one = Election::new(session_at(&endpoints, 0).await, BASE);

    // It was resigned, and the same session leads again.
    let old = campaign(&mut one, "old").await;
    one.resign(old.clone()).await.unwrap();
    let new = campaign(&mut one, "new").await;
    refused(one.proclaim(&old, b"mine").await);
    refused(one.resign(old).await);
    assert_eq!(one.leader().await.unwrap(), leader(&new, "new"));

    // One that leads already keeps its leadership, and proclaims.
    assert_eq!(campaign(&mut one, "newer").await, new);
    assert_eq!(one.leader().await.unwrap(), leader(&new, "newer"));

    // Somebody removed the key and made one of the same name.
    etcdctl(&ensemble, &["del", &new.path]);
    etcdctl(&ensemble, &["put", &new.path, "somebody else's"]);
    refused(one.proclaim(&new, b"mine").await);
    refused(one.resign(new.clone()).await);
    let found = one.leader().await.unwrap().unwrap();
    assert_eq!((found.value.as_slice(), found.token > new.token), (b"somebody else's".as_slice(), true));
    etcdctl(&ensemble, &["del", &new.path]);

    // The lease is gone, and another leads. The session may know it by now.
    let session = session_at(&endpoints, 1).await;
    let mut other = Election::new(session.clone(), BASE);
    let lost = campaign(&mut other, "other").await;
    revoke(&ensemble, session.lease());
    let leads = campaign(&mut one, "one").await;
    let outcomes = [other.proclaim(&lost, b"mine").await, other.resign(lost).await];
    assert!(
        outcomes
            .iter()
            .all(|outcome| matches!(outcome, Err(RecipeError::EntryVanished(_) | RecipeError::SessionLost(_)))),
        "{outcomes:?}"
    );
    assert_eq!(one.leader().await.unwrap(), leader(&leads, "one"));
    ensemble.stop().await.unwrap();
}
