//! The command.
pub mod measure;
pub mod report;
pub mod results;
