//! What can go wrong with an ensemble, each with what to do next.
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::description::NodeState;

/// Why an ensemble could not be started, was lost, or did not answer.
///
/// All of them but [`EnsembleError::Settings`], which is an error in the scenario, mean that there is no ensemble to
/// measure.
#[derive(Debug, Error)]
pub enum EnsembleError {
    /// ZooKeeper or Java is not there, or not where a variable says.
    #[error(
        "{missing}\nrun scripts/setup, or install Debian's packages `zookeeper` and `default-jre-headless`, or set \
         ZOOKEEPER_HOME to an unpacked Apache ZooKeeper release and JAVA_HOME to a JRE of Java 11 or newer"
    )]
    NotInstalled {
        /// What was looked for, and where.
        missing: String,
    },

    /// etcd is not there, or not where a variable says.
    #[error(
        "{missing}\nrun scripts/setup, or install Debian's package `etcd-server`, or set ETCD_BIN to the program `etcd` of a \
         release of 3.4 or newer"
    )]
    NoEtcd {
        /// What was looked for, and where.
        missing: String,
    },

    /// There is no Docker, or its engine does not answer.
    #[error(
        "Docker's engine cannot be used: {reason}\ninstall Docker (Debian's package `docker.io`), start its engine (`systemctl \
         start docker`), see that this user may use it (group `docker`) and that DOCKER_HOST names the right one; or set \
         `provider = \"local\"` under [ensemble]"
    )]
    NoDocker {
        /// What was looked for, or what the engine said.
        reason: String,
    },

    /// The engine has no such image.
    #[error(
        "Docker's engine has no image `{image}`; `make docker-images` builds this project's, `docker pull {image}` gets one of \
         somebody else's, and `[ensemble.docker]` in the scenario says which are used"
    )]
    NoImage {
        /// The image's name.
        image: String,
    },

    /// The engine refused something.
    #[error("Docker's engine could not {deed}: {reason}")]
    Docker {
        /// What it should have done.
        deed: &'static str,
        /// What it said.
        reason: String,
    },

    /// The settings cannot be met, whatever the machine, or not by the version that is installed.
    #[error("the ensemble cannot be set up so: {what}")]
    Settings {
        /// Which setting, and which values are possible.
        what: String,
    },

    /// A port that the settings ask for is in use.
    #[error(
        "port {port} of 127.0.0.1 is taken by {holder}; end that process, or choose another base port, or none, so \
         that free ports are picked"
    )]
    PortTaken {
        /// The port.
        port: u16,
        /// The process that listens there, as far as it can be known.
        holder: String,
    },

    /// The ensemble's folder could not be made or written.
    #[error(
        "cannot write {}: {source}; the folder has to be writable and to have room for {needed_mib} MiB: free some, or \
         set TMPDIR to another folder", path.display()
    )]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// Room that the ensemble should find there, in MiB.
        needed_mib: u64,
        /// What the system said.
        source: std::io::Error,
    },

    /// No free port could be found on the loopback address.
    #[error("no free ports on 127.0.0.1: {0}; end what holds them, or set a base port")]
    NoPorts(#[source] std::io::Error),

    /// The process that keeps a node could not be started, or did not behave as a keeper.
    #[error(
        "the keeper of {node} could not be started: {reason}; it is this program itself, started as `bench-runner \
         keep`: see whether the program may be executed and whether the limit of processes (`ulimit -u`) is reached"
    )]
    Keeper {
        /// The node.
        node: String,
        /// What the system or the keeper said.
        reason: String,
    },

    /// A node ended before the ensemble served.
    #[error("{node} did not start: it {how}{}", quoted(log))]
    Start {
        /// The node.
        node: String,
        /// How it ended.
        how: String,
        /// The last lines of its log.
        log: String,
    },

    /// The ensemble did not serve in time.
    #[error(
        "the ensemble does not serve after {} s ({roles}); is the machine overloaded, or the heap too small?{}",
        after.as_secs(), quoted(log)
    )]
    NotReady {
        /// How long it was waited for.
        after: Duration,
        /// What each node said of its role at the end.
        roles: String,
        /// The last lines of the log of the first node that is not in.
        log: String,
    },

    /// A node that served is gone.
    #[error("{node} was lost: it {how}; what was measured since then is void, run again{}", quoted(log))]
    Lost {
        /// The node.
        node: String,
        /// How it ended.
        how: String,
        /// The last lines of its log.
        log: String,
    },

    /// External servers that do not answer as they should.
    #[error("the external servers cannot be used: {reason}")]
    Unusable {
        /// Which, and what is wrong.
        reason: String,
    },

    /// External servers that do not tell their counters.
    #[error("no server book: {why}")]
    NoBook {
        /// Which, and what would help.
        why: String,
    },

    /// A root on external servers that could not be taken.
    #[error("{told}")]
    Claim {
        /// What the servers said, and what would help.
        told: String,
    },

    /// What a run has created on external servers could not be removed.
    #[error(
        "what was created on the external servers is still there, or a part of it: {told}; the next run removes it, or \
         `bench-runner clean`"
    )]
    Left {
        /// What could not be removed, and why.
        told: String,
    },

    /// A node could not be broken, or mended, as was wanted.
    #[error("{node} could not be {deed}: {reason}")]
    Fault {
        /// The node.
        node: String,
        /// What was to become of it: `killed`, `started again`, `paused`, `resumed`.
        deed: &'static str,
        /// Why it did not.
        reason: String,
    },

    /// A question to all nodes, of which one is down on purpose.
    #[error("{node} was {state} on purpose, so the nodes cannot all be asked; mend it first")]
    Down {
        /// The node.
        node: String,
        /// What was made of it.
        state: NodeState,
    },

    /// A node runs but does not answer a question.
    #[error(
        "{node} did not answer `{word}`: {reason}; it may be overloaded: fewer workers or a larger heap would tell"
    )]
    NoAnswer {
        /// The node.
        node: String,
        /// What it was asked: a four-letter word, or a page.
        word: String,
        /// What happened instead.
        reason: String,
    },

    /// Sessions or watches of the past did not go away in time.
    #[error(
        "after {} s the servers still hold {sessions} sessions and {watches} watches, where at most {sessions_allowed} \
         and {watches_allowed} should be left; wait longer than the session timeout, or look for a worker that was \
         not stopped", after.as_secs()
    )]
    Unsettled {
        /// How long it was waited for.
        after: Duration,
        /// Sessions at the end.
        sessions: u64,
        /// Watches at the end.
        watches: u64,
        /// Sessions that were allowed.
        sessions_allowed: u64,
        /// Watches that were allowed.
        watches_allowed: u64,
    },

    /// Notifications still go out where everything should be at rest.
    #[error(
        "after {} s the servers still send notifications ({outstanding} requests are outstanding), though the workers \
         should be at rest; look for a worker, or another client, that was not stopped", after.as_secs()
    )]
    Restless {
        /// How long it was waited for.
        after: Duration,
        /// Requests accepted and not answered at the end.
        outstanding: u64,
    },

    /// The servers are gone, and something of them stayed.
    #[error("could not clear the ensemble away: {what}; remove it by hand")]
    Stop {
        /// What stayed, and why.
        what: String,
    },
}

/// The end of a log as lines below the message; nothing for an empty log.
fn quoted(log: &str) -> String {
    if log.is_empty() {
        return "; its log is empty".into();
    }
    let mut text = String::from("; its log ends with:");
    for line in log.lines() {
        text.push_str("\n  | ");
        text.push_str(line);
    }
    text
}
