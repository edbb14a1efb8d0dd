//! Baselines that are whole, cut off, edited, or something else.

use bench_runner::gate::baseline::{BaselineError, from_text, to_text};
use bench_runner::gate::figures::of_trials;
use bench_runner::scenario::gate::Metric;

use crate::recordings::{NOTHING, Source};
use crate::sample;

#[test]
fn a_baseline_comes_back_as_it_was_without_the_charts() {
    let summary = sample::two_arms();
    let text = to_text(&summary).unwrap();
    let read = from_text(&text).unwrap();
    assert_eq!(read.settings, summary.settings);
    for (before, after) in summary.arms.iter().zip(&read.arms) {
        for metric in Metric::ALL {
            assert_eq!(of_trials(before, *metric), of_trials(after, *metric));
        }
        assert_eq!(before.series.percentiles, after.series.percentiles);
        assert!(after.series.rates.is_empty() && !before.series.rates.is_empty());
    }
    assert_eq!(to_text(&read).unwrap(), text);
    // As a checkout on Windows may leave it.
    assert!(from_text(&text.replace('\n', "\r\n")).is_ok());
}

#[test]
fn a_truncated_baseline_is_told_wherever_it_ends() {
    let text = to_text(&Source::new(9).run(NOTHING)).unwrap();
    for end in [1, 100, text.len() / 2, text.len() - 3] {
        let error = from_text(&text[..end]).unwrap_err();
        assert!(matches!(error, BaselineError::Truncated(_)), "{end}: {error}");
        assert!(error.to_string().contains("truncated") && error.to_string().contains("--update-baseline"));
    }
    assert!(matches!(from_text(""), Err(BaselineError::Truncated(_))));
}

#[test]
fn an_edited_baseline_is_told() {
    let text = to_text(&Source::new(9).run(NOTHING)).unwrap();
    let edits = [("\"overlaps\": 0", "\"overlaps\": 1"), ("\"cpus\": 2", "\"cpus\": 4"), ("  ", " ")];
    for (old, new) in edits {
        assert!(text.contains(old), "{old}");
        assert_eq!(from_text(&text.replacen(old, new, 1)).unwrap_err(), BaselineError::Edited, "{old}");
    }
}

#[test]
fn something_else_is_no_baseline() {
    let summary = serde_json::to_string(&Source::new(9).run(NOTHING)).unwrap();
    for text in [summary.as_str(), "[]", "{\"format\": \"x\", \"sha256\": \"\", \"summary\": {\"schema_version\": 1}}"]
    {
        assert!(matches!(from_text(text), Err(BaselineError::NotOne(_))), "{:?}", from_text(text).err());
    }
    let newer =
        to_text(&Source::new(9).run(NOTHING)).unwrap().replace("\"schema_version\": 1", "\"schema_version\": 99");
    assert_eq!(from_text(&newer).unwrap_err(), BaselineError::Newer(99));
}
