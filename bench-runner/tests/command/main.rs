//! The command `bench-runner` as a user and as an unlucky user meets it: the program itself, on real servers, in a place of
//! its own for each test.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod bad_input;
mod barriers;
mod capacity;
mod disk;
mod ensemble_lost;
mod faults;
mod gate;
mod interrupted;
mod killed;
mod not_started;
mod overdue;
mod place;
mod process;
mod proof;
mod running;
mod safety;
mod streams;
mod terminal;
mod whole_run;
mod written;
