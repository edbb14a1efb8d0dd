//! etcd's recipes and sessions on the ensemble in memory, where moments can be chosen that real servers do not offer.

mod cancelled;
mod crowd;
mod leases;
