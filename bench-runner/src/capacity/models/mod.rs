//! Laws, how they are fitted, and which of them a figure follows.
//!
//! | module | what it is |
//! |---|---|
//! | [`law`] | the laws: scalability law, power laws, queues at the lock, and that nothing matters |
//! | [`fit`](mod@fit) | least squares |
//! | [`bootstrap`] | intervals of coefficients and curves |
//! | [`choose`](mod@choose) | the law that predicts best what it has not seen |

pub mod bootstrap;
pub mod choose;
pub mod fit;
pub mod law;

pub use bootstrap::{Replicate, interval, replicates};
pub use choose::{Candidate, Choice, choose, median};
pub use fit::{Errors, Fit, fit};
pub use law::Law;
