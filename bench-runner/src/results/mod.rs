//! The run's folder.
pub mod schema;
pub mod summary;
