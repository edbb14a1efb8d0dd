//! The ensemble stage: the servers under test, from "not there" to "a quorum serves" to "nothing is left".
//!
//! [`Ensemble`] is what the other stages hold. Below it stand a provider, which runs the nodes, and a service, which
//! can be asked questions:
//!
//! - [`local`]: the provider that runs nodes as child processes. It takes ports (`ports`) and a folder (`folder`), starts
//!   each node (`node`), and waits until the ensemble serves (`launch`).
//! - [`docker`]: the same, with each node in a container of its own.
//! - [`external`]: the provider whose nodes somebody else runs; `provider` is what both have in common.
//! - [`keeper`]: the small process that stands between the runner and a node, so that the node dies with the runner.
//! - `faults`: nodes that are killed or paused on purpose, and mended.
//! - [`service`]: what the provider and the ensemble ask of a service, whichever it is.
//! - [`zookeeper`], [`etcd`]: the services. Each finds its installation ([`search`]), sets its nodes up, and reads what
//!   they tell about themselves.
//! - [`counters`]: the counters of the whole ensemble, made of what its nodes tell.
//! - [`usage`]: what the kernel says of a node: CPU and memory.
//! - [`limits`]: file descriptors, which thousands of sessions need, on both sides.
//!
//! A further provider becomes a folder beside `local` and `external`, and a variant of `provider`; [`Ensemble`] keeps its verbs.
pub mod counters;
pub mod description;
pub mod docker;
pub mod error;
pub mod etcd;
pub mod external;
mod faults;
mod handle;
pub mod keeper;
pub mod limits;
pub mod local;
mod provider;
pub mod search;
pub mod service;
pub mod usage;
pub mod zookeeper;

pub use counters::{Counters, Kinds, Notifications};
pub use description::{Description, NodeDescription, NodeState, Role};
pub use docker::DockerSettings;
pub use error::EnsembleError;
pub use etcd::EtcdSettings;
pub use external::{ExternalSettings, NodeCommands};
pub use handle::Ensemble;
pub use local::Node;
pub use search::Search;
pub use service::LocalSettings;
pub use usage::{NodeSample, NodeUsage, NodesSample};
pub use zookeeper::ZookeeperSettings;
