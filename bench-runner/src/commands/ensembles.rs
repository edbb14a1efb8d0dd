//! The ensembles of a run: one for each service that its arms load. While an arm runs on one, the other rests.

use workloads::claim::Claim;
use workloads::fleet::Target;
use workloads::settings::Service;

use super::{Failure, clean, external};
use crate::ensemble::{
    Description, DockerSettings, Ensemble, EnsembleError, EtcdSettings, LocalSettings, NodeUsage, Search,
    ZookeeperSettings,
};
use crate::results::warnings::Warning;
use crate::scenario::Scenario;

/// Servers that run.
pub(super) struct Ensembles {
    running: Vec<(Service, Ensemble)>,
    /// What each of them is, as it was when it had started.
    pub descriptions: Vec<Description>,
    /// The run's own roots on external servers.
    claims: Vec<Claim>,
}

impl Ensembles {
    /// Starts what the scenario's arms need, one service after the other, or looks at external servers. Cancelled, it leaves
    /// nothing behind.
    ///
    /// Errors: those of [`Ensemble::start_from`] and [`Ensemble::describe`], and [`Failure::Usage`] for certificates and passwords
    /// that cannot be read.
    pub async fn start(scenario: &Scenario, progress: &(dyn Fn(&str) + Sync)) -> Result<Ensembles, Failure> {
        let mut ensembles = Ensembles { running: Vec::new(), descriptions: Vec::new(), claims: Vec::new() };
        for service in scenario.services() {
            let ensemble = match external::settings(scenario, service)? {
                Some(settings) => Ensemble::external(&settings, progress).await?,
                None => {
                    let (settings, search) = (settings(scenario, service), search(scenario));
                    let ensemble = match docker(scenario) {
                        Some(docker) => Ensemble::in_containers(settings, &docker, &search, progress).await?,
                        None => Ensemble::start_from(settings, &search, progress).await?,
                    };
                    ensemble.under(external::throttle(scenario, service))
                }
            };
            ensembles.descriptions.push(ensemble.describe().await?);
            ensembles.running.push((service, ensemble));
        }
        Ok(ensembles)
    }

    /// Takes the run's root on external servers; what is worth knowing of the sessions that they grant. Not to be cancelled:
    /// what it has begun would stay there.
    ///
    /// Errors: [`EnsembleError::Claim`]; what was taken before is given back by [`Ensembles::stop`].
    pub async fn claim(
        &mut self,
        scenario: &Scenario,
        root: &str,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Warning>, EnsembleError> {
        let mut noticed = Vec::new();
        for (service, ensemble) in self.running.iter().filter(|(_, ensemble)| ensemble.is_external()) {
            let arms = scenario.arms.iter().filter(|arm| arm.service == *service);
            let asked = arms.map(|arm| arm.workers.session_timeout).max().unwrap_or_default();
            let target = Target {
                service: *service,
                endpoints: ensemble.connect_string(),
                root: root.to_owned(),
                access: ensemble.access().clone(),
            };
            let claim = clean::take(&target, asked, progress).await?;
            let granted = claim.session_timeout();
            if granted != asked {
                let (asked, granted) = (asked.as_secs_f64(), granted.as_secs_f64());
                noticed.push(Warning::SessionTimeout { service: *service, asked, granted });
            }
            self.claims.push(claim);
        }
        Ok(noticed)
    }

    /// The servers of a service that an arm loads.
    pub fn of(&self, service: Service) -> &Ensemble {
        let found = self.running.iter().find(|(running, _)| *running == service);
        // `start` has started one for the service of every arm.
        &found.expect("the servers of every arm's service run").1
    }

    /// CPU and memory of all nodes since their start.
    pub fn usage(&self) -> Vec<NodeUsage> {
        self.running.iter().flat_map(|(_, ensemble)| ensemble.usage()).collect()
    }

    /// What [`Ensembles::stop`] is about to do, for whoever watches.
    pub fn last_words(&self) -> &'static str {
        match self.claims.is_empty() {
            true => "stopping the servers",
            false => "removing what the run has made on the servers",
        }
    }

    /// Stops all of them, and removes from external servers what the run has created there.
    ///
    /// Errors: [`EnsembleError::Stop`] or [`EnsembleError::Left`] of one that left something behind.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        let mut outcome = Ok(());
        for claim in self.claims {
            let released = claim.release().await;
            outcome = released.map_err(|error| EnsembleError::Left { told: error.to_string() }).and(outcome);
        }
        for (_, ensemble) in self.running {
            outcome = ensemble.stop().await.and(outcome);
        }
        outcome
    }
}

/// Where the servers are looked for: what the scenario names comes before what the environment does.
fn search(scenario: &Scenario) -> Search {
    let environment = Search::from_env();
    Search {
        zookeeper_home: scenario.ensemble.zookeeper.home.clone().or(environment.zookeeper_home),
        etcd_bin: scenario.ensemble.etcd.program.clone().or(environment.etcd_bin),
        ..environment
    }
}

/// What containers are made of and may use, if there are to be any.
fn docker(scenario: &Scenario) -> Option<DockerSettings> {
    scenario.ensemble.docker.as_ref().map(|docker| DockerSettings {
        zookeeper_image: docker.zookeeper_image.clone(),
        etcd_image: docker.etcd_image.clone(),
        memory: docker.memory.clone(),
        cpus: docker.cpus,
    })
}

fn settings(scenario: &Scenario, service: Service) -> LocalSettings {
    let settings = &scenario.ensemble;
    let nodes = settings.nodes;
    match service {
        Service::Zookeeper => LocalSettings::Zookeeper(ZookeeperSettings {
            nodes,
            tick: settings.zookeeper.tick,
            heap: settings.zookeeper.heap.clone(),
            fsync: settings.zookeeper.fsync,
            base_port: settings.zookeeper.base_port,
            jvm_flags: settings.zookeeper.jvm_flags.clone(),
        }),
        Service::Etcd => LocalSettings::Etcd(EtcdSettings {
            nodes,
            heartbeat_interval: settings.etcd.heartbeat_interval,
            election_timeout: settings.etcd.election_timeout,
            quota_bytes: u64::from(settings.etcd.quota_mib) << 20,
            snapshot_count: u64::from(settings.etcd.snapshot_count),
            fsync: settings.etcd.fsync,
            base_port: settings.etcd.base_port,
        }),
    }
}
