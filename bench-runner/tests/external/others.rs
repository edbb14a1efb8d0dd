//! Servers that others use too: their counters are not ours alone, and that is told.
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bench_runner::exit;
use workloads::zookeeper::session::{CreateMode, Session, Watch};

use crate::place::Place;
use crate::running::finished;
use crate::written::summary;
use crate::{block_on, on_zookeeper, servers, tree};

/// Another client that is notified again and again until it is told to stop.
fn notified_for_ever(server: &servers::Server, stop: &AtomicBool) {
    block_on(async {
        let client = tree::session(server).await;
        client.create("/busy", CreateMode::Persistent, b"").await.unwrap();
        while !stop.load(Ordering::Relaxed) {
            let (_, _, watch) = client.data_watched("/busy").await.unwrap();
            client.set_data("/busy", b"again").await.unwrap();
            watch.fired().await.unwrap();
        }
    });
}

#[test]
fn the_servers_book_is_ours_alone_where_nobody_else_is_there() {
    let place = Place::with_servers();
    let server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    place.write("theirs.toml", &on_zookeeper("", &[server.endpoint()]));
    let run = ["run", "theirs.toml", "--allow-external", "--set", "workers.mode=drain"];
    finished(&mut place.command(&run)).expect(exit::DONE);
    let quiet = summary(&place.only_run_of("theirs"));
    let books = &quiet.arms[0].notifications;
    // 5 workers: 4 + 3 + 2 + 1, in all three books.
    assert_eq!((books.client, books.server, books.expected), (10, Some(10), Some(10)));
    assert_eq!((quiet.ensemble.provider.as_str(), quiet.ensemble.nodes), ("external", 1));
    assert!(quiet.warnings.iter().any(|warning| warning.text.contains("not bench-runner's own")));
    // What is not known is null, and says why.
    let node = &quiet.nodes[0];
    assert_eq!((node.role.as_str(), node.cpu_seconds, node.peak_rss_bytes), ("standalone", None, None));
    assert!(node.usage_missing.as_ref().unwrap().contains("not a process"));
    assert_eq!((quiet.arms[0].nodes_cpu_seconds, quiet.arms[0].generator.cpu_share), (None, None));

    std::fs::remove_dir_all(place.path("results")).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| notified_for_ever(&server, &stop));
        let done = finished(&mut place.command(&run));
        stop.store(true, Ordering::Relaxed);
        done.expect(exit::DONE);
    });
    let busy = summary(&place.only_run_of("theirs"));
    let books = &busy.arms[0].notifications;
    assert_eq!((books.client, books.server), (10, None));
    let why = books.server_missing.as_ref().unwrap();
    assert!(why.contains("other clients of the ensemble caused"), "{why}");
}
