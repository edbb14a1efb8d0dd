//! The provider `local`: real servers as child processes of the runner, on loopback. It knows no service: what to start,
//! and when it serves, it asks of `Service`.
//!
//! The provider `docker` is the same with each node in a container: its `vessel` is another one.
//!
//! `launch` is the story, from a service to an ensemble that serves; the other modules are one noun each.
mod folder;
mod launch;
mod lives;
mod node;
pub(crate) mod ports;
mod vessel;

pub use node::Node;

pub(crate) use folder::{NodeFolder, Owner};
pub(crate) use launch::{Local, launch};
pub(crate) use ports::NodePorts;
