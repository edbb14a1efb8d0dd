//! From recordings to figures.
//!
//! Each trial is measured by itself as soon as it is over ([`trial`]), which turns millions of raw counts into a few
//! histograms and series; an arm's figures come from merging those of its trials ([`arm`]). Latencies are merged as
//! histograms and never averaged.
//!
//! | module | what it works out |
//! |---|---|
//! | [`figures`] | the figures themselves: plain data for `summary.json` |
//! | [`histogram`] | HDR histograms of latencies |
//! | [`stages`] | latencies by stage, and the handoff |
//! | [`safety`] | overlaps, order of tokens, order of the queue, starvation |
//! | [`fan_out`] | notifications by the release that caused them |
//! | [`failover`] | how faults were survived: detection, takeover, recovery |
//! | [`split_brain`] | a counter that holders update: what a plain store loses, and a fenced one refuses |
//! | [`barrier`] | barriers: the way in and out, and how its cost grows |
//! | [`closed_form`] | the notifications that a settled drain must cost |
//! | [`spike`] | requests and notifications around releases |
//! | [`series`] | what the charts draw over time |
//! | [`sizing`] | what a trial says for sizing an ensemble |
//! | [`trial`], [`arm`] | one trial; all trials of an arm |
//! | [`contrast`] | naive against herd-free |

pub mod arm;
pub mod barrier;
pub mod closed_form;
pub mod contrast;
pub mod failover;
pub mod fan_out;
pub mod figures;
pub mod histogram;
pub mod quantity;
pub mod safety;
pub mod series;
pub mod sizing;
pub mod spike;
pub mod split_brain;
pub mod stages;
pub mod trial;
