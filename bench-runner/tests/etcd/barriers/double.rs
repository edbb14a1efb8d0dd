//! Both double barriers on etcd: what goes wrong elsewhere goes right here.
use workloads::etcd::session::{Client, Session};
use workloads::etcd::{DoubleBarrier, NaiveDoubleBarrier};
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{self, DoubleBarrier as _, Entered};

use bench_runner::ensemble::Ensemble;

use super::super::support::{etcdctl, eventually, lasting_session_at, revoke, session_at, three_nodes};
use super::BASE;
use crate::rounds::{Held, Told, cut_off, entering, entering_as, leaving, rounds_with_a_late_waker};

async fn members<B>(ensemble: &Ensemble, count: usize, new: impl Fn(Client) -> B) -> Vec<B> {
    let mut members = Vec::new();
    for number in 0..count {
        members.push(new(lasting_session_at(&ensemble.connect_string(), number).await));
    }
    members
}

/// The keys of the barrier, in the order of their creation.
fn keys(ensemble: &Ensemble) -> Vec<String> {
    let listed = etcdctl(ensemble, &["get", "--prefix", BASE, "--keys-only", "--sort-by=CREATE"]);
    listed.lines().filter(|line| !line.is_empty()).map(String::from).collect()
}

async fn left_clean(ensemble: &Ensemble) {
    eventually("no key is left", async || keys(ensemble).is_empty()).await;
    watched(ensemble, 0).await;
}

async fn watched(ensemble: &Ensemble, count: u64) {
    eventually(&format!("{count} watches"), async || {
        ensemble.counters().await.is_ok_and(|counters| counters.watches == count)
    })
    .await;
}

/// Lets members that are inside go.
async fn all_leave<B: barrier::DoubleBarrier + 'static>(inside: impl IntoIterator<Item = B>, told: &Told) {
    let underway: Vec<_> = inside.into_iter().map(|member| leaving(member, told)).collect();
    for member in underway {
        member.done().await;
    }
}

/// Curator #1291, and the same for whoever counts: the late waker finds that some have left again, or entered again.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_sticks_and_nobody_passes_early_with_a_late_waker() {
    let ensemble = three_nodes().await;
    let double = async |count: u32| {
        let base = format!("{BASE}/{count}");
        let new = |session| DoubleBarrier::new(session, &base, count);
        rounds_with_a_late_waker(members(&ensemble, count as usize, new).await, 50).await;
    };
    let naive = async || {
        let base = format!("{BASE}/naive");
        let new = |session| NaiveDoubleBarrier::new(session, &base, 20);
        rounds_with_a_late_waker(members(&ensemble, 20, new).await, 50).await;
    };
    tokio::join!(double(20), double(50), naive());
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}

/// Curator #1290: the barrier is bypassed on a spurious wake-up.
#[tokio::test(flavor = "multi_thread")]
async fn a_wake_up_alone_opens_nothing() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let [first, second] =
        members(&ensemble, 2, |session| DoubleBarrier::new(session, BASE, 2)).await.try_into().ok().unwrap();
    let (go_on, held) = Held::new(&told);
    let first = entering_as(first, held);
    told.settled(0, 1).await;
    let ready = format!("{BASE}/ready");
    etcdctl(&ensemble, &["put", &ready, ""]);
    eventually("it is woken", async || told.woken() == 1).await;
    // Before it looks, what woke it is gone.
    etcdctl(&ensemble, &["del", &ready]);
    go_on.send(()).unwrap();
    told.settled(1, 1).await;
    assert!(!first.is_over());
    go_on.send(()).unwrap();
    let second = entering(second, &told);
    all_leave([first.done().await, second.done().await], &told).await;
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn members_beyond_the_quantity_are_refused_and_leave_no_key() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let mut inside = Vec::new();
    let all = members(&ensemble, 3, |session| DoubleBarrier::new(session, BASE, 2)).await;
    let [first, second, mut beyond] = all.try_into().ok().unwrap();
    let first = entering(first, &told);
    told.settled(0, 1).await;
    inside.push(entering(second, &told).done().await);
    inside.push(first.done().await);
    let before = keys(&ensemble);
    assert_eq!(beyond.enter(&mut told.clone()).await, Ok(Entered::Refused));
    assert_eq!(keys(&ensemble), before);
    let outcome = beyond.leave(&mut told.clone()).await;
    assert!(matches!(outcome, Err(RecipeError::Service(_))), "{outcome:?}");
    all_leave(inside, &told).await;
    // Those who came first, whoever asks last: the barrier is free again.
    let alone = DoubleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE, 2);
    let (alone, beyond) = (entering(alone, &told), entering(beyond, &told));
    all_leave([alone.done().await, beyond.done().await], &told).await;
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}

/// What all members that died inside left behind opens nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_barrier_left_open_by_the_dead_is_shut_for_those_who_come_next() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    etcdctl(&ensemble, &["put", &format!("{BASE}/ready"), ""]);
    let [first, second] =
        members(&ensemble, 2, |session| DoubleBarrier::new(session, BASE, 2)).await.try_into().ok().unwrap();
    let first = entering(first, &told);
    told.settled(0, 1).await;
    assert!(!first.is_over());
    let second = entering(second, &told);
    all_leave([first.done().await, second.done().await], &told).await;
    let [first, second] =
        members(&ensemble, 2, |session| NaiveDoubleBarrier::new(session, BASE, 2)).await.try_into().ok().unwrap();
    etcdctl(&ensemble, &["put", &format!("{BASE}/ready"), ""]);
    let woken = told.woken();
    let first = entering(first, &told);
    told.settled(woken, 1).await;
    assert!(!first.is_over());
    let second = entering(second, &told);
    all_leave([first.done().await, second.done().await], &told).await;
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}

