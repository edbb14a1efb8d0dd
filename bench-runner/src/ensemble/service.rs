//! What tells one service from another: what is started, when it serves, and what its nodes can be asked.
//!
//! Everything else about an ensemble (folders, ports, keepers, usage) is the same for both and knows nothing of them.
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::counters::Notifications;
use super::description::Role;
use super::error::EnsembleError;
use super::etcd::{Etcd, EtcdSettings};
use super::local::{NodeFolder, NodePorts};
use super::search::Search;
use super::zookeeper::{Zookeeper, ZookeeperSettings};

/// A local ensemble as it is wanted, of either service.
#[derive(Debug, Clone, PartialEq)]
pub enum LocalSettings {
    /// Of ZooKeeper.
    Zookeeper(ZookeeperSettings),
    /// Of etcd.
    Etcd(EtcdSettings),
}

impl LocalSettings {
    /// Sees whether the settings can be met by any machine; needs nothing installed.
    ///
    /// Errors: [`EnsembleError::Settings`].
    pub fn check(&self) -> Result<(), EnsembleError> {
        match self {
            LocalSettings::Zookeeper(settings) => settings.check(),
            LocalSettings::Etcd(settings) => settings.check(),
        }
    }
}

impl From<ZookeeperSettings> for LocalSettings {
    fn from(settings: ZookeeperSettings) -> Self {
        LocalSettings::Zookeeper(settings)
    }
}

impl From<EtcdSettings> for LocalSettings {
    fn from(settings: EtcdSettings) -> Self {
        LocalSettings::Etcd(settings)
    }
}

/// What one node tells about itself at one moment, whatever its service. What it did not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct NodeReport {
    pub role: Role,
    pub version: Option<String>,
    /// Notifications that it has sent since its start; `None` where it has no counter for them.
    pub notifications: Option<Notifications>,
    /// Packets or messages from clients since its start.
    pub received: u64,
    /// Packets or messages to clients since its start.
    pub sent: u64,
    /// Watches that its clients hold now.
    pub watches: Option<u64>,
    /// Sessions of the whole ensemble that it knows of now.
    pub sessions: Option<u64>,
    /// Sessions that are with this node now.
    pub connections: Option<u64>,
    /// Bytes of the data that it keeps.
    pub data_bytes: Option<u64>,
    /// What it has accepted and not finished.
    pub outstanding: Option<u64>,
    /// Leaders that it has seen since its start.
    pub leaders: Option<u64>,
    /// How much of the ensemble's history it has seen: of two that differ about the sessions, the larger one is right.
    pub applied: u64,
    /// A leader that tells how many followers have caught up.
    pub synced_followers: Option<u64>,
}

/// A service that was found on this machine, with the settings that it runs with.
#[derive(Debug, Clone)]
pub(crate) enum Service {
    Zookeeper(Zookeeper),
    Etcd(Etcd),
}

/// Hands a call on to the service that it is.
macro_rules! either {
    ($service:expr, $it:ident => $call:expr) => {
        match $service {
            Service::Zookeeper($it) => $call,
            Service::Etcd($it) => $call,
        }
    };
}

impl Service {
    /// Finds the service that `settings` are of. Errors: [`EnsembleError::Settings`], [`EnsembleError::NotInstalled`].
    pub async fn find(settings: &LocalSettings, search: &Search) -> Result<Service, EnsembleError> {
        settings.check()?;
        match settings {
            LocalSettings::Zookeeper(settings) => {
                Zookeeper::find(settings.clone(), search).await.map(Service::Zookeeper)
            }
            LocalSettings::Etcd(settings) => Etcd::find(settings.clone(), search).await.map(Service::Etcd),
        }
    }

    /// The same in containers, where nothing has to be found. Errors: [`EnsembleError::Settings`].
    pub fn in_containers(settings: &LocalSettings) -> Result<Service, EnsembleError> {
        settings.check()?;
        Ok(match settings {
            LocalSettings::Zookeeper(settings) => Service::Zookeeper(Zookeeper::in_containers(settings.clone())),
            LocalSettings::Etcd(settings) => Service::Etcd(Etcd::in_containers(settings.clone())),
        })
    }

