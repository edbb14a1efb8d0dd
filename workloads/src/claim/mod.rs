//! A run's own root on servers that are not the runner's: taken before anything else is done there, given back in the end,
//! and found again by a later run where this one was killed.
//!
//! ```text
//! /bench-runner                     made where it is missing, and then removed by the last who leaves
//! /bench-runner/<run>               carries the deed: whose it is
//! /bench-runner/<run>/alive         goes with the session of whoever holds the root
//! /bench-runner/<run>/trial-…       what the workers do
//! ```
//!
//! With etcd these are keys. Nothing else on the servers is ever written or removed.

mod etcd;
mod zookeeper;

use std::time::Duration;

use crate::fleet::Target;
use crate::settings::Service;

/// What all roots are below.
pub const PARENT: &str = "/bench-runner";
/// What stands in a parent that we have made, by which we know that we may remove it.
const MARK: &[u8] = b"made by bench-runner, and removed by it when it is empty\n";
/// The entry that goes with the session of the root's holder.
const ALIVE: &str = "alive";
/// How often it is looked whether a root that was removed is still gone, and how long between: requests that were under way
/// when the workers ended may arrive late.
const LOOKS: u32 = 3;
const LOOK_PACE: Duration = Duration::from_millis(100);

/// Whose a root is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// On whose behalf, as `user@machine`. One line.
    pub owner: String,
    /// Which process: whatever lets its owner tell whether it still runs. One line.
    pub process: String,
}

impl Deed {
    /// As it stands on the servers.
    fn text(&self) -> Vec<u8> {
        format!("bench-runner\nowner {}\nprocess {}\n", self.owner, self.process).into_bytes()
    }

    /// Reads one; `None` for what is none.
    fn read(text: &[u8]) -> Option<Deed> {
        let mut lines = std::str::from_utf8(text).ok()?.lines();
        let ("bench-runner", owner, process) = (lines.next()?, lines.next()?, lines.next()?) else { return None };
        let (owner, process) = (owner.strip_prefix("owner ")?, process.strip_prefix("process ")?);
        Some(Deed { owner: owner.to_owned(), process: process.to_owned() })
    }
}

/// A root that was found on the servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its path.
    pub path: String,
    /// Whose it is; `None` where that cannot be read, so that it is nobody's to remove.
    pub deed: Option<Deed>,
    /// Whether the session of its holder lives, or has not timed out yet.
    pub is_held: bool,
}

/// Why a root could not be taken, found or given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// No session.
    #[error("no session with {endpoints}: {told}")]
    NoSession {
        /// The servers.
        endpoints: String,
        /// What they said.
        told: String,
    },
    /// The servers do not let us.
    #[error("the servers do not let us work below {PARENT}: {told}")]
    Refused {
        /// What they said.
        told: String,
    },
    /// There is a root of that name.
    #[error("{root} is there already; wait a second, or look who uses it")]
    Taken {
        /// The root.
        root: String,
    },
    /// Another failure.
    #[error("{path}: {told}")]
    Failed {
        /// What it was about.
        path: String,
        /// What happened.
        told: String,
    },
}

/// A root that is ours until it is [released](Claim::release). Dropped without that, it stays on the servers.
pub struct Claim {
    root: String,
    holder: Holder,
}

enum Holder {
    Zookeeper(crate::zookeeper::session::Client),
    Etcd(crate::etcd::session::Client),
}

impl Claim {
    /// Takes the target's root, with a session of its own that times out as the workers' do.
    ///
    /// # Errors
    ///
    /// [`ClaimError`]; then nothing is left on the servers.
    pub async fn take(target: &Target, session_timeout: Duration, deed: &Deed) -> Result<Claim, ClaimError> {
        let root = target.root.clone();
        let holder = match target.service {
            Service::Zookeeper => Holder::Zookeeper(zookeeper::take(target, session_timeout, deed).await?),
            Service::Etcd => Holder::Etcd(etcd::take(target, session_timeout, deed).await?),
        };
        Ok(Claim { root, holder })
    }

    /// The session timeout that the servers have granted. They may not grant what was asked for, and do not say so.
    pub fn session_timeout(&self) -> Duration {
        match &self.holder {
            Holder::Zookeeper(client) => client.session_timeout(),
            Holder::Etcd(client) => client.ttl(),
        }
    }

    /// Removes the root with everything below it. For when all workers have ended.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] where something stays, or may stay.
    pub async fn release(self) -> Result<(), ClaimError> {
        for look in 0..LOOKS {
            if look > 0 {
                tokio::time::sleep(LOOK_PACE).await;
            }
            match &self.holder {
                Holder::Zookeeper(client) => zookeeper::remove(client, &self.root).await?,
                Holder::Etcd(client) => etcd::remove(client, &self.root).await?,
            }
        }
        Ok(())
    }
}

/// The roots that are on the target's servers.
///
/// # Errors
///
/// [`ClaimError::NoSession`], [`ClaimError::Failed`].
pub async fn find(target: &Target, session_timeout: Duration) -> Result<Vec<Root>, ClaimError> {
    match target.service {
        Service::Zookeeper => zookeeper::find(&zookeeper::open(target, session_timeout).await?).await,
        Service::Etcd => etcd::find(&etcd::open(target, session_timeout).await?).await,
    }
}

/// Removes a root that was found, and whose it is.
///
/// # Errors
///
/// [`ClaimError::NoSession`], [`ClaimError::Failed`] where something stays.
pub async fn remove(target: &Target, session_timeout: Duration, root: &Root) -> Result<(), ClaimError> {
    match target.service {
        Service::Zookeeper => zookeeper::remove(&zookeeper::open(target, session_timeout).await?, &root.path).await,
        Service::Etcd => etcd::remove(&etcd::open(target, session_timeout).await?, &root.path).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_read_as_it_was_written() {
        let deed = Deed { owner: "alice@ci".into(), process: "17 of boot 4".into() };
        assert_eq!(Deed::read(&deed.text()), Some(deed));
    }

    #[test]
    fn what_is_no_deed_is_nobodys() {
        for text in [
            "",
            "bench-runner",
            "bench-runner\nowner a",
            "else\nowner a\nprocess b\n",
            "bench-runner\nprocess b\nowner a\n",
        ] {
            assert_eq!(Deed::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Deed::read(&[0xff, 0xfe]), None);
        assert_eq!(Deed::read(MARK), None);
    }
}