async fn cut_off_and_again<B: barrier::DoubleBarrier + 'static>(ensemble: &Ensemble, new: fn(Client) -> B) {
    let told = Told::default();
    let [mut first, second, third] = members(ensemble, 3, new).await.try_into().ok().unwrap();
    for _ in 0..3 {
        cut_off(first.enter(&mut told.clone()), &told).await;
    }
    // Once more at once: with what an earlier attempt left behind these two would be three.
    let (first, second) = (entering(first, &told), entering(second, &told));
    watched(ensemble, 2).await;
    assert!(!first.is_over() && !second.is_over() && keys(ensemble).len() == 2);
    let third = entering(third, &told);
    let [mut one, mut two, three] = [first.done().await, second.done().await, third.done().await];
    // In the same way out, of which the lowest may be any.
    cut_off(one.leave(&mut told.clone()), &told).await;
    cut_off(two.leave(&mut told.clone()), &told).await;
    all_leave([three], &told).await;
    left_clean(ensemble).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cut_off_counts_no_more_and_may_be_tried_again() {
    let ensemble = three_nodes().await;
    cut_off_and_again(&ensemble, |session| DoubleBarrier::new(session, BASE, 3)).await;
    cut_off_and_again(&ensemble, |session| NaiveDoubleBarrier::new(session, BASE, 3)).await;
    ensemble.stop().await.unwrap();
}

async fn the_dead_hold_nobody_back<B: barrier::DoubleBarrier + 'static>(ensemble: &Ensemble, new: fn(Client) -> B) {
    let told = Told::default();
    let dying = session_at(&ensemble.connect_string(), 0).await;
    let lease = dying.lease();
    let dying = entering(new(dying), &told);
    told.settled(0, 1).await;
    revoke(ensemble, lease);
    let (_, outcome) = dying.outcome().await;
    assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{outcome:?}");
    let inside = session_at(&ensemble.connect_string(), 1).await;
    let lease = inside.lease();
    let [first, second] = members(ensemble, 2, new).await.try_into().ok().unwrap();
    let first = entering(first, &told);
    watched(ensemble, 1).await;
    let second = entering(second, &told);
    watched(ensemble, 2).await;
    assert!(!first.is_over() && !second.is_over());
    let inside = entering(new(inside), &told);
    let (first, second, inside) = (first.done().await, second.done().await, inside.done().await);
    let out = [first, second].map(|member| leaving(member, &told));
    eventually("one is waited for", async || keys(ensemble).iter().filter(|key| key.contains("waiters")).count() <= 2)
        .await;
    assert!(out.iter().all(|member| !member.is_over()));
    revoke(ensemble, lease);
    for member in out {
        member.done().await;
    }
    drop(inside);
    left_clean(ensemble).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_die_are_neither_counted_nor_waited_for() {
    let ensemble = three_nodes().await;
    the_dead_hold_nobody_back(&ensemble, |session| DoubleBarrier::new(session, BASE, 3)).await;
    the_dead_hold_nobody_back(&ensemble, |session| NaiveDoubleBarrier::new(session, BASE, 3)).await;
    ensemble.stop().await.unwrap();
}

/// A member whose lease is gone must not be let in, however the barrier opens, and one whose key is gone is told so.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_inside_without_a_key() {
    let ensemble = three_nodes().await;
    let told = Told::default();
    let [first, second, mut third] =
        members(&ensemble, 3, |session| DoubleBarrier::new(session, BASE, 2)).await.try_into().ok().unwrap();
    let first = entering(first, &told);
    told.settled(0, 1).await;
    let key = keys(&ensemble).remove(0);
    etcdctl(&ensemble, &["del", &key]);
    let second = entering(second, &told);
    told.settled(0, 2).await;
    third.enter(&mut told.clone()).await.unwrap();
    let (_, outcome) = first.outcome().await;
    assert_eq!(outcome, Err(RecipeError::EntryVanished(key)));
    all_leave([second.done().await, third], &told).await;
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}

/// etcd's layout: members under their leases below `waiters`, `ready` without one.
#[tokio::test(flavor = "multi_thread")]
async fn members_and_ready_have_etcds_keys() {
    let ensemble = three_nodes().await;
    let session = session_at(&ensemble.connect_string(), 0).await;
    let member = format!("{BASE}/waiters/{:x}", session.lease());
    let mut barrier = DoubleBarrier::new(session, BASE, 1);
    let told = Told::default();
    assert!(matches!(barrier.enter(&mut told.clone()).await, Ok(Entered::Inside(_))));
    assert_eq!(keys(&ensemble), [member.clone(), format!("{BASE}/ready")]);
    let lease_of = |key: &str| -> serde_json::Value {
        let answer: serde_json::Value = serde_json::from_str(&etcdctl(&ensemble, &["get", key, "-w", "json"])).unwrap();
        answer["kvs"][0]["lease"].clone()
    };
    assert!(lease_of(&member).is_i64() && lease_of(&format!("{BASE}/ready")).is_null());
    barrier.leave(&mut told.clone()).await.unwrap();
    left_clean(&ensemble).await;
    ensemble.stop().await.unwrap();
}
