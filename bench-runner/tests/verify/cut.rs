//! Runs that were cut, edited, or are none: the line is told, and nothing is judged.

use bench_runner::verify::{VerifyError, verify};
use workloads::record::{Acquisition, Outcome};

use crate::stored::{LOCK, Rows, Stored, grant, served_in_order};

/// The line that is told, and the words.
fn told(stored: &Stored) -> (u64, String) {
    match stored.refused() {
        error @ VerifyError::Line { line, .. } => (line, error.to_string()),
        other => panic!("{other}"),
    }
}

#[test]
fn a_table_that_was_cut_in_a_line_is_told_by_that_line() {
    let stored = Stored::of(served_in_order(&[5; 10]));
    stored.edit("acquisitions.csv", |text| text[..text.len() - 12].to_owned());
    let (line, words) = told(&stored);
    assert_eq!(line, 11);
    assert!(words.contains("acquisitions.csv, line 11:") && words.contains("cut or edited"), "{words}");
}

#[test]
fn a_table_that_was_cut_between_lines_is_told_by_its_last_one() {
    let stored = Stored::of(served_in_order(&[5; 10]));
    stored.edit("acquisitions.csv", |text| text.lines().take(8).collect::<Vec<_>>().join("\n") + "\n");
    let (line, words) = told(&stored);
    assert_eq!(line, 8);
    assert!(words.contains("7 grants of trial 1") && words.contains("has 10"), "{words}");
}

#[test]
fn what_no_run_writes_is_told_by_its_line() {
    for (column, value, word) in [
        (0, "9", "summary.json has no trial 9"),
        (1, "lock/naive", "is of `lock/sequential`"),
        (2, "4", "no worker 4 among 4"),
        (3, "1", "no lock 1 among 1"),
        (4, "lucky", "no outcome `lucky`"),
        (5, "", "come together"),
        (5, "ten", "`token` is no number"),
        (11, "1", "not in the order"),
        (13, "", "do not fit its outcome"),
    ] {
        let stored = Stored::of(served_in_order(&[5; 4]));
        stored.edit_cell(3, column, value);
        let (line, words) = told(&stored);
        assert_eq!(line, 3, "{words}");
        assert!(words.contains(word), "{words}");
    }
    let stored = Stored::of(served_in_order(&[5; 4]));
    stored.edit("acquisitions.csv", |text| text.replacen("worker", "who", 1));
    assert_eq!(told(&stored).0, 1);
}

#[test]
fn a_folder_that_is_no_run_is_told() {
    let empty = tempfile::tempdir().unwrap();
    let error = verify(empty.path()).unwrap_err().to_string();
    assert!(error.contains("summary.json") && error.contains("name a run's folder"), "{error}");
    let stored = Stored::of(served_in_order(&[5; 4]));
    std::fs::remove_file(stored.folder.join("acquisitions.csv")).unwrap();
    let error = stored.refused().to_string();
    assert!(error.contains("acquisitions.csv") && error.contains("name the folder of a run"), "{error}");
}

#[test]
fn a_partial_run_is_verified_and_said_to_be_partial() {
    let settings = LOCK.replace("count = 1\n", "count = 3\n");
    let stored = Stored::new(&settings, vec![served_in_order(&[5; 4]).into()], true);
    let found = stored.verified();
    assert!(found.holds && !found.complete && found.trials.len() == 1);
    let text = bench_runner::report::verification(&found, false);
    assert!(text.contains("partial run (interrupted)"), "{text}");
}

/// As when it is killed after the rows of a trial and before their summary: they are judged, and nothing is there to compare them with.
#[test]
fn rows_that_the_summary_of_a_killed_run_does_not_know_yet_are_judged() {
    let settings = LOCK.replace("count = 1\n", "count = 3\n");
    let stored = Stored::new(&settings, vec![served_in_order(&[5; 4]).into()], true);
    let unknown = "2,lock/sequential,0,0,released,1,0,1,1,2,,5,20,21,20,0,0\n\
                   2,lock/sequential,1,0,released,2,0,1,1,2,,15,30,31,30,0,0\n";
    stored.edit("acquisitions.csv", |text| text + unknown);
    let found = stored.verified();
    assert_eq!((found.trials.len(), found.trials[1].overlaps, found.differences.len()), (2, 1, 0));
    assert!(!found.holds);
}

#[test]
fn an_older_table_without_the_last_column_is_read() {
    let stored = Stored::of(served_in_order(&[5; 4]));
    let without = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
    stored.edit("acquisitions.csv", |text| text.lines().map(without).collect::<Vec<_>>().join("\n") + "\n");
    assert!(stored.verified().holds);
}

#[test]
fn every_way_to_end_is_read() {
    let rows = vec![
        grant(0, 1, 1, 5, 6),
        Acquisition { outcome: Outcome::Lost, release_sent: 0, released: 0, ..grant(1, 2, 7, 8, 9) },
        Acquisition { outcome: Outcome::Crashed, release_sent: 0, released: 0, ..grant(2, 3, 10, 11, 12) },
        Acquisition { outcome: Outcome::Failed, released: 0, ..grant(0, 4, 13, 14, 15) },
        Acquisition { outcome: Outcome::Failed, ..Acquisition::called(0, 0, 16, 16) },
        Acquisition { outcome: Outcome::Closed, over: 18, ..Acquisition::called(3, 0, 17, 17) },
        Acquisition { outcome: Outcome::Held, release_sent: 0, released: 0, over: 0, ..grant(1, 5, 20, 21, 22) },
        Acquisition { enqueued: 31, ..Acquisition::called(0, 0, 30, 30) },
    ];
    let found = Stored::of(rows).verified();
    assert!(found.holds, "{found:?}");
    assert_eq!((found.trials[0].grants, found.trials[0].failed, found.trials[0].starved), (5, 2, 0));
}

#[test]
fn trials_are_told_apart_by_their_arms() {
    let settings = LOCK.replace("count = 1\n", "count = 2\n") + "[[arm]]\nrecipe = \"lock/naive\"\n";
    let trials = (0..4).map(|trial| Rows::from(served_in_order(&vec![5; 4 + trial])));
    let found = Stored::new(&settings, trials.collect(), false).verified();
    let arms: Vec<&str> = found.trials.iter().map(|trial| trial.arm.as_str()).collect();
    assert_eq!(arms, ["lock/sequential", "lock/naive", "lock/naive", "lock/sequential"]);
    assert_eq!(found.trials.iter().map(|trial| trial.grants).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert!(found.holds);
}
