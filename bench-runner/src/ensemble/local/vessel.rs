//! What a node's server lives in: what differs between a process of this machine's and one in a container.
use std::time::Duration;

use crate::ensemble::docker::{Container, Seen};

/// What a node's server lives in.
#[derive(Debug)]
pub(crate) enum Vessel {
    /// Nothing: it is the keeper's child.
    Process,
    /// A container; the keeper's child is the command that is attached to it.
    Container(Container),
}

impl Vessel {
    /// How long a keeper may take to end its server and to remove what is left of it.
    pub fn end_limit(&self) -> Duration {
        match self {
            Vessel::Process => Duration::from_secs(10),
            // Several at once on a busy machine take some seconds; a keeper that is ended sooner leaves the network.
            Vessel::Container(_) => Duration::from_secs(60),
        }
    }

    /// The container, if it is one.
    pub fn container(&self) -> Option<&Container> {
        match self {
            Vessel::Process => None,
            Vessel::Container(container) => Some(container),
        }
    }
}

/// The process of a container's server, and which of its lives it is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inside {
    pub life: u64,
    pub seen: Seen,
}
