//! The ensemble as the other stages hold it.
use std::io;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::counters::Counters;
use super::description::{Description, NodeDescription, NodeState, Role};
use super::error::EnsembleError;
use super::local::{self, Local, Node};
use super::search::Search;
use super::service::{LocalSettings, NodeReport, Service};
use super::usage::{NodeSample, NodeUsage, NodesSample};

/// How long a node may take to answer where its answer is needed; a herd may keep it busy for seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);
/// How long it may take where the answer is one of many: a sample a second must not lag behind.
const SAMPLE_LIMIT: Duration = Duration::from_millis(800);
/// How far apart two readings are that are to be the same. Long for a thread that was put aside between the last
/// notification and its entry in the books.
const REST_PACE: Duration = Duration::from_millis(100);
/// How often is asked whether the past has gone.
const SETTLE_PACE: Duration = Duration::from_millis(100);

/// A running ensemble. [`Ensemble::stop`] ends it; dropping it does the same and blocks for some milliseconds. It also
/// ends when this process does, whatever ends it.
#[derive(Debug)]
pub struct Ensemble {
    pub(super) local: Local,
}

impl Ensemble {
    /// Starts a local ensemble from what this process's environment names, below the system's temporary folder, and
    /// returns when a leader leads and all others follow (a single node: when it serves). That takes a few seconds, and
    /// 60 s at most. `progress` is told, in sentences without a full stop, what is going on.
    ///
    /// Cancelled (dropped before it is done), it leaves nothing behind.
    ///
    /// Errors: all but `Lost`, `NoAnswer`, `Unsettled` and `Restless`. Only `Settings` is the scenario's fault.
    pub async fn start(
        settings: impl Into<LocalSettings>,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Ensemble, EnsembleError> {
        Ensemble::start_from(settings, &Search::from_env(), progress).await
    }

    /// As [`Ensemble::start`], with the places where the installation is looked for.
    pub async fn start_from(
        settings: impl Into<LocalSettings>,
        search: &Search,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Ensemble, EnsembleError> {
        let service = Service::find(&settings.into(), search).await?;
        let local = local::launch(service, &std::env::temp_dir(), progress).await?;
        Ok(Ensemble { local })
    }

    /// Where clients connect: `127.0.0.1:<port>` of each node.
    pub fn endpoints(&self) -> Vec<String> {
        self.nodes().iter().map(|node| node.endpoint().to_string()).collect()
    }

    /// The endpoints as clients take them: with commas between.
    pub fn connect_string(&self) -> String {
        self.endpoints().join(",")
    }

    /// The nodes, in the order of their names.
    pub fn nodes(&self) -> &[Node] {
        &self.local.nodes
    }

    /// What this ensemble is, with the role that each node has now.
    ///
    /// Errors: [`EnsembleError::Lost`], [`EnsembleError::Down`], [`EnsembleError::NoAnswer`].
    pub async fn describe(&self) -> Result<Description, EnsembleError> {
        let reports = self.reports().await?;
        let service = &self.local.service;
        let nodes = self.nodes().iter().zip(&reports).map(|(node, report)| NodeDescription {
            name: node.name().into(),
            endpoint: node.endpoint().to_string(),
            role: report.role,
        });
        Ok(Description {
            service: service.name().into(),
            provider: "local".into(),
            version: reports.iter().find_map(|report| report.version.clone()).unwrap_or_else(|| "unknown".into()),
            java: service.java(),
            installation: service.origin(),
            nodes: nodes.collect(),
            settings: service.shown(),
        })
    }

    /// Why [`Counters::notifications`] is `None` where it is: which counter is missing.
    pub fn no_notifications(&self) -> &'static str {
        self.local.service.no_notifications()
    }

    /// The counters of all nodes, added up; there are none while one is down. Asking ZooKeeper adds to the packets: one received and about two sent for each
    /// node.
    ///
    /// Errors: [`EnsembleError::Lost`], [`EnsembleError::Down`], [`EnsembleError::NoAnswer`].
    pub async fn counters(&self) -> Result<Counters, EnsembleError> {
        let (mut lives, mut reports) = (self.lives(), self.reports().await?);
        // A node that was started again meanwhile may have told of either life.
        while lives != self.lives() {
            (lives, reports) = (self.lives(), self.reports().await?);
        }
        // A node that is out tells nothing; counting that as nought would falsify every difference.
        if let Some((node, _)) = self.nodes().iter().zip(&reports).find(|(_, report)| report.role == Role::Out) {
            return Err(EnsembleError::NoAnswer {
                node: node.name().into(),
                word: self.local.service.question().into(),
                reason: "it runs and does not serve, as when the ensemble has no leader".into(),
            });
        }
        Ok(Counters { lives, ..Counters::of(&reports) })
    }

    /// The counters once they have come to rest: nothing outstanding, and two readings some time apart with the same
    /// notifications. This is the reading to compare with what clients counted: a server adds a notification to its
    /// books after it has sent it, so that [`Ensemble::counters`], asked as soon as the last one has arrived, may lack it
    /// (measured: one time in thirty on a busy machine).
    ///
    /// Errors: [`EnsembleError::Restless`] after `limit`, and those of [`Ensemble::counters`].
    pub async fn counters_at_rest(&self, limit: Duration) -> Result<Counters, EnsembleError> {
        let begun = Instant::now();
        let mut before = self.counters().await?;
        loop {
            tokio::time::sleep(REST_PACE).await;
            let now = self.counters().await?;
            if now.outstanding == 0 && now.notifications == before.notifications {
                return Ok(now);
            }
            if begun.elapsed() >= limit {
                return Err(EnsembleError::Restless { after: limit, outstanding: now.outstanding });
            }
            before = now;
        }
    }

    /// CPU, memory, watches and connections of each node now; takes under a second, and costs a node one
    /// millisecond of CPU when idle and five with 5,000 sessions. What a node does not tell in time is left out.
    pub async fn sample(&self) -> NodesSample {
        let states = self.states();
        let reports: Vec<Option<NodeReport>> = self.ask_all(SAMPLE_LIMIT).await.into_iter().map(Result::ok).collect();
        let nodes = self.nodes().iter().zip(&states).zip(&reports).map(|((node, state), report)| {
            let (usage, alive) = node.usage();
            // One that is dead holds nothing.
            let untold = (*state == NodeState::Killed).then_some(0);
            let told = |of: fn(&NodeReport) -> Option<u64>| report.as_ref().map_or(untold, of);
            NodeSample {
                name: node.name().into(),
                state: *state,
                cpu_seconds: usage.cpu_seconds,
                rss_bytes: if alive { usage.rss_bytes } else { 0 },
                watches: told(|report| report.watches),
                connections: told(|report| report.connections),
                data_bytes: report.as_ref().and_then(|report| report.data_bytes),
                outstanding: told(|report| report.outstanding),
            }
        });
        let nodes = nodes.collect();
        let up = states.iter().zip(reports).filter(|(state, _)| **state == NodeState::Up);
        let told: Option<Vec<NodeReport>> = up.map(|(_, report)| report).collect();
        let told = told.filter(|reports| !reports.is_empty());
        NodesSample { nodes, sessions: told.map(|reports| Counters::of(&reports).sessions) }
    }

    /// CPU and peak memory of each node since its first start, warm-up and all; two readings give the CPU of what was
    /// between. Of a node that was started again: the CPU of all lives of its server, and the highest peak. Of a life that is
    /// over: what was seen of it last.
    pub fn usage(&self) -> Vec<NodeUsage> {
        let of = |node: &Node| {
            let (usage, _) = node.usage();
            NodeUsage { name: node.name().into(), cpu_seconds: usage.cpu_seconds, peak_rss_bytes: usage.peak_rss_bytes }
        };
        self.nodes().iter().map(of).collect()
    }

    /// Whether all nodes run but those that are down on purpose; costs next to nothing. A node that runs and does not serve is
    /// not noticed here.
    ///
    /// Errors: [`EnsembleError::Lost`] with the first node that ended, how, and the end of its log.
    pub fn check_alive(&self) -> Result<(), EnsembleError> {
        match self.nodes().iter().find_map(|node| node.ended().map(|how| (node, how))) {
            Some((node, how)) => Err(EnsembleError::Lost { node: node.name().into(), how, log: node.log_tail() }),
            None => Ok(()),
        }
    }

    /// Waits until the servers hold at most so many sessions and watches; those of a worker that was killed linger
    /// until the session times out. Gives up after `limit`, which should be above the session timeout.
    ///
    /// Errors: [`EnsembleError::Unsettled`] with what is left, and those of [`Ensemble::counters`].
    pub async fn settled(&self, sessions: u64, watches: u64, limit: Duration) -> Result<(), EnsembleError> {
        let begun = Instant::now();
        loop {
            let now = self.counters().await?;
            if now.sessions <= sessions && now.watches <= watches {
                return Ok(());
            }
            if begun.elapsed() >= limit {
                return Err(EnsembleError::Unsettled {
                    after: limit,
                    sessions: now.sessions,
                    watches: now.watches,
                    sessions_allowed: sessions,
                    watches_allowed: watches,
                });
            }
            tokio::time::sleep(SETTLE_PACE.min(limit.saturating_sub(begun.elapsed()))).await;
        }
    }

    /// Kills the servers, which hold nothing of worth, waits for that, and removes their folders.
    ///
    /// Errors: [`EnsembleError::Stop`] with what is left.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        self.local.stop().await
    }

