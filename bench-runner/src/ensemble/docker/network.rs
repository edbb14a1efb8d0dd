//! What the containers of one ensemble have in common: their network, their label, and that nothing of them stays.
use std::collections::BTreeSet;

use super::container::Container;
use super::{Docker, Engine, inside};
use crate::ensemble::error::EnsembleError;
use crate::ensemble::local::Owner;
use crate::ensemble::service::Service;

/// Whose a container or network is: `Owner::told`.
const OWNER: &str = "bench-runner.owner";
/// The ensemble that it is of.
const ENSEMBLE: &str = "bench-runner.ensemble";

/// Descriptors of a server, one for each session and some: an engine's default may be a thousand.
const DESCRIPTORS: u32 = 16_384;

/// The network of an ensemble. Dropped, it is removed with every container that is still on it; that blocks the thread for a
/// moment.
#[derive(Debug)]
pub(crate) struct Network {
    docker: Docker,
    /// The ensemble's name, which is that of its folder. Containers are called `<name>-zookeeper-1` and so on.
    name: String,
    labels: [String; 2],
    is_gone: bool,
}

impl Network {
    /// Makes a network of this name. It blocks the thread for some tenths of a second. Errors: [`EnsembleError::Docker`].
    pub fn create(docker: Docker, name: &str) -> Result<Network, EnsembleError> {
        let owner = Owner::this_process().map(|owner| owner.told()).unwrap_or_default();
        let labels = [format!("{OWNER}={owner}"), format!("{ENSEMBLE}={name}")];
        // First, so that it is removed also where the engine made it and could not say so.
        let network = Network { docker, name: name.to_owned(), labels, is_gone: false };
        let [owner, ensemble] = &network.labels;
        let made = network.docker.engine.run(["network", "create", "--label", owner, "--label", ensemble, name]);
        match made {
            Ok(_) => Ok(network),
            Err(reason) => Err(EnsembleError::Docker { deed: "make a network", reason }),
        }
    }

    pub fn docker(&self) -> &Docker {
        &self.docker
    }

    /// The container of node `id` (from 1), not made yet, whose clients connect to `port` of the loopback address.
    pub fn container(&self, service: &Service, id: u32, port: u16) -> Container {
        let host = format!("{}-{id}", service.name());
        let name = format!("{}-{host}", self.name);
        let (variables, inner) = inside(service, id, &self.name);
        let published = format!("127.0.0.1:{port}:{inner}");
        let descriptors = format!("nofile={DESCRIPTORS}:{DESCRIPTORS}");
        let [owner, ensemble] = &self.labels;
        let mut create: Vec<String> = [
            ("--name", name.as_str()),
            ("--hostname", &host),
            ("--network", &self.name),
            ("--network-alias", &host),
            ("--label", owner),
            ("--label", ensemble),
            ("--publish", &published),
            ("--ulimit", &descriptors),
            // Of its own, without a name: it goes with the container.
            ("--volume", "/data"),
        ]
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()])
        .collect();
        if let Some(memory) = &self.docker.memory {
            create.extend(["--memory".into(), memory.clone()]);
        }
        if let Some(cpus) = self.docker.cpus {
            create.extend(["--cpus".into(), cpus.to_string()]);
        }
        for (variable, value) in variables {
            create.extend(["--env".into(), format!("{variable}={value}")]);
        }
        create.push(self.docker.image.clone());
        Container::new(self.docker.engine.clone(), name, host, self.name.clone(), create)
    }

    /// Removes what is left of it. Errors: [`EnsembleError::Stop`].
    pub fn remove(mut self) -> Result<(), EnsembleError> {
        self.clear().map_err(|reason| EnsembleError::Stop {
            what: format!("the network {} and its containers cannot be removed: {reason}", self.name),
        })
    }

    fn clear(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.is_gone, true) {
            return Ok(());
        }
        let (engine, of_this) = (&self.docker.engine, format!("label={ENSEMBLE}={}", self.name));
        // Mostly there are none: the keepers have removed them.
        let containers = engine.run(["ps", "--all", "--quiet", "--filter", &of_this])?;
        remove_containers(engine, containers.split_whitespace())?;
        let networks = engine.run(["network", "ls", "--quiet", "--filter", &of_this])?;
        networks.split_whitespace().try_for_each(|network| engine.run(["network", "rm", network]).map(drop))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

