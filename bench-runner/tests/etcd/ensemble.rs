//! The ensemble stage on a real etcd; what it shares with ZooKeeper is tested there.

use bench_runner::ensemble::{Ensemble, EnsembleError, EtcdSettings, Role, Search};

use super::{PATIENCE, settings, start};

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_serve_tell_and_leave_nothing() {
    let ensemble = start(settings(3)).await.unwrap();
    let description = ensemble.describe().await.unwrap();
    let count = |role| description.nodes.iter().filter(|node| node.role == role).count();
    assert_eq!((count(Role::Leader), count(Role::Follower)), (1, 2), "{description:?}");
    assert_eq!((description.service.as_str(), description.nodes[0].name.as_str()), ("etcd", "etcd-1"));
    assert_eq!(description.settings["--election-timeout"], "1000");
    assert!(description.version.starts_with("3."), "{description:?}");
    assert_eq!(description.java, None);

    let before = ensemble.counters().await.unwrap();
    assert_eq!((before.sessions, before.watches), (0, 0), "{before:?}");
    assert_eq!(before.notifications.map(|notifications| notifications.total), Some(0));
    let sample = ensemble.sample().await;
    assert_eq!((sample.watches(), sample.sessions), (Some(0), Some(0)), "{sample:?}");
    assert!(sample.nodes.iter().all(|node| node.rss_bytes > Some(0) && node.cpu_seconds > Some(0.0)), "{sample:?}");
    ensemble.settled(0, 0, PATIENCE).await.unwrap();
    ensemble.counters_at_rest(PATIENCE).await.unwrap();
    ensemble.check_alive().unwrap();

    let pids: Vec<u32> = ensemble.nodes().iter().flat_map(|node| [node.pid(), node.keeper_pid()]).collect();
    ensemble.stop().await.unwrap();
    for pid in pids {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_node_leads() {
    let ensemble = start(settings(1)).await.unwrap();
    let description = ensemble.describe().await.unwrap();
    assert_eq!(description.nodes.iter().map(|node| node.role).collect::<Vec<_>>(), [Role::Leader]);
    ensemble.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_not_installed_is_named_with_the_remedy() {
    let search = Search { etcd_bin: None, path: "/nonexistent".into(), ..Search::from_env() };
    let error = Ensemble::start_from(settings(3), &search, &|_| {}).await.unwrap_err();
    assert!(matches!(error, EnsembleError::NoEtcd { .. }), "{error}");
    let text = error.to_string();
    assert!(["scripts/setup", "`etcd-server`", "ETCD_BIN"].iter().all(|remedy| text.contains(remedy)), "{text}");
}

/// `--unsafe-no-fsync` came with 3.5; a 3.4 that is told to leave fsync out refuses before anything starts.
#[tokio::test(flavor = "multi_thread")]
async fn fsync_is_left_out_or_refused() {
    match start(EtcdSettings { fsync: false, ..settings(1) }).await {
        Ok(ensemble) => {
            let description = ensemble.describe().await.unwrap();
            assert!(!description.version.starts_with("3.4."), "{description:?}");
            ensemble.stop().await.unwrap();
        }
        Err(error) => {
            assert!(matches!(error, EnsembleError::Settings { .. }), "{error}");
            assert!(error.to_string().contains("ETCD_BIN") && error.to_string().contains("3.5"), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = start(EtcdSettings { base_port: Some(port), ..settings(1) }).await.unwrap_err();
    assert!(matches!(error, EnsembleError::PortTaken { port: named, .. } if named == port), "{error}");
}
