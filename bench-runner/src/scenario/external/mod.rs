//! Servers that are not bench-runner's own: where they are, how one gets at them, and how hard they may be pushed.

pub mod file;

use std::path::PathBuf;
use std::time::Duration;

use workloads::settings::Service;

/// The most workers of an arm on external servers, unless the scenario says otherwise.
pub const MAX_WORKERS: u32 = 1_000;
/// The most requests a second on external servers, unless the scenario says otherwise.
pub const MAX_RATE: f64 = 5_000.0;
/// How long a command of the user's may take, unless the scenario says otherwise.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// The external servers of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalSettings {
    /// Those of ZooKeeper; no endpoints where no arm is on it.
    pub zookeeper: ServerSettings,
    /// Those of etcd.
    pub etcd: ServerSettings,
    /// How a node is broken and mended.
    pub commands: CommandSettings,
    /// Whether the command line allows to use them. No scenario can.
    pub is_allowed: bool,
    /// Whether the command line allows to run the commands.
    pub commands_allowed: bool,
}

impl ExternalSettings {
    /// Those of a service.
    pub fn of(&self, service: Service) -> &ServerSettings {
        match service {
            Service::Zookeeper => &self.zookeeper,
            Service::Etcd => &self.etcd,
        }
    }
}

/// The external servers of one service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSettings {
    /// `host:port` of each for clients.
    pub endpoints: Vec<String>,
    /// `host:port` of each for questions (`mntr`, `/metrics`), in the order of `endpoints`; empty: the same.
    pub metrics: Vec<String>,
    /// Whether questions are asked over TLS.
    pub metrics_tls: bool,
    /// `None`: connections are not encrypted.
    pub tls: Option<TlsSettings>,
    /// `None`: nobody in particular.
    pub auth: Option<AuthSettings>,
}

/// Where certificates are: PEM files, relative to the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// The authorities that we trust.
    pub ca: PathBuf,
    /// Our own certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// As whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSettings {
    /// The user.
    pub user: String,
    /// Where the password is.
    pub password: PasswordFrom,
}

/// Where a password is, which stands in no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordFrom {
    /// In the environment variable of this name.
    Env(String),
    /// In the first line of this file.
    File(PathBuf),
}

/// Commands of the user's by which a node is broken and mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSettings {
    /// Ends a node's server.
    pub kill: Option<String>,
    /// Starts it again.
    pub start: Option<String>,
    /// Stops it for a while.
    pub pause: Option<String>,
    /// Lets it go on.
    pub resume: Option<String>,
    /// How long each may take.
    pub timeout: Duration,
}
