//! The gate: did coordination get worse, yes, no, or cannot tell. It works from stored summaries alone.
//!
//! | module | what it is |
//! |---|---|
//! | [`comparable`] | whether two runs may be compared at all, each difference by name |
//! | [`figures`] | reads a metric off each trial |
//! | [`statistics`] | rank tests, the interval of a ratio, the correction for many metrics |
//! | [`counts`] | judges promises and numbers: exactly, or within a band |
//! | [`times`] | judges times and rates: by effect size and significance |
//! | [`judge`](mod@judge) | puts it together; [`verdict`] is what comes out |
//! | [`confirm`](mod@confirm) | the second round, before anything is called a regression |
//! | [`baseline`] | a stored baseline, sealed with a checksum |
//! | [`history`] | a line for each gate run; [`change_points`] finds where a series changes |
//! | [`accepted`] | changes that were accepted, with a reason |

pub mod accepted;
pub mod baseline;
pub mod change_points;
pub mod comparable;
pub mod confirm;
pub mod counts;
pub mod figures;
pub mod history;
pub mod judge;
pub mod statistics;
pub mod times;
pub mod verdict;

pub use accepted::Accepted;
pub use comparable::Aspect;
pub use confirm::{confirm, to_confirm};
pub use judge::{Pairing, Rules, judge};
pub use verdict::{Finding, Judgement, Verdict};
