//! The command: exit codes, what it prints, and JSON.

use assert_cmd::Command;
use bench_runner::exit;
use predicates::prelude::*;
use predicates::str::contains;

use crate::stored::{Stored, grant, served_in_order};

fn verify(stored: &Stored, more: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_bench-runner")).arg("verify").arg(&stored.folder).args(more).assert()
}

#[test]
fn a_run_that_holds_ends_with_0() {
    let stored = Stored::of(served_in_order(&[5; 4]));
    verify(&stored, &[]).code(i32::from(exit::DONE)).stdout(contains("Holds: 4 grants in 1 trial"));
}

#[test]
fn a_collision_ends_with_4_and_both_grants_are_named() {
    let rows = vec![grant(0, 10, 1, 1_000_000_000, 3_500_000_000), grant(1, 11, 2, 2_000_000_000, 4_000_000_000)];
    let words = contains("1 pair of grants collides")
        .and(contains("lock 0, both held for 1.50 s:"))
        .and(contains("worker 0, grant 1, token 10, from 1.000000000 s to 3.500000000 s (line 2)"))
        .and(contains("worker 1, grant 2, token 11, from 2.000000000 s to 4.000000000 s (line 3)"))
        .and(contains("Violated in 1 of 1 trial."));
    verify(&Stored::of(rows), &[]).code(i32::from(exit::UNSAFE)).stdout(words);
}

#[test]
fn a_run_that_was_edited_ends_with_2_and_the_line() {
    let stored = Stored::of(served_in_order(&[5; 4]));
    stored.edit_cell(3, 2, "nobody");
    let words = contains("error: ").and(contains("line 3: `worker` is no number"));
    verify(&stored, &[]).code(i32::from(exit::USAGE)).stderr(words).stdout("");
}

#[test]
fn json_is_everything_that_was_found() {
    let rows = vec![grant(0, 10, 1, 5, 20), grant(1, 11, 2, 19, 30)];
    let stored = Stored::of(rows);
    let output = verify(&stored, &["--format", "json"]).code(i32::from(exit::UNSAFE)).get_output().stdout.clone();
    let found: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(found["holds"], false);
    assert_eq!(found["trials"][0]["collisions"][0]["overlap_ns"], 1);
    assert_eq!(found["trials"][0]["collisions"][0]["later"]["line"], 3);
}
