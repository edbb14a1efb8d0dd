//! From settings to an ensemble that serves.
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::{self, Path};
use std::time::{Duration, Instant};

use super::folder::{self, EnsembleFolder, NodeFolder};
use super::node::Node;
use super::ports::{self, NodePorts};
use super::vessel::Vessel;
use crate::ensemble::description::Role;
use crate::ensemble::docker::{Docker, Network};
use crate::ensemble::error::EnsembleError;
use crate::ensemble::keeper::Commands;
use crate::ensemble::service::{NodeReport, Service};

/// How long the ensemble may take until it serves. Three nodes take a few seconds on two idle cores.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// How often the nodes are asked meanwhile.
const READY_PACE: Duration = Duration::from_millis(100);
/// How long a starting node may take to answer; it is asked again.
const ASK_LIMIT: Duration = Duration::from_secs(2);
/// How often other ports are picked after a lost race for one.
const ATTEMPTS: u32 = 3;
/// Room for the log of a node whose data are in a container, in MiB.
const LOG_MIB: u64 = 1;

/// A running local ensemble. Dropped, it ends its nodes and removes its folder, and waits for that.
#[derive(Debug)]
pub(crate) struct Local {
    pub nodes: Vec<Node>,
    pub service: Service,
    folder: EnsembleFolder,
    /// Where the nodes are in containers: what these have in common.
    network: Option<Network>,
}

