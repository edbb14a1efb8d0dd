//! A run in which mutual exclusion broke fails loudly. It is broken from outside: somebody deletes the znode of a lock that
//! is held, as an operator's mistake would, and another worker takes the lock.

use bench_runner::exit;
use zookeeper_client::Client;

use crate::place::{Place, SMALL};
use crate::running::{Running, Server};
use crate::written::summary;

#[test]
fn two_workers_that_hold_one_lock_fail_the_run() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let set = ["--set", "workers.hold=300ms", "--set", "trials.duration=15s"];
    let running = Running::start(&mut place.command(&[&["run", "mine.toml"], &set[..]].concat()));
    let server = Server::wait_for(&place, "zookeeper-1");
    server.wait_for_contention();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(take_locks_away(&format!("127.0.0.1:{}", server.port)));

    let done =
        running.finish().expect(exit::UNSAFE).tells(&["error: safety violated: lock/naive: ", "overlapping grant"]);
    assert!(done.stdout.contains("Safety violated"), "{}", done.stdout);
    assert!(done.stdout.contains("Do not trust this lock"), "{}", done.stdout);
    // The run itself went through, so its results are whole, and tell.
    let run = place.only_run_of("mine");
    assert!(!run.to_string_lossy().ends_with(".partial"));
    let summary = summary(&run);
    assert!(summary.complete && summary.arms[0].safety.overlaps > 0);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("Safety violated"));
    place.assert_nothing_left();
}

/// Deletes the lock's znode several times in a row: each time under whoever holds it.
async fn take_locks_away(server: &str) {
    let client = Client::connect(server).await.unwrap();
    let only_child = async |path: String| {
        let children = client.list_children(&path).await.unwrap();
        let child = children.into_iter().next().unwrap();
        format!("{path}/{child}")
    };
    let run = only_child("/bench-runner".to_owned()).await;
    let trial = only_child(run).await;
    let mut taken = 0;
    while taken < 5 {
        for lock in client.list_children(&format!("{trial}/lock-0")).await.unwrap() {
            if client.delete(&format!("{trial}/lock-0/{lock}"), None).await.is_ok() {
                taken += 1;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
