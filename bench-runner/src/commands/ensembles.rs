//! The ensembles of a run: one for each service that its arms load. While an arm runs on one, the other rests.

use workloads::settings::Service;

use crate::ensemble::{
    Description, Ensemble, EnsembleError, EtcdSettings, LocalSettings, NodeUsage, Search, ZookeeperSettings,
};
use crate::scenario::Scenario;

/// Servers that run.
pub(super) struct Ensembles {
    running: Vec<(Service, Ensemble)>,
    /// What each of them is, as it was when it had started.
    pub descriptions: Vec<Description>,
}

impl Ensembles {
    /// Starts what the scenario's arms need, one service after the other. Cancelled, it leaves nothing behind.
    ///
    /// Errors: those of [`Ensemble::start_from`] and [`Ensemble::describe`].
    pub async fn start(scenario: &Scenario, progress: &(dyn Fn(&str) + Sync)) -> Result<Ensembles, EnsembleError> {
        let mut ensembles = Ensembles { running: Vec::new(), descriptions: Vec::new() };
        for service in scenario.services() {
            let ensemble = Ensemble::start_from(settings(scenario, service), &search(scenario), progress).await?;
            ensembles.descriptions.push(ensemble.describe().await?);
            ensembles.running.push((service, ensemble));
        }
        Ok(ensembles)
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

    /// Stops all of them.
    ///
    /// Errors: [`EnsembleError::Stop`] of the last that left something behind.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        let mut outcome = Ok(());
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
