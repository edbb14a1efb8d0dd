//! ZooKeeper as seen from outside: what its nodes tell about themselves.
//!
//! - [`four_letter`]: asks a node one of its four-letter words.
//! - [`mntr`]: reads the answer to `mntr`.
//! - [`counters`]: the counters of the whole ensemble.
pub mod counters;
pub mod four_letter;
pub mod mntr;

pub use counters::{Counters, Notifications};
pub use mntr::Mntr;
