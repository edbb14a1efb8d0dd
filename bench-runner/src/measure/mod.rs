//! From recordings to figures.
pub mod figures;
