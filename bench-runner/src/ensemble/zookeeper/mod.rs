//! ZooKeeper: how it is set up and started, and what its nodes tell about themselves.
//!
//! - `find`, `java`: the installation; [`settings`]: what may be wished for; `config`: the files and flags of a node.
//! - [`four_letter`]: asks a node one of its four-letter words.
//! - [`mntr`]: reads the answer to `mntr`.
pub(crate) mod config;
mod find;
pub mod four_letter;
mod java;
pub mod mntr;
pub mod settings;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use mntr::Mntr;
pub use settings::ZookeeperSettings;

use super::counters::{Kinds, Notifications};
use super::description::Role;
use super::error::EnsembleError;
use super::local::{NodeFolder, NodePorts};
use super::search::Search;
use super::service::NodeReport;
use config::NodeFiles;
use find::Installation;
use java::Java;

/// ZooKeeper as it was found, with the settings that it runs with.
#[derive(Debug, Clone)]
pub(crate) struct Zookeeper {
    pub settings: ZookeeperSettings,
    /// `None`: it runs in containers, out of an image.
    installed: Option<(Java, Installation)>,
}

impl Zookeeper {
    /// Finds ZooKeeper and Java. Errors: [`EnsembleError::NotInstalled`].
    pub async fn find(settings: ZookeeperSettings, search: &Search) -> Result<Zookeeper, EnsembleError> {
        let installation = search.zookeeper_and_java()?;
        Ok(Zookeeper { settings, installed: Some((java::probe(&installation.java).await?, installation)) })
    }

    /// One that runs in containers.
    pub fn in_containers(settings: ZookeeperSettings) -> Zookeeper {
        Zookeeper { settings, installed: None }
    }

    /// The version of the Java runtime, where that is known.
    pub fn java(&self) -> Option<String> {
        self.installed.as_ref().map(|(java, _)| java.version.clone())
    }

    /// One for followers and one for elections; a single node has neither.
    pub fn ports_between(&self) -> usize {
        if self.settings.nodes == 1 { 0 } else { 2 }
    }

    /// The first transaction log takes its preallocation, a herd's failed creates a few MiB a minute.
    pub fn mib_per_node(&self) -> u64 {
        16
    }

    pub fn write(&self, folder: &NodeFolder, id: u32, ports: &[NodePorts]) -> Result<(), (PathBuf, io::Error)> {
        NodeFiles::new(folder).write(&self.settings, id, ports)
    }

    /// Nothing where it runs in containers.
    pub fn command(&self, folder: &NodeFolder) -> Vec<OsString> {
        let Some((java, installation)) = &self.installed else { return Vec::new() };
        NodeFiles::new(folder).command(&self.settings, installation, &java.program)
    }

    pub fn keeps_out(&self, variable: &OsStr) -> bool {
        config::JVM_VARIABLES.iter().any(|kept_out| variable == OsStr::new(kept_out))
    }

    pub async fn ask(&self, node: SocketAddr, limit: Duration) -> io::Result<NodeReport> {
        Ok(report(&Mntr::parse(&four_letter::ask(node, "mntr", limit).await?)))
    }

    /// Whether there is a leader, everybody else follows, and the leader has all of them in.
    pub fn is_ready(&self, reports: &[NodeReport]) -> bool {
        is_ready(reports)
    }

    pub fn shown(&self) -> BTreeMap<String, String> {
        let mut shown: BTreeMap<String, String> =
            config::zoo_cfg(&self.settings).into_iter().map(|(key, value)| (key.into(), value)).collect();
        shown.insert("jvm_flags".into(), config::jvm_flags(&self.settings).join(" "));
        shown.insert("heap".into(), self.settings.heap.clone());
        shown
    }

    pub fn origin(&self) -> String {
        self.installed.as_ref().map(|(_, installation)| installation.origin.clone()).unwrap_or_default()
    }
}