/// Starts an ensemble of `service` with its folder below `parent`, in containers if there is a Docker for them, and waits until
/// it serves.
pub(crate) async fn launch(
    service: Service,
    docker: Option<Docker>,
    parent: &Path,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Local, EnsembleError> {
    // The keepers and the servers work in other folders than this process.
    let parent = &path::absolute(parent).unwrap_or_else(|_| parent.to_path_buf());
    folder::sweep(parent);
    let (nodes, base_port) = (service.nodes(), service.base_port());
    let (between, mib) = match docker {
        None => (service.ports_between(), service.mib_per_node()),
        // Among themselves they use the ports of their own network.
        Some(_) => (0, LOG_MIB),
    };
    let mut attempt = 1;
    loop {
        let ports = match base_port {
            Some(base) => ports::fixed(nodes, base, between)?,
            None => ports::free(nodes, between).map_err(EnsembleError::NoPorts)?,
        };
        let folder = EnsembleFolder::create(parent, u64::from(nodes) * mib)?;
        let mut local = Local { nodes: Vec::new(), service: service.clone(), folder, network: None };
        if let Some(docker) = &docker {
            // The folder's name is nobody else's.
            let name = local.folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            local.network = Some(Network::create(docker.clone(), &name)?);
        }
        let error = match local.start(&ports, progress).await {
            Ok(()) => return Ok(local),
            Err(error) => error,
        };
        let lost_race = local.nodes.iter().any(Node::failed_to_bind);
        // After this every port that is still taken is somebody else's.
        local.stop().await?;
        if !lost_race {
            return Err(error);
        }
        if base_port.is_some() {
            let taken = ports.iter().flat_map(NodePorts::all).find(|port| !ports::is_free(*port));
            return Err(taken.map_or(error, ports::taken));
        }
        if attempt == ATTEMPTS {
            return Err(error);
        }
        attempt += 1;
        progress("somebody took a port that was free a moment ago; trying others");
    }
}

impl Local {
    async fn start(&mut self, ports: &[NodePorts], progress: &(dyn Fn(&str) + Sync)) -> Result<(), EnsembleError> {
        let title = self.service.title();
        progress(&match self.service.nodes() {
            1 => format!("starting {title} on one node"),
            count => format!("starting {title} on {count} nodes"),
        });
        let started = Instant::now();
        for (id, own) in (1..).zip(ports) {
            let name = format!("{}-{id}", self.service.name());
            let folder = NodeFolder::new(self.folder.path().join(&name));
            folder.make().map_err(|(path, error)| self.folder.error(&path, error))?;
            let (vessel, commands) = match &self.network {
                None => {
                    let written = self.service.write(&folder, id, ports);
                    written.map_err(|(path, error)| self.folder.error(&path, error))?;
                    let server = self.service.command(&folder, id, ports);
                    (Vessel::Process, Commands { server, ..Commands::default() })
                }
                Some(network) => {
                    let container = network.container(&self.service, id, own.client);
                    let commands = container.commands();
                    (Vessel::Container(container), commands)
                }
            };
            // The command `docker` is told by variables where its engine is.
            let is_kept_out = |variable: &OsStr| self.network.is_none() && self.service.keeps_out(variable);
            self.nodes.push(Node::start(name, own.clone(), folder, vessel, commands, is_kept_out).await?);
        }
        self.wait_until_ready(started, progress).await?;
        progress(&format!("{title} serves after {:.1} s", started.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Waits until there is a leader, everybody else follows, and the leader has all of them in.
    async fn wait_until_ready(&self, started: Instant, progress: &(dyn Fn(&str) + Sync)) -> Result<(), EnsembleError> {
        let mut told = Vec::new();
        loop {
            for node in &self.nodes {
                if let Some(how) = node.ended() {
                    return Err(EnsembleError::Start { node: node.name().into(), how, log: node.log_tail() });
                }
            }
            let mut answers = Vec::new();
            for node in &self.nodes {
                answers.push(self.service.ask(node.endpoint(), ASK_LIMIT, false).await.unwrap_or_default());
            }
            let endpoints: Vec<SocketAddr> = self.nodes.iter().map(Node::endpoint).collect();
            if self.service.is_ready(&answers, &endpoints, ASK_LIMIT).await {
                return Ok(());
            }
            let roles: Vec<Role> = answers.iter().map(|answer: &NodeReport| answer.role).collect();
            let out = roles.iter().position(|role| *role == Role::Out);
            // With a lost race for a port between the nodes a server does not end; it tries for ever.
            if let Some(node) = self.nodes.iter().find(|node| node.failed_to_bind()) {
                let how = "could not listen on its port".into();
                return Err(EnsembleError::Start { node: node.name().into(), how, log: node.log_tail() });
            }
            if roles != told {
                if roles.iter().any(|role| *role != Role::Out) {
                    progress(&format!("waiting for all nodes: {}", self.roles(&roles)));
                }
                told = roles.clone();
            }
            if started.elapsed() > READY_LIMIT {
                return Err(EnsembleError::NotReady {
                    after: READY_LIMIT,
                    roles: self.roles(&roles),
                    log: self.nodes[out.unwrap_or(0)].log_tail(),
                });
            }
            tokio::time::sleep(READY_PACE).await;
        }
    }

    /// The Java runtime, where the servers come from, and their settings.
    pub fn shown(&self) -> (Option<String>, String, BTreeMap<String, String>) {
        let (java, mut settings) = (self.service.java(), self.service.shown());
        let Some(docker) = self.docker() else { return (java, self.service.origin(), settings) };
        let unlimited = || "no limit".to_owned();
        settings.insert("container memory".into(), docker.memory.clone().unwrap_or_else(unlimited));
        settings.insert("container cpus".into(), docker.cpus.map_or_else(unlimited, |cpus| cpus.to_string()));
        (java, docker.origin(), settings)
    }

    /// Out of what containers are made, if the nodes are in containers.
    pub fn docker(&self) -> Option<&Docker> {
        self.network.as_ref().map(Network::docker)
    }

    /// The roles with the names of their nodes, for a sentence.
    pub fn roles(&self, roles: &[Role]) -> String {
        let each = self.nodes.iter().zip(roles).map(|(node, role)| format!("{} {role}", node.name()));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Ends all nodes, waits for that, and removes the folder.
    pub async fn stop(mut self) -> Result<(), EnsembleError> {
        self.nodes.iter().for_each(Node::release);
        let begun = Instant::now();
        let in_time = |node: &Node| node.is_gone() || begun.elapsed() >= node.vessel.end_limit();
        while !self.nodes.iter().all(in_time) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let cleared = self.clear().map_err(|error| EnsembleError::Stop {
            what: format!("{} cannot be removed: {error}", self.folder.path().display()),
        });
        self.network.take().map_or(Ok(()), Network::remove).and(cleared)
    }

    /// Drops the nodes, which sees to their ends, and removes what is left of the folder.
    fn clear(&mut self) -> io::Result<()> {
        self.nodes.clear();
        self.folder.remove()
    }
}

impl Drop for Local {
    /// The same as [`Local::stop`] for one that was not called: a panic, or a start that was cancelled. It blocks the
    /// thread for some milliseconds.
    fn drop(&mut self) {
        // All of them first, so that they end at the same time.
        self.nodes.iter().for_each(Node::release);
        let _ = self.clear();
    }
}
