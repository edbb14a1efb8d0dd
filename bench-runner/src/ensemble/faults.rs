//! Nodes broken on purpose, and mended.
use std::time::{Duration, Instant};

use super::description::{NodeState, Role};
use super::error::EnsembleError;
use super::handle::Ensemble;
use super::local::Node;

/// How long a node may take to tell its role: it is asked to find the one that leads now.
const ROLE_LIMIT: Duration = Duration::from_millis(500);
/// How long a node may take to answer while the ensemble becomes whole; it is asked again.
const ASK_LIMIT: Duration = Duration::from_secs(2);
/// How often they are asked meanwhile.
const PACE: Duration = Duration::from_millis(100);

impl Ensemble {
    /// Kills the server of the node at this place (`SIGKILL`) and returns when the process is gone. The node's folder stays,
    /// so that [`Ensemble::start_node`] finds its data; until then the node is not missed by [`Ensemble::check_alive`].
    ///
    /// Errors: [`EnsembleError::Fault`] for one that is dead already, or that there is not.
    pub async fn kill_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.node(node, "killed")?.kill().await
    }

    /// Starts the server of a killed node again, on its data, and returns when the process runs, not when it serves.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that was not killed, or whose server could not be started.
    pub async fn start_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.node(node, "started again")?.start_again().await
    }

    /// Stops the server's process (`SIGSTOP`): it keeps its connections and answers nobody, as in a long collection of
    /// garbage. It can be killed meanwhile.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that is down already, or that there is not.
    pub fn pause_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.node(node, "paused")?.pause()
    }

    /// Lets a paused node go on (`SIGCONT`), as if nothing had been.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that was not paused.
    pub fn resume_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.node(node, "resumed")?.resume()
    }

    /// What was made of each node on purpose.
    pub fn states(&self) -> Vec<NodeState> {
        self.nodes().iter().map(Node::state).collect()
    }

    /// The role of each node, as it tells now: [`Role::Out`] for one that is down or does not answer within half a second.
    /// An etcd node may still name a leader that is gone until the election timeout is over.
    pub async fn roles(&self) -> Vec<Role> {
        let answers = self.ask_all(ROLE_LIMIT).await;
        answers.into_iter().map(|answer| answer.map_or(Role::Out, |report| report.role)).collect()
    }

    /// Waits until all nodes are up and in, as at the start: one leads, all others follow, and a quorum serves.
    ///
    /// Errors: [`EnsembleError::NotReady`] after `limit`, [`EnsembleError::Lost`].
    pub async fn wait_until_whole(&self, limit: Duration) -> Result<(), EnsembleError> {
        let begun = Instant::now();
        loop {
            self.check_alive()?;
            let answers = self.ask_all(ASK_LIMIT).await;
            let reports: Vec<_> = answers.into_iter().map(Result::unwrap_or_default).collect();
            let endpoints: Vec<_> = self.nodes().iter().map(Node::endpoint).collect();
            if self.local.service.is_ready(&reports, &endpoints, ASK_LIMIT).await {
                return Ok(());
            }
            if begun.elapsed() >= limit {
                let roles: Vec<Role> = reports.iter().map(|report| report.role).collect();
                let out = roles.iter().position(|role| *role == Role::Out).unwrap_or(0);
                return Err(EnsembleError::NotReady {
                    after: limit,
                    roles: self.local.roles(&roles),
                    log: self.nodes()[out].log_tail(),
                });
            }
            tokio::time::sleep(PACE).await;
        }
    }

    fn node(&self, node: usize, deed: &'static str) -> Result<&Node, EnsembleError> {
        let missing = || EnsembleError::Fault {
            node: format!("node {node}"),
            deed,
            reason: format!("there are {}, counted from 0", self.nodes().len()),
        };
        self.nodes().get(node).ok_or_else(missing)
    }
}
