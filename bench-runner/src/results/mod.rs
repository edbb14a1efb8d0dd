//! The run's folder.
pub mod summary;
