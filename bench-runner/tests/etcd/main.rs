//! etcd on real servers: the ensemble, the session, the recipes, and whole runs. Nothing here is skipped where etcd is
//! missing: it fails.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod abandoned;
mod barriers;
mod elections;
mod ensemble;
mod faithful;
mod faults;
mod leaderless;
mod locks;
mod observers;
mod proxy;
#[path = "../rounds/mod.rs"]
mod rounds;
mod runs;
mod strangers;
mod support;

use std::time::Duration;

use bench_runner::ensemble::{Ensemble, EnsembleError, EtcdSettings, keeper};
use support::eventually;

/// How long a condition may take to come true before a test fails. No test asserts a time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings of so many nodes, all else as etcd has it.
fn settings(nodes: u32) -> EtcdSettings {
    EtcdSettings { nodes, ..EtcdSettings::default() }
}

/// Starts an ensemble that ends with the test.
async fn start(settings: EtcdSettings) -> Result<Ensemble, EnsembleError> {
    keeper::set_program(env!("CARGO_BIN_EXE_bench-runner"));
    Ensemble::start(settings, &|sentence| eprintln!("{sentence}")).await
}
