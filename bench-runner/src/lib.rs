//! The command.
pub mod ensemble;
pub mod measure;
pub mod results;
pub mod scenario;
