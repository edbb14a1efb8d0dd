//! Who runs the nodes, and what can be asked of them whoever it is. A further provider is a further variant.
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::description::NodeState;
use super::error::EnsembleError;
use super::external::External;
use super::local::{Local, Node};
use super::service::NodeReport;
use super::usage::ProcessUsage;

/// An answer that is under way.
pub(crate) type Asking = Pin<Box<dyn Future<Output = io::Result<NodeReport>> + Send>>;

/// Who runs the nodes.
#[derive(Debug)]
pub(crate) enum Provider {
    /// This process, by itself or in containers.
    Local(Local),
    /// Somebody else.
    External(External),
}

impl Provider {
    /// Its name in results.
    pub fn name(&self) -> &'static str {
        match self {
            Provider::Local(local) if local.docker().is_some() => "docker",
            Provider::Local(_) => "local",
            Provider::External(_) => "external",
        }
    }

    /// The service's name in results.
    pub fn service(&self) -> &'static str {
        match self {
            Provider::Local(local) => local.service.name(),
            Provider::External(external) => external.questions.service_name(),
        }
    }

    /// What a node is asked for its counters.
    pub fn question(&self) -> &'static str {
        match self {
            Provider::Local(local) => local.service.question(),
            Provider::External(external) => external.questions.question(),
        }
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        match self {
            Provider::Local(local) => local.nodes.len(),
            Provider::External(external) => external.nodes.len(),
        }
    }

    /// The name of the node at this place, as in `zookeeper-1`.
    pub fn name_of(&self, node: usize) -> &str {
        match self {
            Provider::Local(local) => local.nodes[node].name(),
            Provider::External(external) => &external.nodes[node].name,
        }
    }

    /// Where clients connect to it.
    pub fn endpoint(&self, node: usize) -> String {
        match self {
            Provider::Local(local) => local.nodes[node].endpoint().to_string(),
            Provider::External(external) => external.nodes[node].endpoint.clone(),
        }
    }

    /// What was made of it on purpose.
    pub fn state(&self, node: usize) -> NodeState {
        match self {
            Provider::Local(local) => local.nodes[node].state(),
            Provider::External(external) => external.nodes[node].state(),
        }
    }

    /// How often the nodes' servers were started, as far as that is known, all together.
    pub fn lives(&self) -> u64 {
        match self {
            Provider::Local(local) => local.nodes.iter().map(Node::lives).sum(),
            Provider::External(external) => external.nodes.iter().map(|node| node.lives.load(Ordering::Acquire)).sum(),
        }
    }

    /// How the first node ended that ended by itself, and the end of its log. Of external ones nobody knows.
    pub fn lost(&self) -> Option<EnsembleError> {
        let Provider::Local(local) = self else { return None };
        let (node, how) = local.nodes.iter().find_map(|node| node.ended().map(|how| (node, how)))?;
        Some(EnsembleError::Lost { node: node.name().into(), how, log: node.log_tail() })
    }

    /// The end of a node's log, where it can be read.
    pub fn log_tail(&self, node: usize) -> String {
        match self {
            Provider::Local(local) => local.nodes[node].log_tail(),
            Provider::External(_) => String::new(),
        }
    }

    /// CPU and memory, and whether it runs; `None` where its process cannot be seen.
    pub fn usage(&self, node: usize) -> Option<(ProcessUsage, bool)> {
        match self {
            Provider::Local(local) => local.nodes[node].usage(),
            Provider::External(_) => None,
        }
    }

    /// Asks a node about itself.
    pub fn ask(&self, node: usize, limit: Duration) -> Asking {
        match self {
            Provider::Local(local) => {
                let node = &local.nodes[node];
                let (service, address, again) = (local.service.clone(), node.endpoint(), node.lives() > 1);
                Box::pin(async move { service.ask(address, limit, again).await })
            }
            Provider::External(external) => {
                let (questions, at) = (external.questions.clone(), external.nodes[node].metrics.clone());
                Box::pin(async move { questions.ask(&at, limit).await })
            }
        }
    }

    /// Kills a node's server. Errors: [`EnsembleError::Fault`].
    pub async fn kill(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].kill().await,
            Provider::External(external) => external.kill(node).await,
        }
    }

    /// Starts it again. Errors: [`EnsembleError::Fault`].
    pub async fn start_again(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].start_again().await,
            Provider::External(external) => external.start_again(node).await,
        }
    }

    /// Stops it for a while. Errors: [`EnsembleError::Fault`].
    pub async fn pause(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].pause().await,
            Provider::External(external) => external.pause(node).await,
        }
    }

    /// Lets it go on. Errors: [`EnsembleError::Fault`].
    pub async fn resume(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].resume().await,
            Provider::External(external) => external.resume(node).await,
        }
    }

    /// Takes it off its network. Errors: [`EnsembleError::Fault`].
    pub async fn disconnect(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].disconnect().await,
            Provider::External(_) => self.no_network(node, "disconnected"),
        }
    }

    /// Puts it on its network again. Errors: [`EnsembleError::Fault`].
    pub async fn connect(&self, node: usize) -> Result<(), EnsembleError> {
        match self {
            Provider::Local(local) => local.nodes[node].connect().await,
            Provider::External(_) => self.no_network(node, "connected"),
        }
    }

    /// What cannot be done to nodes whose network is not ours.
    fn no_network(&self, node: usize, deed: &'static str) -> Result<(), EnsembleError> {
        let reason = "its network is not ours: that takes `provider = \"docker\"`".into();
        Err(EnsembleError::Fault { node: self.name_of(node).into(), deed, reason })
    }
}
