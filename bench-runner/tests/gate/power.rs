//! How often the gate cries wolf, and how often it sleeps.

use bench_runner::gate::Verdict;

use crate::recordings::{Change, NOTHING, Source};

/// Of 100 gates, how many were called regressed.
fn regressed(seed: u64, change: impl Fn(u32) -> Change) -> u32 {
    let mut source = Source::new(seed);
    let found = (0..100).filter(|run| source.gate(change(*run)).verdict == Verdict::Regressed).count() as u32;
    eprintln!("seed {seed}: {found} of 100 called regressed");
    found
}

#[test]
fn the_same_against_itself_is_hardly_ever_called_regressed() {
    // In every other one a neighbour slows everything by half and takes a third of the machine.
    let with_neighbour = |run: u32| Change { neighbour: (run % 2 == 1).then_some((1.5, 0.35)), ..NOTHING };
    let alarms = regressed(1, with_neighbour);
    assert!(alarms <= 1, "{alarms} of 100");
}

#[test]
fn the_same_with_few_trials_is_hardly_ever_called_regressed() {
    let alarms = regressed(2, |_| Change { trials: 6, ..NOTHING });
    assert!(alarms <= 1, "{alarms} of 100");
}

#[test]
fn a_handoff_a_fifth_slower_is_found() {
    let found = regressed(3, |_| Change { handoff: 1.2, ..NOTHING });
    assert!(found >= 95, "{found} of 100");
}

#[test]
fn a_herd_is_always_found() {
    assert_eq!(regressed(4, |_| Change { fan_out: 2.0, ..NOTHING }), 100);
    // With three trials, and a busy neighbour.
    let few = |_| Change { fan_out: 2.0, trials: 3, neighbour: Some((1.5, 0.35)), ..NOTHING };
    assert_eq!(regressed(5, few), 100);
}

#[test]
fn a_lock_that_does_not_exclude_is_always_found() {
    assert_eq!(regressed(6, |_| Change { overlaps: 1, trials: 3, ..NOTHING }), 100);
}
