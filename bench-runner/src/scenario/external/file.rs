//! What a scenario file may say about external servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use super::{
    AuthSettings, COMMAND_TIMEOUT, CommandSettings, ExternalSettings, PasswordFrom, ServerSettings, TlsSettings,
};
use crate::scenario::duration::Span;
use crate::scenario::ensemble::EnsembleFile;

/// How connections to external servers are encrypted. All files are PEM, and relative to the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tls")]
pub struct TlsFile {
    /// The certificates of the authorities that the servers' certificates are from.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub ca: String,
    /// Our own certificate, for servers that ask for one; needs `key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub certificate: Option<String>,
    /// The private key of `certificate`, not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub key: Option<String>,
}

/// As whom external servers are used. ZooKeeper: an identity of the scheme `digest`, to which everything belongs that a run creates. etcd: a user. The password stands in no scenario: exactly one of `password_env` and `password_file` says where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Auth")]
pub struct AuthFile {
    /// The user's name.
    #[serde(default)]
    #[schemars(required, length(min = 1))]
    pub user: String,
    /// The environment variable that holds the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub password_env: Option<String>,
    /// The file whose first line is the password, relative to the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub password_file: Option<String>,
}

/// Commands by which faults break external nodes and mend them, run by `sh -c` on this machine, with `--allow-commands` alone. `{index}` (from 1), `{endpoint}`, `{host}`, `{port}` and `{service}` are replaced by the node's; the environment has the same as `BENCH_RUNNER_NODE_INDEX` and so on. An exit code other than 0 is a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Commands")]
pub struct CommandsFile {
    /// Ends the node's server, for `kill-node` and `restart-node`: `"ssh {host} sudo systemctl kill -s KILL zookeeper"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub kill: Option<String>,
    /// Starts it again: `"ssh {host} sudo systemctl start zookeeper"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub start: Option<String>,
    /// Stops it for a while, for `pause-node`: `"ssh {host} sudo systemctl kill -s STOP zookeeper"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub pause: Option<String>,
    /// Lets it go on: `"ssh {host} sudo systemctl kill -s CONT zookeeper"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub resume: Option<String>,
    /// How long each may take, up to 10 minutes, before it is ended and counts as failed. Default 30s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span", extend("default" = "30s"))]
    pub timeout: Option<Span>,
}

/// What a service's table says about external servers, by whichever service.
#[derive(Clone, Copy, Debug)]
pub struct ServersFile<'a> {
    /// `endpoints`.
    pub endpoints: &'a [String],
    /// `metrics`.
    pub metrics: &'a [String],
    /// `metrics_tls`.
    pub metrics_tls: Option<bool>,
    /// `tls`.
    pub tls: Option<&'a TlsFile>,
    /// `auth`.
    pub auth: Option<&'a AuthFile>,
}

impl ServersFile<'_> {
    fn resolve(&self) -> ServerSettings {
        ServerSettings {
            endpoints: self.endpoints.to_vec(),
            metrics: self.metrics.to_vec(),
            metrics_tls: self.metrics_tls.unwrap_or(self.tls.is_some()),
            tls: self.tls.map(|tls| TlsSettings {
                ca: PathBuf::from(&tls.ca),
                identity: tls.certificate.as_ref().zip(tls.key.as_ref()).map(|(own, key)| (own.into(), key.into())),
            }),
            auth: self.auth.and_then(|auth| {
                let password = match (&auth.password_env, &auth.password_file) {
                    (Some(name), _) => PasswordFrom::Env(name.clone()),
                    (None, Some(path)) => PasswordFrom::File(path.into()),
                    (None, None) => return None,
                };
                Some(AuthSettings { user: auth.user.clone(), password })
            }),
        }
    }
}

/// The settings of external servers.
pub fn resolve(ensemble: &EnsembleFile) -> ExternalSettings {
    let commands = &ensemble.commands;
    ExternalSettings {
        zookeeper: ensemble.zookeeper.servers().resolve(),
        etcd: ensemble.etcd.servers().resolve(),
        commands: CommandSettings {
            kill: commands.kill.clone(),
            start: commands.start.clone(),
            pause: commands.pause.clone(),
            resume: commands.resume.clone(),
            timeout: commands.timeout.map_or(COMMAND_TIMEOUT, |timeout| timeout.0),
        },
        is_allowed: false,
        commands_allowed: false,
    }
}
