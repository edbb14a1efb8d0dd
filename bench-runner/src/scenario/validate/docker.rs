//! Containers, and what takes them.

use super::super::docker::DockerFile;
use super::super::fault::file::KindName;
use super::super::file::ScenarioFile;
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::super::settings::Provider;

/// The most processors of a container: more than any machine has.
const MOST_CPUS: f64 = 4_096.0;

/// Judges `[ensemble.docker]`, and what there is only with containers, or only without.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    let (ensemble, path) = (&file.ensemble, KeyPath::from("ensemble"));
    limits(&ensemble.docker, &path.key("docker"), problems);
    if ensemble.provider != Provider::Docker {
        if ensemble.docker != DockerFile::default() {
            let at = path.key("docker");
            let problem = Problem::value(&at, "`docker` is for servers in containers, and these are not")
                .remedy("set `provider = \"docker\"` under [ensemble], or take it out");
            problems.add(&[&at, &path.key("provider")], problem);
        }
        return networks(file, &path.key("provider"), problems);
    }
    let installed = [
        (path.key("zookeeper").key("home"), ensemble.zookeeper.home.is_some(), "zookeeper_image"),
        (path.key("etcd").key("program"), ensemble.etcd.program.is_some(), "etcd_image"),
    ];
    for (at, _, instead) in installed.into_iter().filter(|(_, given, _)| *given) {
        let message = format!("`{}` is on this machine, and the servers are in containers", at.last_key());
        let problem = Problem::value(&at, message)
            .remedy(format!("write `{instead}` under [ensemble.docker], or set `provider = \"local\"`"));
        problems.add(&[&at, &path.key("provider")], problem);
    }
}

fn limits(docker: &DockerFile, path: &KeyPath, problems: &mut Problems) {
    for (key, image) in [("zookeeper_image", &docker.zookeeper_image), ("etcd_image", &docker.etcd_image)] {
        // What begins with a dash would be taken for a flag.
        if image.trim().is_empty() || image.starts_with('-') || image.contains(char::is_whitespace) {
            let at = path.key(key);
            let problem = Problem::value(&at, format!("`{image}` is no name of an image"));
            problems.spoil(&at, problem.remedy("write for example \"zookeeper:3.9\", or leave the key out"));
        }
    }
    if let Some(memory) = &docker.memory {
        let number = memory.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or_default();
        if number.starts_with('0') || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            let at = path.key("memory");
            let problem = Problem::value(&at, format!("`{memory}` is no size of memory"));
            problems.spoil(&at, problem.remedy("write a number with k, m or g, for example \"1g\""));
        }
    }
    if let Some(cpus) = docker.cpus
        && !(cpus > 0.0 && cpus <= MOST_CPUS)
    {
        let at = path.key("cpus");
        let problem = Problem::value(&at, format!("a container has more than 0 processors, not {cpus}"));
        problems.spoil(&at, problem.remedy("write for example 1.5, or leave the key out"));
    }
}

/// Only a container has a network of its own.
fn networks(file: &ScenarioFile, provider_at: &KeyPath, problems: &mut Problems) {
    for (index, fault) in file.fault.iter().enumerate() {
        if fault.kind == Some(KindName::DisconnectNode) {
            let at = KeyPath::from("fault").index(index).key("kind");
            let problem = Problem::value(&at, "`disconnect-node` takes a node off its network, and these have none of their own")
                .remedy("set `provider = \"docker\"` under [ensemble], or write `pause-node`: nobody hears of a paused node either")
                .related(provider_at, "the provider");
            problems.add(&[&at, provider_at], problem);
        }
    }
}
