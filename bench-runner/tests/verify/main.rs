//! `bench-runner verify` on stored runs that tests write through the run's own writers: clean ones, ones with a violation planted in
//! the rows, ones that were cut or edited afterwards.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod barriers;
mod command;
mod cut;
mod planted;
mod stored;
