//! Barriers, from their passages.

use workloads::record::Passage;

use crate::stored::{Rows, Stored};

const BARRIERS: &str = "version = 1\n[trials]\ncount = 1\n[workers]\ncount = 3\nmode = \"barriers\"\n\
                        [[arm]]\nrecipe = \"barrier/double\"\n";

/// Three members through one barrier; the third comes at 30 and goes at 60.
fn passages() -> Vec<Passage> {
    let member =
        |worker, arrived, leaving| Passage { worker, arrived, released: 35, leaving, left: 70, ..Passage::default() };
    vec![member(0, 10, 40), member(1, 20, 50), member(2, 30, 60)]
}

fn stored(passages: Vec<Passage>) -> Stored {
    Stored::new(BARRIERS, vec![Rows { passages, ..Rows::default() }], false)
}

#[test]
fn a_barrier_that_works_holds() {
    let found = stored(passages()).verified();
    assert!(found.holds && found.trials.len() == 1, "{found:?}");
}

#[test]
fn whoever_is_inside_or_out_too_soon_is_named() {
    let mut rows = passages();
    rows[0].released = 29;
    rows[1].left = 55;
    let found = stored(rows).verified();
    assert!(!found.holds && found.differences.is_empty(), "{found:?}");
    let told: Vec<_> = found.trials[0].early.iter().map(|one| (one.worker, one.out, one.at_ns, one.last_ns)).collect();
    assert_eq!(told, [(0, false, 29, Some(30)), (1, true, 55, Some(60))]);
}

#[test]
fn nobody_is_through_before_one_that_never_comes() {
    let mut rows = passages();
    rows.pop();
    let found = stored(rows).verified();
    assert_eq!(found.trials[0].early_passages, 4);
    assert!(found.trials[0].early.iter().all(|one| one.last_ns.is_none()));
}
