//! Capacity on published data, on synthetic data with known coefficients, and on points that a small simulation draws: no
//! server is started here, and all seeds are fixed.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod answers;
mod models;
mod oracle;
mod plans;
mod reports;
mod store;
mod synthetic;
