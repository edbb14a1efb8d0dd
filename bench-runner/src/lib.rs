//! The command.
pub mod measure;
pub mod results;
pub mod scenario;
