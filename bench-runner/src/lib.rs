//! `bench-runner`: from a scenario to a report of what the herd costs.
//!
//! The data flow one way, stage by stage; a later stage uses what an earlier one made and never reaches back:
//!
//! ```text
//! scenario -> ensemble -> run -> measure -> results -> gate, capacity, verify -> report
//! ```
//!
//! | stage | what it does |
//! |---|---|
//! | [`scenario`] | reads a TOML file and refuses what is wrong with it, by line |
//! | [`ensemble`] | starts real servers, watches them, and sees to it that they never outlive the runner |
//! | [`run`] | runs trials of the workers from the crate [`workloads`] |
//! | [`measure`] | works out figures from what the trials recorded |
//! | [`results`] | keeps a run in its folder, `summary.json` above all |
//! | [`gate`] | judges one stored run against another: did coordination get worse |
//! | [`capacity`] | works out of a sweep's stored points how much an ensemble carries |
//! | [`verify`] | judges a stored run again, from its raw rows |
//! | [`report`] | draws what people look at, from stored results alone |
//!
//! [`cli`] and [`commands`] stand above the stages and lead the data through them. [`exit`] has the exit codes; [`fault`]
//! sees to it that no panic reaches the user, and [`stderr`] writes what goes there.

pub mod capacity;
pub mod cli;
pub mod commands;
pub mod ensemble;
pub mod exit;
pub mod fault;
pub mod gate;
pub mod measure;
pub mod report;
pub mod results;
pub mod run;
pub mod scenario;
pub mod stderr;
pub mod verify;
