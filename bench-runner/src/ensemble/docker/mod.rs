//! The provider `docker`: the nodes of a `local` ensemble, each in a container of its own.
//!
//! Folders, logs, keepers and lives are those of [`local`](super::local). What the keeper starts is `docker start --attach`, so
//! that what the server prints is the node's log and its end is noticed; the container is made before the first start and removed
//! by the keeper at its end, with its volumes, and the network by whichever keeper is last.
//!
//! - `engine`: the command `docker`, which is called and no library: it honours contexts, `DOCKER_HOST` and rootless engines.
//! - `network`: what the containers of one ensemble have in common, and that nothing of it stays.
//! - `container`: one node's, and how it is broken and mended.
//! - `zookeeper`, `etcd`: what each service's image is told. The variables are those of the official images.
mod container;
mod engine;
mod etcd;
#[cfg(test)]
mod fake;
mod network;
mod zookeeper;

pub(crate) use container::{Container, Seen};
pub(crate) use engine::Engine;
pub(crate) use network::Network;

use super::error::EnsembleError;
use super::etcd::Etcd;
use super::search::Search;
use super::service::Service;

/// Out of what containers are made, and what each may use.
#[derive(Debug, Clone, PartialEq)]
pub struct DockerSettings {
    /// The image of a ZooKeeper server: this project's, or one with the variables of the official one.
    pub zookeeper_image: String,
    /// The image of an etcd server: this project's, the official one, or any other that starts etcd.
    pub etcd_image: String,
    /// The most memory of each container, as `docker create --memory` takes it: `1g`. `None`: no limit.
    pub memory: Option<String>,
    /// The most processors' worth of time of each container, above zero. `None`: no limit.
    pub cpus: Option<f64>,
}

impl Default for DockerSettings {
    fn default() -> DockerSettings {
        DockerSettings {
            zookeeper_image: "bench-runner/zookeeper".into(),
            etcd_image: "bench-runner/etcd".into(),
            memory: None,
            cpus: None,
        }
    }
}

/// An engine that answers, and an image on it.
#[derive(Debug, Clone)]
pub(crate) struct Docker {
    pub engine: Engine,
    /// The image's name, as the settings have it.
    pub image: String,
    /// What it is, whatever the name comes to mean later: the beginning of its digest.
    pub image_id: String,
    pub memory: Option<String>,
    pub cpus: Option<f64>,
}

impl Docker {
    /// Sees that there is an engine with the service's image, and removes what runners have left there that are gone.
    ///
    /// Errors: [`EnsembleError::NoDocker`], [`EnsembleError::NoImage`]; [`EnsembleError::Settings`] for what the image cannot do.
    pub fn find(settings: &DockerSettings, service: &Service, search: &Search) -> Result<Docker, EnsembleError> {
        let engine = Engine::find(search)?;
        let image = match service {
            Service::Zookeeper(_) => &settings.zookeeper_image,
            Service::Etcd(_) => &settings.etcd_image,
        };
        let image_id = engine.image(image)?;
        if let Service::Etcd(it) = service
            && !it.settings.fsync
        {
            let version = engine.run(["run", "--rm", image, "etcd", "--version"]);
            let version =
                version.map_err(|reason| EnsembleError::Docker { deed: "ask the image for its version", reason })?;
            Etcd::check_version(&it.settings, &version)?;
        }
        network::sweep(&engine);
        Ok(Docker { engine, image: image.clone(), image_id, memory: settings.memory.clone(), cpus: settings.cpus })
    }

    /// Where the servers come from, for the record.
    pub fn origin(&self) -> String {
        format!("image {} ({})", self.image, self.image_id)
    }
}

/// The variables of node `id` (from 1) and the port on which it waits for clients, inside its container.
fn inside(service: &Service, id: u32, ensemble: &str) -> (Vec<(String, String)>, u16) {
    match service {
        Service::Zookeeper(it) => (zookeeper::variables(&it.settings, id), zookeeper::PORT),
        Service::Etcd(it) => (etcd::variables(&it.settings, id, ensemble), etcd::PORT),
    }
}
