//! Nodes broken on purpose, and mended.
use std::time::{Duration, Instant};

use super::description::{NodeState, Role};
use super::error::EnsembleError;
use super::handle::Ensemble;
use super::local::Node;
use super::provider::Provider;
use super::service::NodeReport;

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
        self.provider.kill(self.place(node, "killed")?).await
    }

    /// Starts the server of a killed node again, on its data, and returns when the process runs, not when it serves.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that was not killed, or whose server could not be started.
    pub async fn start_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.provider.start_again(self.place(node, "started again")?).await
    }

    /// Stops the server's process (`SIGSTOP`; external ones by a command of the user's): it keeps its connections and answers nobody, as in a long collection of
    /// garbage. It can be killed meanwhile.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that is down already, or that there is not.
    pub async fn pause_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.provider.pause(self.place(node, "paused")?).await
    }

    /// Lets a paused node go on (`SIGCONT`), as if nothing had been.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that was not paused.
    pub async fn resume_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.provider.resume(self.place(node, "resumed")?).await
    }

    /// Takes a node off its network: its connections die without a word, nobody reaches it, and its server runs on. Only nodes in
    /// containers have a network of their own.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that is down already, that has no such network, or that there is not.
    pub async fn disconnect_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.provider.disconnect(self.place(node, "disconnected")?).await
    }

    /// Puts a node on its network again.
    ///
    /// Errors: [`EnsembleError::Fault`] for one that was not disconnected.
    pub async fn connect_node(&self, node: usize) -> Result<(), EnsembleError> {
        self.provider.connect(self.place(node, "connected")?).await
    }

    /// What was made of each node on purpose.
    pub fn states(&self) -> Vec<NodeState> {
        self.places().map(|node| self.provider.state(node)).collect()
    }

    /// The role of each node, as it tells now: [`Role::Out`] for one that is down or does not answer within half a second.
    /// An etcd node may still name a leader that is gone until the election timeout is over.
    pub async fn roles(&self) -> Vec<Role> {
        self.answers(ROLE_LIMIT).await.into_iter().map(|report| report.role).collect()
    }

    /// Waits until all nodes are up and in, as at the start: one leads, all others follow, and a quorum serves.
    ///
    /// Errors: [`EnsembleError::NotReady`] after `limit`, [`EnsembleError::Lost`].
    pub async fn wait_until_whole(&self, limit: Duration) -> Result<(), EnsembleError> {
        let begun = Instant::now();
        loop {
            self.check_alive()?;
            let reports = self.answers(ASK_LIMIT).await;
            if self.is_whole(&reports).await {
                return Ok(());
            }
            if begun.elapsed() >= limit {
                let roles: Vec<Role> = reports.iter().map(|report| report.role).collect();
                let out = roles.iter().position(|role| *role == Role::Out).unwrap_or(0);
                let told =
                    self.places().zip(&roles).map(|(node, role)| format!("{} is {role}", self.provider.name_of(node)));
                return Err(EnsembleError::NotReady {
                    after: limit,
                    roles: told.collect::<Vec<_>>().join(", "),
                    log: self.provider.log_tail(out),
                });
            }
            tokio::time::sleep(PACE).await;
        }
    }

    /// Whether these reports are those of an ensemble that has everybody in.
    async fn is_whole(&self, reports: &[NodeReport]) -> bool {
        match &self.provider {
            Provider::Local(local) => {
                let endpoints: Vec<_> = local.nodes.iter().map(Node::endpoint).collect();
                local.service.is_ready(reports, &endpoints, ASK_LIMIT).await
            }
            // What they do not tell is not waited for.
            Provider::External(external) if external.no_book.is_some() => true,
            Provider::External(_) => {
                let leading = reports.iter().filter(|report| report.role.leads()).count();
                leading == 1 && reports.iter().all(|report| report.role != Role::Out)
            }
        }
    }

    fn place(&self, node: usize, deed: &'static str) -> Result<usize, EnsembleError> {
        let missing = || EnsembleError::Fault {
            node: format!("node {node}"),
            deed,
            reason: format!("there are {}, counted from 0", self.provider.count()),
        };
        self.places().contains(&node).then_some(node).ok_or_else(missing)
    }
}
