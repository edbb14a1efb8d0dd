//! The ceiling on requests holds, and a run that was held back says so.
use bench_runner::exit;

use crate::place::Place;
use crate::running::finished;
use crate::written::summary;
use crate::{on_etcd, on_zookeeper, servers};

/// Requests a second that are allowed, far below what five workers would send.
const RATE: f64 = 200.0;

fn is_held_back(place: &Place, scenario: &str) {
    place.write("theirs.toml", scenario);
    let run = ["run", "theirs.toml", "--allow-external", "--set", "trials.duration=3s"];
    finished(&mut place.command(&run)).expect(exit::DONE);
    let summary = summary(&place.only_run_of("theirs"));
    let arm = &summary.arms[0];
    assert!(arm.grants > 0 && arm.generator.held_back > 0, "{:?}", arm.generator);
    assert_eq!(summary.generator.held_back, arm.generator.held_back);
    // Some come after the measured time, while the trial comes to rest.
    let most = RATE * arm.seconds + 40.0;
    assert!((arm.requests.total as f64) < most, "{} in {} s", arm.requests.total, arm.seconds);
    let warning = summary.warnings.iter().find(|warning| warning.text.contains("held")).unwrap();
    assert!(warning.text.contains("those of this ceiling") && warning.remedy.contains("max_rate"), "{warning:?}");
    std::fs::remove_dir_all(place.path("results")).unwrap();
}

#[test]
fn no_more_is_sent_than_the_ceiling_allows() {
    let place = Place::with_servers();
    let server = servers::zookeeper(&place, "zookeeper", "mntr,srvr", None);
    is_held_back(&place, &on_zookeeper(&format!("max_rate = {RATE}"), &[server.endpoint()]));
    let server = servers::etcd(&place, "etcd", None);
    is_held_back(&place, &on_etcd(&format!("max_rate = {RATE}"), &[server.endpoint()]));
}
