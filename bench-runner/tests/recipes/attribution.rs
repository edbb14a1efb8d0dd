//! Notifications are counted to the instance whose end caused them.
use std::sync::Arc;
use std::time::Duration;

use workloads::record::{Capacity, EventKind, Recorder, RequestKind};
use workloads::zookeeper::session::{CreateMode, Metered, Session, Watch};

use crate::place::on_ensemble;

fn recorder() -> Arc<Recorder> {
    let recorder = Recorder::new(Capacity { length: Duration::from_secs(60), grants: 100 }, true);
    recorder.open();
    Arc::new(recorder)
}

#[test]
fn a_notification_counts_to_the_instance_watched_although_another_has_its_path_by_now() {
    on_ensemble(async |place| {
        let recorder = recorder();
        let owner = place.session().await;
        let path = place.base.replace("/lock", "");
        let mut instances = Vec::new();
        let mut watches = Vec::new();
        for watchers in [2, 0, 3] {
            let instance = owner.create(&path, CreateMode::Ephemeral, b"").await.unwrap().stat.czxid;
            instances.push((instance, watchers));
            for _ in 0..watchers {
                let session = Metered::new(place.session().await, Arc::clone(&recorder));
                session.sync(&path).await.unwrap();
                let (_, stat, watch) = session.data_watched(&path).await.unwrap();
                assert_eq!(stat.czxid, instance);
                // The session lives as long as the watch is to stand.
                watches.push((session, watch));
            }
            owner.delete(&path).await.unwrap();
        }
        // A new instance is there by the time the first notification is handled, and is watched too.
        let last = owner.create(&path, CreateMode::Ephemeral, b"").await.unwrap().stat.czxid;
        for (session, watch) in watches {
            assert_eq!(watch.fired().await, Ok(EventKind::Deleted));
            let (_, stat, standing) = session.data_watched(&path).await.unwrap();
            assert_eq!(stat.czxid, last);
            drop(standing);
        }
        let recording = recorder.finish(recorder.now());
        let caused =
            |token| recording.fan_out.iter().find(|entry| entry.token == token).map_or(0, |entry| entry.notifications);
        for (instance, watchers) in instances {
            assert_eq!(caused(instance), watchers);
        }
        assert_eq!(caused(last), 0);
        assert_eq!(recording.tally.requests[RequestKind::RemoveWatches as usize], 5);
        assert_eq!(recorder.standing_watches(), 0);
        place.watched(0).await;
    });
}

#[test]
fn a_watch_whose_session_ends_stands_no_longer_and_is_no_notification() {
    on_ensemble(async |place| {
        let recorder = recorder();
        let proxy = crate::proxy::Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
        let client =
            workloads::zookeeper::session::Client::connect(&proxy.endpoint(), crate::place::SHORT).await.unwrap();
        let session = Metered::new(client, Arc::clone(&recorder));
        let path = place.base.replace("/lock", "");
        session.create(&path, CreateMode::Persistent, b"").await.unwrap();
        let (_, _, watch) = session.data_watched(&path).await.unwrap();
        assert_eq!(recorder.standing_watches(), 1);
        proxy.sever();
        assert!(crate::place::within(watch.fired()).await.is_err());
        assert_eq!(recorder.standing_watches(), 0);
        let tally = recorder.tally();
        assert_eq!((tally.total_notifications(), tally.requests[RequestKind::RemoveWatches as usize]), (0, 0));
    });
}
