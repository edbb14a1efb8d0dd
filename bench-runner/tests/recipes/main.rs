//! The sessions, the recipes and the fleet of crate `workloads` on a real ensemble of three nodes.
//!
//! | module | what it holds |
//! |---|---|
//! | [`place`] | the ensemble, one test at a time on it, and what a test asks of it |
//! | [`faulty`] | a session that loses requests and replies as it is told |
//! | [`rounds`] | members of a double barrier, let in and out |
//! | [`proxy`] | a TCP proxy that counts frames, and cuts the connection where it is told |
//! | `queue` .. `wire` | the tests, by subject |
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod attribution;
mod barriers;
mod cancelled;
mod death;
mod elections;
mod faithful;
mod faulty;
mod fleet;
mod latch;
mod layout;
mod lost_create;
mod lost_delete;
mod modes;
mod place;
mod proxy;
mod queue;
#[path = "../rounds/mod.rs"]
mod rounds;
mod selector;
mod strangers;
mod tcp;
mod tree;
mod wire;

use place::{PATIENCE, eventually};
