//! When a session takes its lease to be over.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use workloads::chaos::{self, Trace, Weather};
use workloads::etcd::memory::{Ensemble, Settings};
use workloads::etcd::session::{Session, SessionError, Txn};

/// kubernetes #23731: a leader is told before its lease ends. Here every renewal is confirmed at once and renewals come every
/// second, so that the servers, which look twice a second, revoke the lease as early as they can: the session has to give up
/// at its deadline, not with the next try of a renewal.
#[test]
fn a_session_that_is_cut_off_gives_up_before_the_servers_do() {
    for (seed, silent) in (0..200).flat_map(|seed| [(seed, false), (seed, true)]) {
        chaos::run(seed, || async move {
            let settings = Settings { ttl: Duration::from_secs(3), ..Settings::new(Weather::STILL) };
            let ensemble = Ensemble::start(seed, settings, Trace::off());
            let session = ensemble.connect().await.unwrap();
            sleep(Duration::from_millis(20 * seed)).await;
            ensemble.cut(session.lease(), Duration::from_secs(60), silent);
            let cut = Instant::now();
            assert!(matches!(session.over().await, SessionError::Lost(_)));
            assert!(
                !ensemble.is_over(session.lease()),
                "seed {seed}: the servers were first, after {:?}",
                cut.elapsed()
            );
            assert!(session.check().is_err());
            // And they are not long in coming.
            sleep(Duration::from_secs(2)).await;
            assert!(ensemble.is_over(session.lease()));
        });
    }
}

/// An outage that is shorter than the ttl ends nothing: the lease is renewed over the next connection.
#[test]
fn a_session_outlives_an_outage_that_is_shorter_than_its_ttl() {
    for (seed, silent) in (0..50).flat_map(|seed| [(seed, false), (seed, true)]) {
        chaos::run(seed, || async move {
            let ensemble = Ensemble::start(seed, Settings::new(Weather::STILL), Trace::off());
            let session = ensemble.connect().await.unwrap();
            for _ in 0..20 {
                ensemble.cut(session.lease(), Duration::from_millis(20 * seed), silent);
                sleep(Duration::from_secs(8)).await;
                session.check().unwrap();
                assert!(!ensemble.is_over(session.lease()));
            }
        });
    }
}

/// A process that has stood still over its lease's deadline looks at the clock before it does anything else: what it was about
/// to send is not sent. A key without a lease, as a barrier is, would stand for ever: whoever set it has been told that the
/// session is over, and has gone on with another one (`barrier/single`, seed 7537).
#[test]
fn a_session_that_stood_still_over_its_deadline_sends_nothing_when_it_wakes() {
    for seed in 0..200 {
        chaos::run(seed, || async move {
            let ensemble = Ensemble::start(seed, Settings::new(Weather::STILL), Trace::off());
            let session = ensemble.connect().await.unwrap();
            sleep(Duration::from_millis(20 * seed)).await;
            ensemble.pause(session.lease(), Duration::from_secs(5));
            let sent = ensemble.counters().requests;
            let outcome = session.txn(Txn::put_while("barrier", 0, "barrier")).await;
            assert!(matches!(outcome, Err(SessionError::Lost(_))), "seed {seed}: {outcome:?}");
            sleep(Duration::from_secs(2)).await;
            assert_eq!(ensemble.below("barrier"), Vec::<String>::new(), "seed {seed}");
            assert_eq!(ensemble.counters().requests, sent, "seed {seed}");
        });
    }
}
