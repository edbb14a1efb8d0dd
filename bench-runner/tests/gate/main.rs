//! The gate on synthetic recordings: stored runs with a known shift and known noise, hundreds of them in seconds. All seeds
//! are fixed, so the counts are the same each time.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

#[path = "../sample/mod.rs"]
#[allow(dead_code)] // Samples for other tests.
mod sample;

mod baselines;
mod power;
mod recordings;
mod verdicts;
