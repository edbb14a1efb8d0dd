//! What a barrier costs is what its closed form says, at the clients and at the servers.
use std::sync::Arc;
use std::time::Duration;

use bench_runner::ensemble::Kinds;
use workloads::recipe::barrier::{self, SingleBarrier as _};
use workloads::record::{Capacity, Recorder, RequestKind, Tally};
use workloads::zookeeper::session::{Client, Metered};
use workloads::zookeeper::{DoubleBarrier, NaiveDoubleBarrier, SingleBarrier};

use crate::place::{PATIENCE, Place, on_ensemble};
use crate::rounds::{Told, WakeUps, enter_settled, herd, leave_settled, none, waiting};

const MEMBERS: u32 = 100;

type Session = Metered<Client>;

/// Sessions that write to one recorder.
async fn sessions(place: &Place) -> (Arc<Recorder>, Vec<Session>) {
    let recorder = Arc::new(Recorder::new(Capacity { length: Duration::from_secs(600), grants: 1000 }, true));
    let mut sessions = Vec::new();
    for _ in 0..MEMBERS {
        sessions.push(Metered::new(place.session().await, Arc::clone(&recorder)));
    }
    // The parents are made by no member.
    workloads::zookeeper::parents::make(&place.steward, &format!("{}/members", place.base)).await.unwrap();
    workloads::zookeeper::parents::remove_tree(&place.steward, &format!("{}/members", place.base)).await.unwrap();
    recorder.open();
    (recorder, sessions)
}

/// What was counted during `work`: by the clients, and by the servers, which must agree.
async fn counted<T>(place: &Place, recorder: &Recorder, work: impl Future<Output = T>) -> (T, Tally, Kinds) {
    let (servers, clients) = (place.ensemble.counters_at_rest(PATIENCE).await.unwrap(), recorder.tally());
    let done = work.await;
    let since = place.ensemble.counters_at_rest(PATIENCE).await.unwrap().since(&servers).unwrap();
    let mut tally = recorder.tally();
    for (now, before) in tally.requests.iter_mut().zip(clients.requests) {
        *now -= before;
    }
    for (now, before) in tally.notifications.iter_mut().zip(clients.notifications) {
        *now -= before;
    }
    let kinds = since.notifications.unwrap().kinds.unwrap();
    assert_eq!([kinds.created, kinds.deleted, kinds.changed, kinds.children], tally.notifications);
    (done, tally, kinds)
}

/// Notifications of an enter and of a leave, of a barrier that is used twice.
async fn in_and_out<B: barrier::DoubleBarrier + 'static>(
    place: &Place,
    new: impl Fn(Session) -> B,
    wake_ups: WakeUps,
    expected: [(Kinds, Kinds); 2],
) -> Tally {
    let (recorder, sessions) = sessions(place).await;
    let mut members: Vec<B> = sessions.into_iter().map(new).collect();
    let mut last = Tally::default();
    for (enter, leave) in expected {
        let (inside, _, kinds) = counted(place, &recorder, enter_settled(members, wake_ups)).await;
        assert_eq!(kinds, enter);
        let (out, tally, kinds) = counted(place, &recorder, leave_settled(inside, wake_ups)).await;
        assert_eq!(kinds, leave);
        (members, last) = (out, tally);
    }
    drop(members);
    last
}

#[test]
fn a_double_barrier_of_100_members_costs_what_its_closed_form_says() {
    on_ensemble(async |place| {
        let n = u64::from(MEMBERS);
        let enter = Kinds { created: n, ..Kinds::default() };
        let leave = Kinds { deleted: n - 1, ..Kinds::default() };
        let new = |session| DoubleBarrier::new(session, &place.base, MEMBERS);
        let tally = in_and_out(place, new, none, [(enter, leave); 2]).await;
        // List, watch, delete, list, delete `ready`; the lowest is alone.
        let requests = |kind: RequestKind| tally.requests[kind as usize];
        assert_eq!(requests(RequestKind::GetChildren), 2 * n - 1);
        assert_eq!(requests(RequestKind::GetData), n - 1);
        assert_eq!(requests(RequestKind::Delete), 2 * n);
        assert_eq!(tally.total_requests(), 5 * (n - 1) + 3);
    });
}

#[test]
fn a_naive_double_barrier_of_100_members_costs_what_its_closed_form_says() {
    on_ensemble(async |place| {
        let n = u64::from(MEMBERS);
        let children = |children| Kinds { children, ..Kinds::default() };
        let pairs = n * (n - 1) / 2;
        let new = |session| NaiveDoubleBarrier::new(session, &place.base, MEMBERS);
        let expected =
            [(pairs, pairs + n), (pairs + n, pairs + n)].map(|(enter, leave)| (children(enter), children(leave)));
        in_and_out(place, new, herd, expected).await;
    });
}

#[test]
fn a_single_barrier_costs_one_notification_for_each_of_100_who_wait() {
    on_ensemble(async |place| {
        let (recorder, sessions) = sessions(place).await;
        let mut controller = SingleBarrier::new(place.session().await, &place.base);
        controller.set().await.unwrap();
        let told = Told::default();
        let work = async {
            let all: Vec<_> =
                sessions.into_iter().map(|session| waiting(SingleBarrier::new(session, &place.base), &told)).collect();
            told.settled(0, u64::from(MEMBERS)).await;
            assert!(all.iter().all(|waiter| !waiter.is_over()));
            controller.remove().await.unwrap();
            let mut released = Vec::new();
            for waiter in all {
                released.push(waiter.done().await);
            }
            released
        };
        let (released, tally, kinds) = counted(place, &recorder, work).await;
        assert_eq!(kinds, Kinds { deleted: u64::from(MEMBERS), ..Kinds::default() });
        // Sync, watch, look again.
        assert_eq!(tally.total_requests(), 3 * u64::from(MEMBERS));
        drop(released);
    });
}
