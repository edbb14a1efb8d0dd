//! The ensemble stage: the servers under test, from "not there" to "a quorum serves" to "nothing is left".
//!
//! [`Ensemble`] is what the other stages hold. Below it stand a provider, which runs the nodes, and a service, which
//! can be asked questions:
//!
//! - [`local`]: the provider that runs nodes as child processes. It finds the installation (`find`, `java`), takes
//!   ports (`ports`) and a folder (`folder`), writes each node's files (`config`), starts each node (`node`), and waits
//!   until the ensemble serves (`launch`).
//! - [`keeper`]: the small process that stands between the runner and a node, so that the node dies with the runner.
//! - [`zookeeper`]: the four-letter words, what `mntr` answers, and the counters made of it.
//! - [`usage`]: what the kernel says of a node: CPU and memory.
//! - [`limits`]: file descriptors, which thousands of sessions need, on both sides.
//!
//! A further provider (docker, external) becomes a folder beside `local`, a further service one beside `zookeeper`;
//! [`Ensemble`] then holds an enum of providers and keeps its verbs.
pub mod description;
pub mod error;
mod handle;
pub mod keeper;
pub mod limits;
pub mod local;
pub mod usage;
pub mod zookeeper;

pub use description::{Description, NodeDescription, Role};
pub use error::EnsembleError;
pub use handle::Ensemble;
pub use local::{LocalSettings, Node, Search};
pub use usage::{NodeSample, NodeUsage, NodesSample};
pub use zookeeper::{Counters, Notifications};
