//! The command.
pub mod ensemble;
pub mod exit;
pub mod measure;
pub mod report;
pub mod results;
pub mod run;
pub mod scenario;