fn remove_containers<'a>(engine: &Engine, containers: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut line = vec!["rm", "--force", "--volumes"];
    let flags = line.len();
    line.extend(containers);
    if line.len() == flags { Ok(()) } else { engine.run(line).map(drop) }
}

/// Removes what runners have left that no longer exist: when a runner and its keepers were killed at once. What other users'
/// and other machines' runners have on the same engine is left alone, and so is what was left before this machine was started.
pub(super) fn sweep(engine: &Engine) {
    let Some(this) = Owner::this_process() else { return };
    let labelled = format!("label={OWNER}");
    let format = format!("{{{{.ID}}}} {{{{.Label \"{OWNER}\"}}}}");
    let left = |listing: &[&str]| {
        let listed = engine.run(listing.iter().chain(&["--filter", &labelled, "--format", &format]));
        orphans(&listed.unwrap_or_default(), |owner| this.survives(owner))
    };
    let containers = left(&["ps", "--all", "--no-trunc"]);
    let _ = remove_containers(engine, containers.iter().map(String::as_str));
    for network in left(&["network", "ls", "--no-trunc"]) {
        let _ = engine.run(["network", "rm", &network]);
    }
}

/// The ids of those lines `<id> <owner>` whose owner is gone.
fn orphans(listing: &str, is_gone: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let pairs = listing.lines().filter_map(|line| line.trim().split_once(' '));
    pairs.filter(|(_, owner)| is_gone(owner)).map(|(id, _)| id.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::ZookeeperSettings;
    use crate::ensemble::zookeeper::Zookeeper;

    fn network(memory: Option<&str>, cpus: Option<f64>) -> Network {
        let docker = Docker {
            engine: Engine::at("/bin/false"),
            image: "bench-runner/zookeeper".into(),
            image_id: "0123456789ab".into(),
            memory: memory.map(String::from),
            cpus,
        };
        let labels = ["bench-runner.owner=1".into(), "bench-runner.ensemble=bench-runner-1-2-3-4".into()];
        Network { docker, name: "bench-runner-1-2-3-4".into(), labels, is_gone: true }
    }

    fn created(network: &Network) -> Vec<String> {
        let service = Service::Zookeeper(Zookeeper::in_containers(ZookeeperSettings::default()));
        let commands = network.container(&service, 2, 20_181).commands();
        commands.first.unwrap().into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_container_is_made_with_a_name_a_label_and_a_port_on_loopback_alone() {
        let line = created(&network(None, None)).join(" ");
        let begin = "/bin/false create --name bench-runner-1-2-3-4-zookeeper-2 --hostname zookeeper-2 \
                     --network bench-runner-1-2-3-4 --network-alias zookeeper-2 --label bench-runner.owner=1 \
                     --label bench-runner.ensemble=bench-runner-1-2-3-4 --publish 127.0.0.1:20181:2181 \
                     --ulimit nofile=16384:16384 --volume /data --env ZOO_MY_ID=2 ";
        assert!(line.starts_with(begin), "{line}");
        assert!(line.ends_with(" bench-runner/zookeeper"), "{line}");
        assert_eq!(line.matches("--publish").count(), 1);
    }

    #[test]
    fn limits_are_handed_on() {
        let line = created(&network(Some("768m"), Some(1.5))).join(" ");
        assert!(line.contains(" --memory 768m --cpus 1.5 "), "{line}");
    }

    #[test]
    fn it_is_started_attached_and_goes_with_its_volumes_and_the_network() {
        let service = Service::Zookeeper(Zookeeper::in_containers(ZookeeperSettings::default()));
        let commands = network(None, None).container(&service, 1, 20_181).commands();
        let text = |line: &[std::ffi::OsString]| line.join(std::ffi::OsStr::new(" ")).into_string().unwrap();
        let name = "bench-runner-1-2-3-4-zookeeper-1";
        assert_eq!(text(&commands.server), format!("/bin/false start --attach {name}"));
        let last: Vec<String> = commands.last.iter().map(|line| text(line)).collect();
        let removed =
            [format!("/bin/false rm --force --volumes {name}"), "/bin/false network rm bench-runner-1-2-3-4".into()];
        assert_eq!(last, removed);
    }

    #[test]
    fn only_those_are_swept_whose_owner_is_gone() {
        let listing = "aaa gone\nbbb alive\nccc \nddd gone\n\n";
        let swept = orphans(listing, |owner| owner == "gone");
        assert_eq!(swept, BTreeSet::from(["aaa".into(), "ddd".into()]));
    }
}