    /// Its name in results and in the names of nodes.
    pub fn name(&self) -> &'static str {
        match self {
            Service::Zookeeper(_) => "zookeeper",
            Service::Etcd(_) => "etcd",
        }
    }

    /// Its name in sentences.
    pub fn title(&self) -> &'static str {
        match self {
            Service::Zookeeper(_) => "ZooKeeper",
            Service::Etcd(_) => "etcd",
        }
    }

    /// What a node is asked.
    pub fn question(&self) -> &'static str {
        match self {
            Service::Zookeeper(_) => "mntr",
            Service::Etcd(_) => "GET /metrics",
        }
    }

    pub fn nodes(&self) -> u32 {
        either!(self, it => it.settings.nodes)
    }

    pub fn base_port(&self) -> Option<u16> {
        either!(self, it => it.settings.base_port)
    }

    /// Ports that each node needs besides the clients'.
    pub fn ports_between(&self) -> usize {
        either!(self, it => it.ports_between())
    }

    /// Room that a node is sure to need in its folder, in MiB.
    pub fn mib_per_node(&self) -> u64 {
        either!(self, it => it.mib_per_node())
    }

    /// Writes the files of node `id` (from 1) into its folder. Errors: the path that could not be written, and why.
    pub fn write(&self, folder: &NodeFolder, id: u32, ports: &[NodePorts]) -> Result<(), (PathBuf, io::Error)> {
        match self {
            Service::Zookeeper(it) => it.write(folder, id, ports),
            // All that etcd needs to know stands on its command line.
            Service::Etcd(_) => Ok(()),
        }
    }

    /// The command that starts node `id`, in its folder.
    pub fn command(&self, folder: &NodeFolder, id: u32, ports: &[NodePorts]) -> Vec<OsString> {
        match self {
            Service::Zookeeper(it) => it.command(folder),
            Service::Etcd(it) => it.command(id, ports),
        }
    }

    /// Whether the variable is kept from the servers: what ran is what the settings say.
    pub fn keeps_out(&self, variable: &OsStr) -> bool {
        either!(self, it => it.keeps_out(variable))
    }

    /// Asks a node about itself; `again` says whether its server was started again since the ensemble serves. Errors: it does
    /// not listen, or has not answered within `limit`.
    pub async fn ask(&self, node: SocketAddr, limit: Duration, again: bool) -> io::Result<NodeReport> {
        match self {
            Service::Zookeeper(it) => it.ask(node, limit).await,
            Service::Etcd(it) => it.ask(node, limit, again).await,
        }
    }

    /// Whether these reports are those of an ensemble that has everybody in.
    pub async fn is_ready(&self, reports: &[NodeReport], nodes: &[SocketAddr], limit: Duration) -> bool {
        match self {
            Service::Zookeeper(it) => it.is_ready(reports),
            Service::Etcd(it) => it.is_ready(reports) && it.are_healthy(nodes, limit).await,
        }
    }

    /// The settings that matter for what is measured, by the server's own names.
    pub fn shown(&self) -> BTreeMap<String, String> {
        either!(self, it => it.shown())
    }

    /// Where the service was found.
    pub fn origin(&self) -> String {
        either!(self, it => it.origin())
    }

    /// The Java runtime, where the service needs one.
    pub fn java(&self) -> Option<String> {
        match self {
            Service::Zookeeper(it) => it.java(),
            Service::Etcd(_) => None,
        }
    }

    /// What a reader has to know where the servers have no counter of notifications.
    pub fn no_notifications(&self) -> &'static str {
        match self {
            Service::Zookeeper(_) => "this ZooKeeper has no counters of notifications: they came with 3.6",
            Service::Etcd(_) => "this etcd does not tell `etcd_debugging_mvcc_events_total`",
        }
    }
}
