//! etcd's recipes and sessions on the ensemble in memory, where moments can be chosen that real servers do not offer.

#![allow(clippy::unwrap_used)] // What a test cannot do without is there, or it fails.

mod cancelled;
mod crowd;
mod elections;
mod leases;
