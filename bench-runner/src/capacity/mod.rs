//! Capacity: how many contenders, sessions and watches an ensemble carries before a limit breaks. It works from stored points
//! alone.
//!
//! | module | what it is |
//! |---|---|
//! | [`point`] | one trial at given values of what is swept, as it is stored |
//! | [`plan`] | which point comes next, by what is stored: a sweep, or a search |
//! | [`store`] | the folder of a sweep |
//! | [`little`] | Little's law, checked on every point |
//! | [`figure`] | the figures that get curves, and the laws that each may follow |
//! | [`models`] | the laws, their fits, and the choice among them |
//! | [`curves`] | curves through the points |
//! | [`answer`] | where curves cross limits |
//! | [`document`], [`schema`] | `capacity.json` |
//! | [`compose`](mod@compose) | puts it together |

pub mod answer;
pub mod compose;
pub mod curves;
pub mod document;
pub mod figure;
pub mod little;
pub mod models;
pub mod plan;
pub mod point;
pub mod schema;
pub mod store;

pub use compose::compose;
pub use document::Capacity;
pub use store::Store;
