//! etcd: how it is set up and started, and what its nodes tell about themselves.
//!
//! - `find`: the installation and its version; [`settings`]: what may be wished for; `flags`: a node's command line.
//! - [`http`]: asks a node for a page; [`metrics`]: reads the page `/metrics`.
//! - [`counters`]: what is made of it, and what its counters really count.
pub mod counters;
mod find;
pub(crate) mod flags;
pub mod http;
pub mod metrics;
pub mod settings;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub use metrics::Metrics;
pub use settings::EtcdSettings;

use super::description::Role;
use super::error::EnsembleError;
use super::local::NodePorts;
use super::search::Search;
use super::service::NodeReport;
use find::Installation;

/// etcd as it was found, with the settings that it runs with.
#[derive(Debug, Clone)]
pub(crate) struct Etcd {
    pub settings: EtcdSettings,
    /// `None`: it runs in containers, out of an image.
    installation: Option<Installation>,
}

impl Etcd {
    /// Finds etcd. Errors: [`EnsembleError::NotInstalled`]; [`EnsembleError::Settings`] for what this version cannot do.
    pub async fn find(settings: EtcdSettings, search: &Search) -> Result<Etcd, EnsembleError> {
        let installation = find::probe(search.etcd()?).await?;
        can_do(&settings, &installation)?;
        Ok(Etcd { settings, installation: Some(installation) })
    }

    /// One that runs in containers.
    pub fn in_containers(settings: EtcdSettings) -> Etcd {
        Etcd { settings, installation: None }
    }

    /// Sees whether the etcd that answers this to `etcd --version` can do what is wished. Errors: [`EnsembleError::Settings`].
    pub fn check_version(settings: &EtcdSettings, answer: &str) -> Result<(), EnsembleError> {
        let version = find::read(answer).unwrap_or_else(|| "of an unknown version".into());
        can_do(settings, &Installation { program: Default::default(), version })
    }

    /// One, for the peers; a single node listens there too.
    pub fn ports_between(&self) -> usize {
        1
    }

    /// The write-ahead log is taken in segments of 64 MB, the next one beforehand.
    pub fn mib_per_node(&self) -> u64 {
        144
    }

    /// Nothing where it runs in containers.
    pub fn command(&self, id: u32, ports: &[NodePorts]) -> Vec<OsString> {
        let command = |found: &Installation| flags::command(&found.program, &self.settings, id, ports);
        self.installation.as_ref().map(command).unwrap_or_default()
    }

    /// etcd takes every flag from a variable too.
    pub fn keeps_out(&self, variable: &OsStr) -> bool {
        variable.to_str().is_some_and(|name| name.starts_with("ETCD_"))
    }

    pub async fn ask(&self, node: SocketAddr, limit: Duration, again: bool) -> io::Result<NodeReport> {
        let mut report = counters::report(&Metrics::parse(&http::get(node, "/metrics", limit).await?));
        if again {
            report.sessions = Some(counters::leases(&http::post(node, "/v3/lease/leases", "{}", limit).await?)?);
        }
        Ok(report)
    }

    /// Whether one leads and all others follow it.
    pub fn is_ready(&self, reports: &[NodeReport]) -> bool {
        let count = |wanted: Role| reports.iter().filter(|report| report.role == wanted).count();
        count(Role::Leader) == 1 && count(Role::Follower) == reports.len() - 1
    }

    /// Whether every node says of itself that it is healthy: that a write through it would be decided.
    pub async fn are_healthy(&self, nodes: &[SocketAddr], limit: Duration) -> bool {
        for node in nodes {
            let Ok(health) = http::get(*node, "/health", limit).await else { return false };
            // `{"health":"true"}`, with a reason beside it since 3.5.
            if !health.replace(' ', "").contains("\"health\":\"true\"") {
                return false;
            }
        }
        true
    }

    pub fn shown(&self) -> BTreeMap<String, String> {
        let mut shown: BTreeMap<String, String> = flags::shared(&self.settings).into_iter().collect();
        shown.insert("fsync".into(), if self.settings.fsync { "yes" } else { "no (--unsafe-no-fsync)" }.into());
        shown
    }

    pub fn origin(&self) -> String {
        self.installation.as_ref().map(|found| found.program.display().to_string()).unwrap_or_default()
    }
}

fn can_do(settings: &EtcdSettings, installation: &Installation) -> Result<(), EnsembleError> {
    if settings.fsync || installation.can_leave_out_fsync() {
        return Ok(());
    }
    let what = format!(
        "fsync is false, and etcd {} always waits for the disk (`--unsafe-no-fsync` came with 3.5); leave fsync true, or set \
         ETCD_BIN (in containers `etcd_image`) to a newer etcd",
        installation.version
    );
    Err(EnsembleError::Settings { what })
}
