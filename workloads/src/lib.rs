//! What one simulated worker does, and what it reports.
//!
//! This library knows nothing of files, charts, processes or the command line.

pub mod record;
pub mod settings;
