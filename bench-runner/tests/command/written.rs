//! What a run has written.

use std::fs;
use std::path::Path;

use bench_runner::results::summary::Summary;
use serde_json::Value;

/// The summary in a run's folder.
pub fn summary(run: &Path) -> Summary {
    serde_json::from_str(&fs::read_to_string(run.join("summary.json")).unwrap()).unwrap()
}

/// The value at a path of keys, as in `arms.0.requests.total`; fails where a key is missing, and not where it is null.
pub fn at<'a>(json: &'a Value, keys: &str) -> &'a Value {
    keys.split('.').fold(json, |value, key| match value {
        Value::Array(values) => values.get(key.parse::<usize>().unwrap()).unwrap_or_else(|| panic!("no {keys}")),
        _ => value.get(key).unwrap_or_else(|| panic!("no `{key}` of {keys}")),
    })
}

/// Sees that the folder is that of a run which was cut short, and that everything in it says so.
pub fn assert_partial(run: &Path, reason: &str) {
    assert!(run.to_string_lossy().ends_with(".partial"), "{run:?}");
    let summary = summary(run);
    assert!(!summary.complete);
    let told = summary.incomplete_reason.unwrap();
    assert!(told.contains(reason) && !told.contains('\n'), "{told}");
    assert!(summary.arms.iter().any(|arm| arm.grants > 0), "nothing was measured");
    let rows = fs::read_to_string(run.join("acquisitions.csv")).unwrap().lines().count();
    assert!(rows > 1, "no acquisition was written");
    assert!(fs::read_to_string(run.join("report.html")).unwrap().contains("Incomplete run"));
    assert!(run.join("mine.toml").exists());
}
