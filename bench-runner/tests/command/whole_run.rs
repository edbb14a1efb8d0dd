//! A run that goes well, from the scenario to the report, and all that it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bench_runner::exit;
use bench_runner::results::summary::Summary;
use serde_json::Value;

use crate::place::{Place, SMALL};
use crate::running::finished;
use crate::written::at;

/// Three nodes, two drains and a closed loop, twice each.
fn scenario() -> String {
    let settings =
        SMALL.replace("nodes = 1", "nodes = 3").replace("count = 1\n", "count = 2\n").replace("\"0s\"", "\"200ms\"");
    let settings = settings.replace("count = 10", "count = 20\nmode = \"drain\"");
    settings
        + "[[arm]]\nrecipe = \"lock/sequential\"\n[[arm]]\nlabel = \"loop\"\nrecipe = \"lock/sequential\"\n[arm.workers]\nmode = \"closed\"\n"
}

/// Every key of the design's list, of the whole and of each arm.
const KEYS: [&str; 13] = [
    "schema_version",
    "scenario",
    "service",
    "ensemble.nodes",
    "ensemble.provider",
    "workers",
    "complete",
    "generator.cpu_seconds",
    "generator.peak_rss_bytes",
    "generator.lag_ms.p99",
    "generator.saturated",
    "nodes.2.cpu_seconds",
    "nodes.2.peak_rss_bytes",
];
const KEYS_OF_AN_ARM: &str = "recipe service workers trials grants requests.total requests.per_grant requests.peak_10ms \
    requests.response_bytes notifications.client notifications.server notifications.expected fan_out.min fan_out.mean \
    fan_out.p50 fan_out.max acquire_ms.p50 acquire_ms.p90 acquire_ms.p99 acquire_ms.p999 acquire_ms.max handoff_ms.p50 \
    handoff_ms.p90 handoff_ms.p99 handoff_ms.p999 handoff_ms.max safety.overlaps safety.token_regressions \
    safety.lost_updates safety.fifo_inversions safety.starved bystander_ms.rest.p50 bystander_ms.rest.p99 \
    bystander_ms.during.p50 bystander_ms.during.p99 failover_ms.detection.p50 failover_ms.detection.max \
    failover_ms.detection.count failover_ms.takeover.p50 failover_ms.takeover.max failover_ms.takeover.count \
    failover_ms.total.p50 failover_ms.total.max failover_ms.total.count";

#[test]
fn a_run_yields_one_json_document_and_all_files() {
    let place = Place::with_servers();
    place.write("mine.toml", &scenario());
    let done = finished(&mut place.command(&["run", "mine.toml", "--format", "json"])).expect(exit::DONE);
    place.assert_nothing_left();
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 3, "the scenario, the results, the temporary folder");

    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    let summary: Summary = serde_json::from_str(&done.stdout).unwrap();
    let run = place.only_run_of("mine");
    assert_eq!(fs::read_to_string(run.join("summary.json")).unwrap(), done.stdout);
    the_summary_has_every_key(&json);
    the_books_agree(&summary);
    the_files_are_there(&run, &summary);
    the_rows_are_the_grants(&run, &summary);
    the_histograms_can_be_read(&run, &summary);

    let done = done.tells(&[
        "starting ZooKeeper on 3 nodes",
        "warm-up 3 of 3",
        "trial 1 of 6",
        "trial 6 of 6",
        "stopping",
        "report: ",
    ]);
    assert!(!done.stderr.contains('\x1b'), "a pipe gets no colours");
    the_run_can_be_checked_again(&place, &run);
    the_report_can_be_drawn_again(&place, &run);
}

fn the_summary_has_every_key(json: &Value) {
    KEYS.iter().for_each(|key| assert!(!at(json, key).is_null(), "{key}"));
    assert_eq!(at(json, "arms").as_array().unwrap().len(), 3);
    for arm in at(json, "arms").as_array().unwrap() {
        // Null where it does not apply; that they are there is what others rely on.
        KEYS_OF_AN_ARM.split_whitespace().for_each(|key| {
            at(arm, key);
        });
        assert_eq!(at(arm, "trial").as_array().unwrap().len(), 2);
    }
    assert_eq!(at(json, "complete"), true);
    assert!(at(json, "incomplete_reason").is_null());
    assert_eq!(at(json, "scenario"), "mine");
    assert_eq!(at(json, "ensemble.nodes"), 3);
}

/// 20 workers: 20 × 19 / 2 notifications for each naive drain, 19 for each sequential one.
fn the_books_agree(summary: &Summary) {
    for (arm, expected) in summary.arms.iter().zip([190, 19]) {
        assert_eq!(arm.grants, 40);
        for trial in &arm.trial {
            let books = &trial.notifications;
            assert_eq!((books.client, books.server, books.expected), (expected, Some(expected), Some(expected)));
        }
    }
    for arm in &summary.arms {
        assert!(!arm.safety.is_violated(), "{:?}", arm.safety);
        assert!(arm.grants > 0);
    }
    assert_eq!(summary.arms[2].notifications.expected, None);
}

