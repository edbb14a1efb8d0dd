//! What a barrier costs is what its closed form says, at the clients and at the servers.
use std::sync::Arc;
use std::time::Duration;

use bench_runner::ensemble::Ensemble;
use workloads::etcd::session::{Client, Connection};
use workloads::etcd::{DoubleBarrier, NaiveDoubleBarrier, SingleBarrier};
use workloads::recipe::barrier::{self, SingleBarrier as _};
use workloads::record::{Capacity, EventKind, Recorder, RequestKind, Tally};

use super::super::support::{session_at, three_nodes};
use super::BASE;
use crate::PATIENCE;
use crate::rounds::{Told, WakeUps, enter_settled, herd, leave_settled, none, waiting};

const MEMBERS: u32 = 100;
/// A busy machine does not end it.
const LONG: Duration = Duration::from_secs(60);

/// Sessions that write to one recorder.
async fn sessions(ensemble: &Ensemble) -> (Arc<Recorder>, Vec<Client>) {
    let recorder = Arc::new(Recorder::new(Capacity { length: Duration::from_secs(600), grants: 1000 }, true));
    let mut sessions = Vec::new();
    for number in 0..MEMBERS {
        let connection = Connection::new(&ensemble.connect_string(), number as usize).await.unwrap();
        let tap = Arc::clone(&recorder) as Arc<_>;
        sessions.push(Client::open(Arc::new(connection), LONG, tap).await.unwrap());
    }
    recorder.open();
    (recorder, sessions)
}

/// What the clients counted during `work`, of which the servers must have counted as many notifications.
async fn counted<T>(ensemble: &Ensemble, recorder: &Recorder, work: impl Future<Output = T>) -> (T, Tally) {
    let (servers, clients) = (ensemble.counters_at_rest(PATIENCE).await.unwrap(), recorder.tally());
    let done = work.await;
    let since = ensemble.counters_at_rest(PATIENCE).await.unwrap().since(&servers).unwrap();
    let mut tally = recorder.tally();
    for (now, before) in tally.requests.iter_mut().zip(clients.requests) {
        *now -= before;
    }
    for (now, before) in tally.notifications.iter_mut().zip(clients.notifications) {
        *now -= before;
    }
    assert_eq!(since.notifications.unwrap().total, tally.total_notifications());
    (done, tally)
}

/// Two rounds of so many notifications for an enter and a leave; the tally of the last leave.
async fn in_and_out<B: barrier::DoubleBarrier + 'static>(
    ensemble: &Ensemble,
    new: impl Fn(Client) -> B,
    wake_ups: WakeUps,
    (enter, leave): (u64, u64),
) -> Tally {
    let (recorder, sessions) = sessions(ensemble).await;
    let mut members: Vec<B> = sessions.into_iter().map(new).collect();
    let mut last = Tally::default();
    for _ in 0..2 {
        let (inside, tally) = counted(ensemble, &recorder, enter_settled(members, wake_ups)).await;
        assert_eq!((tally.notifications[EventKind::Created as usize], tally.total_notifications()), (enter, enter));
        (members, last) = counted(ensemble, &recorder, leave_settled(inside, wake_ups)).await;
        assert_eq!((last.notifications[EventKind::Deleted as usize], last.total_notifications()), (leave, leave));
    }
    assert_eq!(recorder.finish(recorder.now()).untracked, 0);
    drop(members);
    last
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_barrier_of_100_members_costs_what_its_closed_form_says() {
    let ensemble = three_nodes().await;
    let n = u64::from(MEMBERS);
    let new = |session| DoubleBarrier::new(session, BASE, MEMBERS);
    let tally = in_and_out(&ensemble, new, none, (n - 1, n - 1)).await;
    let requests = |kind: RequestKind| tally.requests[kind as usize];
    assert_eq!(requests(RequestKind::Range), 3 * n);
    assert_eq!(requests(RequestKind::Txn), n + 1);
    assert_eq!((requests(RequestKind::WatchCreate), requests(RequestKind::WatchCancel)), (n - 1, n - 1));
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_naive_double_barrier_of_100_members_costs_what_its_closed_form_says() {
    let ensemble = three_nodes().await;
    let pairs = u64::from(MEMBERS) * (u64::from(MEMBERS) - 1) / 2;
    in_and_out(&ensemble, |session| NaiveDoubleBarrier::new(session, BASE, MEMBERS), herd, (pairs, pairs)).await;
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_barrier_costs_one_notification_for_each_of_100_who_wait() {
    let ensemble = three_nodes().await;
    let (recorder, sessions) = sessions(&ensemble).await;
    let mut controller = SingleBarrier::new(session_at(&ensemble.connect_string(), 0).await, BASE);
    controller.set().await.unwrap();
    let told = Told::default();
    let work = async {
        let all: Vec<_> =
            sessions.into_iter().map(|session| waiting(SingleBarrier::new(session, BASE), &told)).collect();
        told.settled(0, u64::from(MEMBERS)).await;
        assert!(all.iter().all(|waiter| !waiter.is_over()));
        controller.remove().await.unwrap();
        let mut released = Vec::new();
        for waiter in all {
            released.push(waiter.done().await);
        }
        released
    };
    let (released, tally) = counted(&ensemble, &recorder, work).await;
    assert_eq!(tally.notifications[EventKind::Deleted as usize], u64::from(MEMBERS));
    assert_eq!(tally.total_notifications(), u64::from(MEMBERS));
    drop(released);
    ensemble.stop().await.unwrap();
}
