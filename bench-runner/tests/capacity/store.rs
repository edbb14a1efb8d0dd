//! The folder of a sweep: points are there whole or not at all, and what is read back is what was written.

use std::fs;

use bench_runner::capacity::Store;
use bench_runner::capacity::compose::header;
use bench_runner::capacity::store::{newest_interrupted, read_capacity};
use bench_runner::results::environment;

use crate::synthetic::{SWEEP, capacity, scenario, sweep};

#[test]
fn points_are_read_back_as_they_were_written() {
    let results = tempfile::tempdir().unwrap();
    let scenario = scenario(SWEEP);
    let header = header(&scenario, false, "2026-11-30T09:12:44Z".to_owned(), environment::collect(&scenario, &[]));
    let store = Store::create(results.path(), &scenario.text, &header).unwrap();
    let points = sweep(&scenario, 1, 0.05, false);
    // As they come, and as a file system may list them.
    points.iter().rev().for_each(|point| store.add(point).unwrap());
    // What was being written when the power went.
    fs::write(store.path().join("points/0099.json.new"), "{\"order\": 99").unwrap();
    let (again, read_header, read) = Store::open(store.path()).unwrap();
    assert_eq!((read_header, read), (header, points.clone()));

    let sha256 = &scenario.sha256;
    assert_eq!(newest_interrupted(results.path(), "synthetic", sha256).as_deref(), Some(store.path()));
    assert_eq!(newest_interrupted(results.path(), "synthetic", "of another one"), None);
    let made = capacity(&scenario, points, false);
    again.write_capacity(&made).unwrap();
    let whole = again.publish().unwrap();
    assert!(!whole.to_string_lossy().contains("partial"));
    assert_eq!(newest_interrupted(results.path(), "synthetic", sha256), None);
    assert_eq!(read_capacity(&whole).unwrap().as_ref(), Some(&made));
    let table = fs::read_to_string(whole.join("points.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + made.points.len());
    assert!(table.starts_with("order,arm,recipe,service,mode,workers,repeat,nodes,"), "{table}");
}

#[test]
fn a_point_that_is_none_is_told_with_its_file() {
    let results = tempfile::tempdir().unwrap();
    let scenario = scenario(SWEEP);
    let header = header(&scenario, false, String::new(), environment::collect(&scenario, &[]));
    let store = Store::create(results.path(), &scenario.text, &header).unwrap();
    fs::write(store.path().join("points/0001.json"), "{\"order\": ").unwrap();
    let error = Store::open(store.path()).unwrap_err().to_string();
    assert!(error.contains("0001.json"), "{error}");
    assert!(Store::open(results.path()).is_err());
}