    /// What every node tells about itself.
    async fn reports(&self) -> Result<Vec<NodeReport>, EnsembleError> {
        self.check_alive()?;
        let mut states = self.nodes().iter().zip(self.states());
        if let Some((node, state)) = states.find(|(_, state)| *state != NodeState::Up) {
            return Err(EnsembleError::Down { node: node.name().into(), state });
        }
        let mut reports = Vec::new();
        for (node, answer) in self.nodes().iter().zip(self.ask_all(ANSWER_LIMIT).await) {
            match answer {
                Ok(report) => reports.push(report),
                Err(error) => {
                    // That it is gone says more than that it did not answer.
                    self.check_alive()?;
                    let (node, word) = (node.name().into(), self.local.service.question().into());
                    return Err(EnsembleError::NoAnswer { node, word, reason: error.to_string() });
                }
            }
        }
        Ok(reports)
    }

    /// How often the nodes' servers were started, all together.
    fn lives(&self) -> u64 {
        self.nodes().iter().map(Node::lives).sum()
    }

    /// Asks all nodes at the same time; the answers come in their order. One that is down on purpose is not asked.
    pub(super) async fn ask_all(&self, limit: Duration) -> Vec<io::Result<NodeReport>> {
        let mut questions = JoinSet::new();
        for (index, node) in self.nodes().iter().enumerate().filter(|(_, node)| node.state() == NodeState::Up) {
            let (service, address, again) = (self.local.service.clone(), node.endpoint(), node.lives() > 1);
            questions.spawn(async move { (index, service.ask(address, limit, again).await) });
        }
        // Stays where a question was not asked, or was cancelled, as it is when the runtime shuts down.
        let mut answers: Vec<io::Result<NodeReport>> =
            self.nodes().iter().map(|_| Err(io::ErrorKind::Interrupted.into())).collect();
        while let Some(question) = questions.join_next().await {
            if let Ok((index, answer)) = question {
                answers[index] = answer;
            }
        }
        answers
    }
}