/// What an answer to `mntr` says. A notification is counted by the server just after it fired a watch: one for each
/// session that watches the path (a session that watches one path for data and for children is counted for both, and told
/// once).
pub(crate) fn report(mntr: &Mntr) -> NodeReport {
    let kinds = Kinds {
        created: mntr.count("zk_sum_node_created_watch_count").unwrap_or(0),
        deleted: mntr.count("zk_sum_node_deleted_watch_count").unwrap_or(0),
        changed: mntr.count("zk_sum_node_changed_watch_count").unwrap_or(0),
        children: mntr.count("zk_sum_node_children_watch_count").unwrap_or(0),
    };
    // The counters of all kinds came with the same version, 3.6.
    let counts = mntr.count("zk_sum_node_deleted_watch_count").is_some();
    NodeReport {
        role: mntr.role(),
        version: mntr.version().map(String::from),
        notifications: counts.then(|| Notifications { total: kinds.total(), kinds: Some(kinds) }),
        received: mntr.count("zk_packets_received").unwrap_or(0),
        sent: mntr.count("zk_packets_sent").unwrap_or(0),
        watches: mntr.count("zk_watch_count"),
        sessions: mntr.count("zk_global_sessions"),
        connections: mntr.connections(),
        data_bytes: mntr.count("zk_approximate_data_size"),
        outstanding: mntr.count("zk_outstanding_requests"),
        leaders: None,
        applied: 0,
        synced_followers: mntr.count("zk_synced_followers"),
    }
}

/// What an answer to `srvr` says, which servers allow where they allow nothing else: a version and a role, and no counters.
pub(crate) fn report_of_srvr(answer: &str) -> NodeReport {
    let line = |name: &str| answer.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let version = line("Zookeeper version:").and_then(|text| text.split([',', ' ', '-']).next());
    NodeReport {
        role: line("Mode:").map_or(Role::Out, Role::from_state),
        version: version.filter(|version| !version.is_empty()).map(String::from),
        ..NodeReport::default()
    }
}

fn is_ready(reports: &[NodeReport]) -> bool {
    let count = |wanted: Role| reports.iter().filter(|report| report.role == wanted).count();
    if let [only] = reports {
        return only.role == Role::Standalone;
    }
    let synced = reports.iter().find_map(|report| report.synced_followers);
    let followers = reports.len() - 1;
    count(Role::Leader) == 1 && count(Role::Follower) == followers && synced == u64::try_from(followers).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(roles: &[&str], synced: Option<u32>) -> Vec<NodeReport> {
        let answer = |role: &&str| match (*role, synced) {
            ("leader", Some(synced)) => format!("zk_server_state\tleader\nzk_synced_followers\t{synced}\n"),
            (role, _) => format!("zk_server_state\t{role}\n"),
        };
        roles.iter().map(|role| report(&Mntr::parse(&answer(role)))).collect()
    }

    #[test]
    fn an_ensemble_is_ready_when_all_are_in() {
        assert!(is_ready(&answers(&["standalone"], None)));
        assert!(is_ready(&answers(&["follower", "leader", "follower"], Some(2))));
    }

    #[test]
    fn an_ensemble_is_not_ready_while_one_is_missing() {
        assert!(!is_ready(&answers(&["follower", "leader", "follower"], Some(1))));
        assert!(!is_ready(&answers(&["follower", "leader", "follower"], None)));
        assert!(!is_ready(&answers(&["follower", "leader", "leader"], Some(2))));
        assert!(!is_ready(&answers(&["follower", "leader", "?"], Some(2))));
        assert!(!is_ready(&answers(&["?"], None)));
        assert!(!is_ready(&answers(&["leader"], Some(0))));
    }

    #[test]
    fn srvr_tells_a_role_and_no_counters() {
        let answer = "Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29\nLatency min/avg/max: 0/0.0/0\nMode: follower\n";
        let report = report_of_srvr(answer);
        assert_eq!((report.role, report.version.as_deref(), report.watches), (Role::Follower, Some("3.8.0"), None));
        assert_eq!(report_of_srvr("srvr is not executed because it is not in the whitelist.\n"), NodeReport::default());
    }

    #[test]
    fn a_server_before_3_6_has_no_book() {
        assert_eq!(report(&Mntr::parse("zk_packets_sent\t4\n")).notifications, None);
        let counts = report(&Mntr::parse("zk_sum_node_deleted_watch_count\t7\nzk_watch_count\t2\n"));
        assert_eq!(counts.notifications.map(|notifications| notifications.total), Some(7));
    }
}
