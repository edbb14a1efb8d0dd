//! What external servers can be asked, and how they answer where they are not allowed to.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use workloads::access::tls::Use;
use workloads::access::{ConnectError, Stream, Tls, certificate};
use workloads::settings::Service;

use super::ExternalSettings;
use crate::ensemble::description::Role;
use crate::ensemble::etcd::{self, Metrics, http};
use crate::ensemble::service::NodeReport;
use crate::ensemble::zookeeper::{self, Mntr, four_letter};

/// How an alert of TLS begins: its kind, and the version.
const ALERT: &str = "\u{15}\u{3}";

/// How to ask.
#[derive(Debug, Clone)]
pub(crate) struct Questions {
    service: Service,
    /// On the clients' port.
    tls: Option<Arc<Tls>>,
    /// On the port for questions.
    metrics_tls: Option<Arc<Tls>>,
}

impl Questions {
    pub fn new(settings: &ExternalSettings) -> Questions {
        let tls = settings.access.tls.clone();
        let metrics_tls = tls.clone().filter(|_| settings.metrics_tls);
        Questions { service: settings.service, tls, metrics_tls }
    }

    pub fn service_name(&self) -> &'static str {
        match self.service {
            Service::Zookeeper => "zookeeper",
            Service::Etcd => "etcd",
        }
    }

    pub fn title(&self) -> &'static str {
        match self.service {
            Service::Zookeeper => "ZooKeeper",
            Service::Etcd => "etcd",
        }
    }

    pub fn question(&self) -> &'static str {
        match self.service {
            Service::Zookeeper => "mntr",
            Service::Etcd => "GET /metrics",
        }
    }

    /// Sees whether what listens on the clients' port is what it should be. Any answer does, for most questions may be
    /// forbidden. Errors: what is wrong, and with what.
    pub async fn greet(&self, endpoint: &str, limit: Duration) -> Result<(), String> {
        let tls = self.tls.as_deref();
        let connected = Stream::connect(endpoint, tls, self.kind(), limit).await;
        let stream = connected.map_err(|error: ConnectError| error.to_string())?;
        let asked = match self.service {
            Service::Zookeeper => four_letter::ask_on(stream, "srvr", limit).await,
            Service::Etcd => http::ask_on(stream, &http::get_request(endpoint, "/version"), limit).await,
        };
        match asked {
            Ok(answer) if tls.is_none() && answer.contains("HTTP request to an HTTPS server") => {
                Err(format!("{endpoint} speaks TLS; write `ca` under [ensemble.{}.tls]", self.service_name()))
            }
            // Nothing, or the alert of a server that has read what is no TLS.
            Ok(answer) if tls.is_none() && (answer.is_empty() || answer.starts_with(ALERT)) => Err(format!(
                "{endpoint} closed the connection without an answer; is it a port for TLS? then write `ca` under \
                 [ensemble.{}.tls]",
                self.service_name()
            )),
            Ok(answer) if answer.is_empty() => Err(format!("{endpoint} closed the connection without an answer")),
            Ok(_) => Ok(()),
            Err(error) if tls.is_some() => {
                Err(format!("no TLS with {endpoint}: {}", certificate::explain(&error, None)))
            }
            Err(error) => Err(format!("{endpoint} does not answer: {error}; is it a port for TLS?")),
        }
    }

    /// What a node tells about itself. Where its counters are not to be had, its role may still be.
    pub async fn ask(&self, at: &str, limit: Duration) -> io::Result<NodeReport> {
        match self.service {
            Service::Zookeeper => {
                let answer = self.word(at, "mntr", limit).await?;
                if !four_letter::is_forbidden(&answer) {
                    return Ok(zookeeper::report(&Mntr::parse(&answer)));
                }
                Ok(zookeeper::report_of_srvr(&self.word(at, "srvr", limit).await?))
            }
            Service::Etcd => Ok(etcd::counters::report(&Metrics::parse(&self.page(at, "/metrics", limit).await?))),
        }
    }

    /// A node's counters. Errors: why they are not to be had.
    pub async fn counters(&self, at: &str, limit: Duration) -> Result<NodeReport, String> {
        let not_allowed = match self.service {
            Service::Zookeeper => format!("mntr is not allowed at {at}: add it to `4lw.commands.whitelist` there"),
            Service::Etcd => {
                format!("{at} does not show /metrics: write `metrics` under [ensemble.etcd] where another port does")
            }
        };
        match self.ask(at, limit).await {
            Ok(report) if report.role == Role::Out && report.version.is_none() => Err(not_allowed),
            Ok(report) if report.watches.is_none() => Err(not_allowed),
            Ok(report) => Ok(report),
            Err(error) => Err(format!("{at} does not answer `{}`: {error}", self.question())),
        }
    }

    async fn word(&self, at: &str, word: &str, limit: Duration) -> io::Result<String> {
        let stream = Stream::connect(at, self.metrics_tls.as_deref(), Use::Other, limit).await?;
        four_letter::ask_on(stream, word, limit).await
    }

    async fn page(&self, at: &str, path: &str, limit: Duration) -> io::Result<String> {
        let stream = Stream::connect(at, self.metrics_tls.as_deref(), Use::Http1, limit).await?;
        http::ask_on(stream, &http::get_request(at, path), limit).await
    }

    fn kind(&self) -> Use {
        match self.service {
            Service::Zookeeper => Use::Other,
            Service::Etcd => Use::Http1,
        }
    }
}