fn the_files_are_there(run: &Path, summary: &Summary) {
    assert!(!run.to_string_lossy().ends_with(".partial"));
    let names = |folder: &str| {
        let entries = fs::read_dir(run.join(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(
        names(""),
        [
            "acquisitions.csv",
            "charts",
            "environment.json",
            "histograms",
            "mine.toml",
            "report.html",
            "summary.json",
            "timeline.csv"
        ]
    );
    let charts = names("charts");
    assert!(charts.len() >= 8 && charts.iter().all(|name| name.ends_with(".svg")), "{charts:?}");
    for chart in &charts {
        assert!(fs::read_to_string(run.join("charts").join(chart)).unwrap().starts_with("<svg"), "{chart}");
    }
    let histograms = names("histograms");
    assert_eq!(histograms.iter().filter(|name| name.ends_with(".hlog")).count(), 6, "{histograms:?}");
    assert!(histograms.contains(&"arm-2-loop-acquire.hgrm".to_owned()), "{histograms:?}");
    let environment: Value = serde_json::from_str(&fs::read_to_string(run.join("environment.json")).unwrap()).unwrap();
    assert_eq!(environment, serde_json::to_value(&summary.environment).unwrap());
    assert_eq!(fs::read_to_string(run.join("mine.toml")).unwrap(), summary.settings);
}

fn rows(run: &Path, file: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(run.join(file)).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Grants, requests and notifications of the tables are those of the summary.
fn the_rows_are_the_grants(run: &Path, summary: &Summary) {
    let acquisitions = rows(run, "acquisitions.csv");
    let timeline = rows(run, "timeline.csv");
    for arm in &summary.arms {
        for trial in &arm.trial {
            let position = trial.position.to_string();
            let of_trial = |row: &&BTreeMap<String, String>| row["trial"] == position;
            let granted = acquisitions.iter().filter(of_trial).filter(|row| !row["granted_ns"].is_empty()).count();
            assert_eq!(granted as u64, trial.grants);
            assert!(acquisitions.iter().filter(of_trial).all(|row| row["arm"] == arm.label));
            let sum = |column: &str| -> u64 {
                timeline.iter().filter(of_trial).map(|row| row[column].parse::<u64>().unwrap()).sum()
            };
            let (requests, notifications, grants) = (sum("requests"), sum("notifications"), sum("grants"));
            let in_all = (trial.requests.total, trial.notifications.client, trial.grants);
            if arm.mode == "drain" {
                assert_eq!((requests, notifications, grants), in_all);
            } else {
                // The timeline ends with the measured time; what was under way then is answered and counted a little later.
                assert!(requests <= in_all.0 && notifications <= in_all.1 && grants <= in_all.2);
                assert!(requests > 0 && notifications > 0 && grants > 0);
            }
        }
    }
}

/// HdrHistogram's own reader takes them, and their counts are the grants.
fn the_histograms_can_be_read(run: &Path, summary: &Summary) {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    for (number, arm) in summary.arms.iter().enumerate() {
        for trial in &arm.trial {
            let file = format!("histograms/trial-{}-{}.hlog", trial.position, arm.label.replace('/', "-"));
            let log = fs::read(run.join(file)).unwrap();
            let intervals = IntervalLogIterator::new(&log)
                .map(Result::unwrap)
                .filter(|entry| matches!(entry, LogEntry::Interval(_)))
                .count();
            assert!(intervals > 0);
        }
        let percentiles = format!("histograms/arm-{number}-{}-acquire.hgrm", arm.label.replace('/', "-"));
        let text = fs::read_to_string(run.join(percentiles)).unwrap();
        let count = text.split("Total count    = ").nth(1).unwrap().trim_start().split(']').next().unwrap();
        assert_eq!(count.parse::<u64>().unwrap(), arm.grants, "{text}");
    }
}

fn the_run_can_be_checked_again(place: &Place, run: &Path) {
    let scenario = run.join("mine.toml");
    let done = finished(&mut place.command(&["check", scenario.to_str().unwrap()])).expect(exit::DONE);
    assert!(done.stdout.contains("valid") && done.stdout.contains("3 local ZooKeeper nodes"), "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

fn the_report_can_be_drawn_again(place: &Place, run: &Path) {
    let page = run.join("report.html");
    let first = fs::read_to_string(&page).unwrap();
    fs::remove_file(&page).unwrap();
    fs::remove_dir_all(run.join("charts")).unwrap();
    for what in [run.to_owned(), run.join("summary.json")] {
        let done = finished(&mut place.command(&["report", what.to_str().unwrap()])).expect(exit::DONE);
        assert!(done.stdout.contains("grants per second") && !done.stdout.contains('\x1b'), "{}", done.stdout);
        assert_eq!(fs::read_to_string(&page).unwrap(), first, "it is the same byte for byte");
    }
    assert!(run.join("charts/fan-out.svg").exists());
    let json = finished(&mut place.command(&["report", run.to_str().unwrap(), "--format", "json"])).expect(exit::DONE);
    assert_eq!(json.stdout, fs::read_to_string(run.join("summary.json")).unwrap());
}
