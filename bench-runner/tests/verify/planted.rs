//! A violation that is planted in the rows is found and named; without one nothing is.

use bench_runner::verify::figures::{Collision, Regression};
use proptest::prelude::*;
use workloads::record::{Acquisition, Outcome};

use crate::stored::{LOCK, Stored, grant, served_in_order};

/// How long each grant is held, for a few to many of them.
fn holds() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(3u64..1_000, 3..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_lock_that_works_holds(holds in holds()) {
        let found = Stored::of(served_in_order(&holds)).verified();
        prop_assert!(found.holds && found.complete && found.differences.is_empty(), "{found:?}");
        let trial = &found.trials[0];
        prop_assert_eq!(trial.grants, holds.len() as u64);
        prop_assert_eq!((trial.fifo_inversions, trial.starved, trial.failed), (0, 0, 0));
        prop_assert!(trial.jain.unwrap() > 0.4);
    }

    /// The holder releases only when the next one holds already: the two are named, and nobody else.
    #[test]
    fn a_planted_overlap_is_named(holds in holds(), at in any::<prop::sample::Index>(), length in 1u64..3) {
        let mut rows = served_in_order(&holds);
        let first = at.index(rows.len() - 1);
        let later = rows[first + 1];
        let until = later.granted + length;
        let earlier = Acquisition { release_sent: until, released: until + 1, over: until, ..rows[first] };
        rows[first] = earlier;
        let found = Stored::of(rows).verified();
        let trial = &found.trials[0];
        prop_assert!(!found.holds && found.differences.is_empty());
        prop_assert_eq!((trial.overlaps, trial.overlaps_asked, trial.token_regressions), (1, 0, 0));
        let Collision { lock, asked, earlier: one, later: other, overlap_ns } = trial.collisions[0];
        prop_assert_eq!((lock, asked, overlap_ns), (0, false, length));
        prop_assert_eq!((one.worker, one.grant, one.token), (earlier.worker, first as u64 + 1, earlier.token));
        prop_assert_eq!((one.from_ns, one.to_ns), (earlier.granted, Some(until)));
        prop_assert_eq!((other.worker, other.grant, other.token), (later.worker, first as u64 + 2, later.token));
        prop_assert_eq!((other.from_ns, other.to_ns), (later.granted, Some(later.over)));
        // In the order in which they called, after the head.
        prop_assert_eq!((one.line, other.line), (first as u64 + 2, first as u64 + 3));
    }

    /// The same where a fault had stopped the holder: told, and held against nobody.
    #[test]
    fn a_planted_overlap_that_was_asked_for_is_told_and_no_violation(holds in holds(), at in any::<prop::sample::Index>()) {
        let mut rows = served_in_order(&holds);
        let first = at.index(rows.len() - 1);
        let until = rows[first + 1].granted + 2;
        rows[first] =
            Acquisition { outcome: Outcome::Lost, release_sent: 0, released: 0, over: until, struck: true, ..rows[first] };
        let found = Stored::of(rows).verified();
        prop_assert!(found.holds, "{found:?}");
        prop_assert_eq!((found.trials[0].overlaps, found.trials[0].overlaps_asked), (0, 1));
        prop_assert!(found.trials[0].collisions[0].asked);
    }

    /// Two grants swap their tokens.
    #[test]
    fn a_planted_regression_is_named(holds in holds(), at in any::<prop::sample::Index>()) {
        let mut rows = served_in_order(&holds);
        let first = at.index(rows.len() - 1);
        let (before, after) = (rows[first].token, rows[first + 1].token);
        (rows[first].token, rows[first + 1].token) = (after, before);
        let found = Stored::of(rows.clone()).verified();
        prop_assert!(!found.holds);
        let trial = &found.trials[0];
        prop_assert_eq!((trial.overlaps, trial.token_regressions), (0, 1));
        let expected = Regression {
            lock: 0,
            worker: rows[first + 1].worker,
            grant: first as u64 + 2,
            token: before,
            before: after,
            asked: false,
            line: first as u64 + 3,
        };
        prop_assert_eq!(trial.regressions[0], expected);
    }

    /// Somebody who came late is served before all who had waited: an inversion, and no violation.
    #[test]
    fn a_planted_inversion_is_counted(holds in holds()) {
        let mut rows = served_in_order(&holds);
        let last = rows.len() - 1;
        // It calls just before the first grant ends, when everybody else waits, and is granted right after it.
        let (first_over, second_granted) = (rows[0].over, rows[1].granted);
        prop_assume!(rows[1..last].iter().all(|row| row.enqueued < first_over - 1) && last > 1);
        let shift = 10;
        rows[1..last].iter_mut().for_each(|row| {
            for moment in [&mut row.granted, &mut row.release_sent, &mut row.released, &mut row.over] {
                *moment += shift;
            }
        });
        let token = rows[0].token + 1;
        rows[last] = grant(3, token, first_over - 1, second_granted, second_granted + 5);
        let found = Stored::of(rows).verified();
        prop_assert!(found.holds, "{found:?}");
        prop_assert_eq!(found.trials[0].fifo_inversions, 1);
    }
}

#[test]
fn a_holder_to_the_end_collides_with_everybody_after_it() {
    let held = Acquisition { outcome: Outcome::Held, release_sent: 0, released: 0, over: 0, ..grant(0, 1, 1, 5, 6) };
    let found = Stored::of(vec![held, grant(1, 2, 2, 50, 60), grant(2, 3, 3, 70, 80)]).verified();
    let trial = &found.trials[0];
    assert_eq!(trial.overlaps, 2);
    let lengths: Vec<u64> = trial.collisions.iter().map(|one| one.overlap_ns).collect();
    assert_eq!(lengths, [10, 10]);
    assert!(trial.collisions.iter().all(|one| one.earlier.grant == 1 && one.earlier.to_ns.is_none()));
}

#[test]
fn locks_are_judged_apart() {
    let other = Acquisition { resource: 1, ..grant(1, 1, 2, 6, 19) };
    let settings = LOCK.replace("count = 4\n", "count = 4\nlocks = 2\n");
    let stored = Stored::new(&settings, vec![vec![grant(0, 10, 1, 5, 20), other].into()], false);
    assert!(stored.verified().holds);
}

#[test]
fn fairness_is_told_by_jains_index_and_by_those_who_got_nothing() {
    let waiting = Acquisition { enqueued: 3, ..Acquisition::called(3, 0, 2, 2) };
    let rows = vec![grant(0, 1, 1, 5, 6), grant(0, 2, 7, 8, 9), grant(1, 3, 7, 10, 11), waiting];
    let found = Stored::of(rows).verified();
    let trial = &found.trials[0];
    // (2 + 1)² / (4 × (4 + 1)), of four workers.
    assert_eq!(trial.jain, Some(9.0 / 20.0));
    assert_eq!((trial.starved, trial.fifo_inversions), (1, 2));
    assert!(found.holds, "unfair is not unsafe");
}

#[test]
fn what_summary_json_says_otherwise_is_a_finding() {
    let stored = Stored::of(served_in_order(&[5, 5, 5]));
    // A token that was edited in the table; and a figure in the summary.
    stored.edit_cell(4, 5, "15");
    stored.edit("summary.json", |text| text.replace("\"overlaps\": 0", "\"overlaps\": 7"));
    let found = stored.verified();
    assert!(!found.holds);
    let told: Vec<(&str, u64, u64)> =
        found.differences.iter().map(|one| (one.figure.as_str(), one.rows, one.summary)).collect();
    assert_eq!(told, [("overlaps", 0, 7), ("token_regressions", 1, 0)]);
}
