//! What an ensemble is: for the record of a run and for its reader.
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// The ensemble that a run was measured on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// `zookeeper` or `etcd`.
    pub service: String,
    /// `local`, `docker` or `external`.
    pub provider: String,
    /// The service's version, as in `3.8.0`.
    pub version: String,
    /// The Java runtime, as in `17.0.15 (OpenJDK 64-Bit Server VM)`; `None` for a service that needs none.
    pub java: Option<String>,
    /// Where the service was found.
    pub installation: String,
    /// The nodes with the role each had when asked.
    pub nodes: Vec<NodeDescription>,
    /// The settings that matter to what is measured, by the service's own names, and a JVM's flags.
    pub settings: BTreeMap<String, String>,
}

/// One node of a [`Description`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeDescription {
    /// As in `zookeeper-1`, `etcd-1`.
    pub name: String,
    /// Address and port for clients.
    pub endpoint: String,
    /// The role when asked; it changes with each election of the ensemble.
    pub role: Role,
}

/// What a node is to its ensemble.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Orders the writes.
    Leader,
    /// Follows the leader and votes.
    Follower,
    /// Follows the leader without a vote.
    Observer,
    /// The only node of a ZooKeeper; etcd's only node leads.
    Standalone,
    /// Not in: starting, electing, cut off, or down.
    #[default]
    Out,
}

/// What was made of a node on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    /// Nothing: its server runs. (Or it has ended by itself: then the ensemble is lost.)
    #[default]
    Up,
    /// Its server was killed, and not started again yet.
    Killed,
    /// Its server is stopped.
    Paused,
    /// Its server runs and is on no network.
    Disconnected,
}

impl fmt::Display for NodeState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            NodeState::Up => "up",
            NodeState::Killed => "killed",
            NodeState::Paused => "paused",
            NodeState::Disconnected => "disconnected",
        })
    }
}

impl Role {
    /// Whether a node in this role orders the writes.
    pub fn leads(self) -> bool {
        matches!(self, Role::Leader | Role::Standalone)
    }

    /// Reads the role from what `mntr` calls `zk_server_state`.
    pub fn from_state(state: &str) -> Role {
        match state {
            "leader" => Role::Leader,
            "follower" => Role::Follower,
            "observer" => Role::Observer,
            "standalone" => Role::Standalone,
            _ => Role::Out,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Role::Leader => "leader",
            Role::Follower => "follower",
            Role::Observer => "observer",
            Role::Standalone => "standalone",
            Role::Out => "out",
        })
    }
}
