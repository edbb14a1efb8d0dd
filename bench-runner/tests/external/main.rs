//! Servers that are not bench-runner's own: real ones that the test has started, and that the command then takes for somebody
//! else's. What it may do there, what it leaves, how it gets in, and what it tells when it does not.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod capacity;
mod ceiling;
mod certificates;
mod commands;
mod interrupted;
mod killed;
mod others;
#[allow(dead_code)] // Shared with the tests of the command, which use all of it.
#[path = "../command/place.rs"]
mod place;
#[allow(dead_code)]
#[path = "../command/process.rs"]
mod process;
mod refusals;
mod refused;
#[allow(dead_code)]
#[path = "../command/running.rs"]
mod running;
mod secured_etcd;
mod secured_zookeeper;
mod servers;
mod token;
mod tree;
#[allow(dead_code)]
#[path = "../command/written.rs"]
mod written;

/// Few workers and short trials: what is looked at is not how fast they are.
const SMALL: &str = r#"version = 1
[trials]
count = 1
warmup = "0s"
duration = "1s"
rest = "0s"
[workers]
count = 5
session_timeout = "5s"
[bystanders]
sessions = 1
[[arm]]
recipe = "lock/naive"
"#;

/// A scenario on these servers of ZooKeeper.
fn on_zookeeper(more: &str, endpoints: &[String]) -> String {
    format!("{SMALL}[ensemble]\nprovider = \"external\"\n{more}\n[ensemble.zookeeper]\nendpoints = {endpoints:?}\n")
}

/// A scenario on these servers of etcd.
fn on_etcd(more: &str, endpoints: &[String]) -> String {
    format!(
        "service = \"etcd\"\n{SMALL}[ensemble]\nprovider = \"external\"\n{more}\n[ensemble.etcd]\nendpoints = {endpoints:?}\n"
    )
}

/// Runs what is asynchronous in a test that is not.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
