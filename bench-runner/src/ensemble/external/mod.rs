//! The provider `external`: servers that somebody else runs, and that others may be using.
//!
//! Nothing of them is ours but what we create below our own root, which is taken elsewhere (`workloads::claim`). What they do
//! not tell is missing and never guessed: their CPU and memory always, their counters where the questions are not allowed.
//!
//! - `questions`: what a node can be asked, and how it answers where it is not allowed to.
//! - `commands`: how the user has nodes broken and mended.
mod commands;
mod questions;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use workloads::access::Access;
use workloads::settings::Service;

pub use commands::NodeCommands;

use super::counters::Counters;
use super::description::NodeState;
use super::error::EnsembleError;
pub(crate) use questions::Questions;

/// How long a server may take to answer when it is looked at first.
const LOOK_LIMIT: Duration = Duration::from_secs(10);

/// External servers of one service as a scenario describes them.
#[derive(Debug, Clone)]
pub struct ExternalSettings {
    /// Which service they are of.
    pub service: Service,
    /// `host:port` of each, for clients.
    pub endpoints: Vec<String>,
    /// `host:port` of each for questions, in the same order; empty: the same.
    pub metrics: Vec<String>,
    /// Whether questions are asked over TLS.
    pub metrics_tls: bool,
    /// How one gets at them.
    pub access: Access,
    /// How nodes are broken and mended; `None` where that is not allowed.
    pub commands: Option<NodeCommands>,
}

/// Servers of somebody else's.
#[derive(Debug)]
pub(crate) struct External {
    pub nodes: Vec<Remote>,
    pub questions: Questions,
    /// Why the servers give no book, where they do not.
    pub no_book: Option<String>,
    /// What the servers held before we came, where they tell.
    pub before: Option<Counters>,
    commands: Option<NodeCommands>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Remote {
    pub name: String,
    pub endpoint: String,
    /// Where it is asked.
    pub metrics: String,
    /// One more than how often we have had it started.
    pub lives: AtomicU64,
    state: Mutex<NodeState>,
}

impl Remote {
    pub fn state(&self) -> NodeState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: NodeState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl External {
    /// Looks at every server, and asks it nothing but what it is. Changes nothing there.
    ///
    /// Errors: [`EnsembleError::Unusable`] with the first server that does not answer as it should.
    pub async fn look(
        settings: &ExternalSettings,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<External, EnsembleError> {
        let questions = Questions::new(settings);
        let servers = settings.endpoints.len();
        progress(&format!(
            "looking at {servers} external {} {}",
            questions.title(),
            if servers == 1 { "server" } else { "servers" }
        ));
        for endpoint in &settings.endpoints {
            questions.greet(endpoint, LOOK_LIMIT).await.map_err(|reason| EnsembleError::Unusable { reason })?;
        }
        let nodes = (1..).zip(&settings.endpoints).map(|(number, endpoint)| Remote {
            name: format!("{}-{number}", questions.service_name()),
            endpoint: endpoint.clone(),
            metrics: settings.metrics.get(number - 1).unwrap_or(endpoint).clone(),
            lives: AtomicU64::new(1),
            state: Mutex::default(),
        });
        let nodes: Vec<Remote> = nodes.collect();
        let (mut reports, mut no_book) = (Vec::new(), None);
        for node in &nodes {
            match questions.counters(&node.metrics, LOOK_LIMIT).await {
                Ok(report) => reports.push(report),
                Err(why) => {
                    no_book.get_or_insert(why);
                }
            }
        }
        let before = no_book.is_none().then(|| Counters::of(&reports));
        Ok(External { nodes, questions, no_book, before, commands: settings.commands.clone() })
    }

    pub async fn kill(&self, node: usize) -> Result<(), EnsembleError> {
        self.change(node, (NodeState::Up, NodeState::Killed), "killed", |commands| &commands.kill).await
    }

    pub async fn start_again(&self, node: usize) -> Result<(), EnsembleError> {
        // Before it answers again: what it counts from then on has no difference to what it had counted.
        self.nodes[node].lives.fetch_add(1, Ordering::AcqRel);
        self.change(node, (NodeState::Killed, NodeState::Up), "started again", |commands| &commands.start).await
    }

    pub async fn pause(&self, node: usize) -> Result<(), EnsembleError> {
        self.change(node, (NodeState::Up, NodeState::Paused), "paused", |commands| &commands.pause).await
    }

    pub async fn resume(&self, node: usize) -> Result<(), EnsembleError> {
        self.change(node, (NodeState::Paused, NodeState::Up), "resumed", |commands| &commands.resume).await
    }

    /// Brings a node from one state to another by a command of the user's.
    async fn change(
        &self,
        node: usize,
        (from, to): (NodeState, NodeState),
        deed: &'static str,
        which: fn(&NodeCommands) -> &Option<String>,
    ) -> Result<(), EnsembleError> {
        let remote = &self.nodes[node];
        let refuse = |reason: String| EnsembleError::Fault { node: remote.name.clone(), deed, reason };
        if remote.state() != from {
            return Err(refuse(format!("it is {}", remote.state())));
        }
        let command = self.commands.as_ref().and_then(|commands| Some((commands, which(commands).as_ref()?)));
        let Some((commands, command)) = command else {
            return Err(refuse("the scenario has no command for it, or --allow-commands is missing".into()));
        };
        // Whatever goes down is so from here on, so that a command that is cut off is mended all the same.
        if to != NodeState::Up {
            remote.set(to);
        }
        match commands.run(command, node, remote, self.questions.service_name()).await {
            Ok(()) => {
                remote.set(to);
                Ok(())
            }
            Err(reason) => {
                remote.set(from);
                Err(refuse(reason))
            }
        }
    }
}
