//! The ensemble as the other stages hold it.
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use workloads::access::{Access, Throttle};

use super::counters::Counters;
use super::description::{Description, NodeDescription, NodeState, Role};
use super::docker::{Docker, DockerSettings};
use super::error::EnsembleError;
use super::external::{External, ExternalSettings};
use super::local::{self, Node};
use super::provider::Provider;
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
/// ends when this process does, whatever ends it. External servers are left as they are.
#[derive(Debug)]
pub struct Ensemble {
    pub(super) provider: Provider,
    access: Access,
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
        let local = local::launch(service, None, &std::env::temp_dir(), progress).await?;
        Ok(Ensemble { provider: Provider::Local(local), access: Access::default() })
    }

    /// As [`Ensemble::start`], with each node in a container of its own.
    ///
    /// Errors: besides those, [`EnsembleError::NoDocker`], [`EnsembleError::NoImage`] and [`EnsembleError::Docker`].
    pub async fn in_containers(
        settings: impl Into<LocalSettings>,
        docker: &DockerSettings,
        search: &Search,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Ensemble, EnsembleError> {
        let service = Service::in_containers(&settings.into())?;
        let docker = Docker::find(docker, &service, search)?;
        let local = local::launch(service, Some(docker), &std::env::temp_dir(), progress).await?;
        Ok(Ensemble { provider: Provider::Local(local), access: Access::default() })
    }

    /// Takes servers that somebody else runs. Looks at each of them, and changes nothing there.
    ///
    /// Errors: [`EnsembleError::Unusable`].
    pub async fn external(
        settings: &ExternalSettings,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Ensemble, EnsembleError> {
        let external = External::look(settings, progress).await?;
        Ok(Ensemble { provider: Provider::External(external), access: settings.access.clone() })
    }

    /// The same, under a ceiling on requests.
    pub fn under(self, throttle: Option<Arc<Throttle>>) -> Ensemble {
        Ensemble { access: Access { throttle, ..self.access }, ..self }
    }

    /// How its clients get at it.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether somebody else runs it, and others may be using it.
    pub fn is_external(&self) -> bool {
        matches!(self.provider, Provider::External(_))
    }

    /// Why there is no book of the servers; `None` where they tell their counters.
    pub fn no_book(&self) -> Option<&str> {
        match &self.provider {
            Provider::Local(_) => None,
            Provider::External(external) => external.no_book.as_deref(),
        }
    }

    /// Where clients connect: `host:port` of each node.
    pub fn endpoints(&self) -> Vec<String> {
        self.places().map(|node| self.provider.endpoint(node)).collect()
    }

    /// The endpoints as clients take them: with commas between.
    pub fn connect_string(&self) -> String {
        self.endpoints().join(",")
    }

    /// The processes of a local ensemble, in the order of their names; of others there are none to be seen.
    pub fn nodes(&self) -> &[Node] {
        match &self.provider {
            Provider::Local(local) => &local.nodes,
            Provider::External(_) => &[],
        }
    }

    /// The name of the node at this place, as in `zookeeper-1`.
    pub fn name_of(&self, node: usize) -> &str {
        self.provider.name_of(node)
    }

    /// The places of all nodes.
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        0..self.provider.count()
    }

    /// What this ensemble is, with the role that each node has now.
    ///
    /// Errors: [`EnsembleError::Lost`], [`EnsembleError::Down`], [`EnsembleError::NoAnswer`].
    pub async fn describe(&self) -> Result<Description, EnsembleError> {
        let reports = match &self.provider {
            // One of them may be forbidden to answer.
            Provider::External(_) => self.answers(ANSWER_LIMIT).await,
            Provider::Local(_) => self.reports().await?,
        };
        let nodes = self.places().zip(&reports).map(|(node, report)| NodeDescription {
            name: self.provider.name_of(node).into(),
            endpoint: self.provider.endpoint(node),
            role: report.role,
        });
        let (java, installation, settings) = match &self.provider {
            Provider::Local(local) => local.shown(),
            Provider::External(_) => (None, "external".into(), self.access_shown()),
        };
        Ok(Description {
            service: self.provider.service().into(),
            provider: self.provider.name().into(),
            version: reports.iter().find_map(|report| report.version.clone()).unwrap_or_else(|| "unknown".into()),
            java,
            installation,
            nodes: nodes.collect(),
            settings,
        })
    }

    /// What can be told of how external servers are used. Names and passwords are not.
    fn access_shown(&self) -> BTreeMap<String, String> {
        let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let mut shown = BTreeMap::from([
            ("TLS".to_owned(), yes_no(self.access.tls.is_some())),
            ("authentication".to_owned(), yes_no(self.access.login.is_some())),
        ]);
        if let Some(throttle) = &self.access.throttle {
            shown.insert("ceiling on requests".into(), format!("{:.0} a second", throttle.rate()));
        }
        shown
    }

    /// Why [`Counters::notifications`] is `None` where it is: which counter is missing.
    pub fn no_notifications(&self) -> &'static str {
        match &self.provider {
            Provider::Local(local) => local.service.no_notifications(),
            Provider::External(_) => "the servers have no counter of notifications",
        }
    }

    /// The counters of all nodes, added up; there are none while one is down. Asking ZooKeeper adds to the packets: one received and about two sent for each
    /// node.
    ///
    /// Errors: [`EnsembleError::Lost`], [`EnsembleError::Down`], [`EnsembleError::NoAnswer`], [`EnsembleError::NoBook`].
    pub async fn counters(&self) -> Result<Counters, EnsembleError> {
        if let Some(why) = self.no_book() {
            return Err(EnsembleError::NoBook { why: why.into() });
        }
        let (mut lives, mut reports) = (self.lives(), self.reports().await?);
        // A node that was started again meanwhile may have told of either life.
        while lives != self.lives() {
            (lives, reports) = (self.lives(), self.reports().await?);
        }
        // A node that is out tells nothing; counting that as nought would falsify every difference.
        if let Some((node, _)) = self.places().zip(&reports).find(|(_, report)| report.role == Role::Out) {
            return Err(EnsembleError::NoAnswer {
                node: self.provider.name_of(node).into(),
                word: self.provider.question().into(),
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
        let nodes = self.places().zip(&states).zip(&reports).map(|((node, state), report)| {
            let usage = self.provider.usage(node);
            // One that is dead holds nothing.
            let untold = (*state == NodeState::Killed).then_some(0);
            let told = |of: fn(&NodeReport) -> Option<u64>| report.as_ref().map_or(untold, of);
            NodeSample {
                name: self.provider.name_of(node).into(),
                state: *state,
                cpu_seconds: usage.map(|(usage, _)| usage.cpu_seconds),
                rss_bytes: usage.map(|(usage, alive)| if alive { usage.rss_bytes } else { 0 }),
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
        let of = |node: usize| {
            let usage = self.provider.usage(node).map(|(usage, _)| usage);
            NodeUsage {
                name: self.provider.name_of(node).into(),
                cpu_seconds: usage.map(|usage| usage.cpu_seconds),
                peak_rss_bytes: usage.map(|usage| usage.peak_rss_bytes),
            }
        };
        self.places().map(of).collect()
    }

    /// Whether all nodes run but those that are down on purpose; costs next to nothing. A node that runs and does not serve is
    /// not noticed here.
    ///
    /// Errors: [`EnsembleError::Lost`] with the first node that ended, how, and the end of its log.
    pub fn check_alive(&self) -> Result<(), EnsembleError> {
        self.provider.lost().map_or(Ok(()), Err)
    }

    /// Waits until the servers hold at most so many sessions and watches; those of a worker that was killed linger
    /// until the session times out. Gives up after `limit`, which should be above the session timeout.
    ///
    /// Errors: [`EnsembleError::Unsettled`] with what is left, and those of [`Ensemble::counters`].
    ///
    /// External servers: so many more than they held before we came, and the one session that holds our root.
    pub async fn settled(&self, sessions: u64, watches: u64, limit: Duration) -> Result<(), EnsembleError> {
        let (sessions, watches) = match &self.provider {
            Provider::Local(_) => (sessions, watches),
            Provider::External(external) => {
                let before = external.before.unwrap_or_default();
                (sessions + before.sessions + 1, watches + before.watches)
            }
        };
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

    /// Kills the servers, which hold nothing of worth, waits for that, and removes their folders. External ones are left alone.
    ///
    /// Errors: [`EnsembleError::Stop`] with what is left.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        match self.provider {
            Provider::Local(local) => local.stop().await,
            Provider::External(_) => Ok(()),
        }
    }

    /// What every node tells about itself.
    async fn reports(&self) -> Result<Vec<NodeReport>, EnsembleError> {
        self.check_alive()?;
        let mut states = self.places().zip(self.states());
        if let Some((node, state)) = states.find(|(_, state)| *state != NodeState::Up) {
            return Err(EnsembleError::Down { node: self.provider.name_of(node).into(), state });
        }
        let mut reports = Vec::new();
        for (node, answer) in self.places().zip(self.ask_all(ANSWER_LIMIT).await) {
            match answer {
                Ok(report) => reports.push(report),
                Err(error) => {
                    // That it is gone says more than that it did not answer.
                    self.check_alive()?;
                    let (node, word) = (self.provider.name_of(node).into(), self.provider.question().into());
                    return Err(EnsembleError::NoAnswer { node, word, reason: error.to_string() });
                }
            }
        }
        Ok(reports)
    }

    /// What every node tells about itself; of one that does not, nothing.
    pub(super) async fn answers(&self, limit: Duration) -> Vec<NodeReport> {
        self.ask_all(limit).await.into_iter().map(Result::unwrap_or_default).collect()
    }

    /// How often the nodes' servers were started, all together.
    fn lives(&self) -> u64 {
        self.provider.lives()
    }

    /// Asks all nodes at the same time; the answers come in their order. One that is down on purpose is not asked.
    pub(super) async fn ask_all(&self, limit: Duration) -> Vec<io::Result<NodeReport>> {
        let mut questions = JoinSet::new();
        for node in self.places().filter(|node| self.provider.state(*node) == NodeState::Up) {
            let asking = self.provider.ask(node, limit);
            questions.spawn(async move { (node, asking.await) });
        }
        // Stays where a question was not asked, or was cancelled, as it is when the runtime shuts down.
        let mut answers: Vec<io::Result<NodeReport>> =
            self.places().map(|_| Err(io::ErrorKind::Interrupted.into())).collect();
        while let Some(question) = questions.join_next().await {
            if let Ok((index, answer)) = question {
                answers[index] = answer;
            }
        }
        answers
    }
}
