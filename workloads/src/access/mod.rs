//! How sessions get at servers that are not the runner's own: encrypted, under a name, and no faster than they are allowed to.
//!
//! [`Access`] goes wherever endpoints go; by default it is a plain connection without a name and without a ceiling.
//!
//! | module | what it is |
//! |---|---|
//! | [`secret`] | a password, which nothing prints |
//! | [`login`] | a user with a password, and for etcd the token that stands for them |
//! | [`tls`] | whom we trust, and who we are |
//! | [`certificate`] | what is wrong with a certificate, in words |
//! | [`stream`] | a connection, plain or encrypted |
//! | [`throttle`] | the ceiling on requests |

pub mod certificate;
pub mod login;
pub mod secret;
pub mod stream;
pub mod throttle;
pub mod tls;

use std::sync::Arc;

pub use login::Login;
pub use secret::Secret;
pub use stream::{ConnectError, Stream};
pub use throttle::Throttle;
pub use tls::{Tls, TlsError};

/// How sessions get at the servers. Clones share everything.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// How connections are encrypted; `None`: they are not.
    pub tls: Option<Arc<Tls>>,
    /// As whom: ZooKeeper's digest identity, to which then belongs what is created (and to a client certificate's, where there is
    /// one); etcd's user.
    pub login: Option<Arc<Login>>,
    /// The ceiling on requests; `None`: as many as the workers like.
    pub throttle: Option<Arc<Throttle>>,
}

impl Access {
    /// The same without a ceiling, for sessions whose pace is their own and known.
    pub fn unthrottled(&self) -> Access {
        Access { throttle: None, ..self.clone() }
    }

    /// Waits until one more request may be sent.
    pub async fn pass(&self) {
        if let Some(throttle) = &self.throttle {
            throttle.pass().await;
        }
    }

    /// Counts a request that cannot wait, as the upkeep of a session cannot: the next ones wait for it.
    pub fn debit(&self) {
        if let Some(throttle) = &self.throttle {
            throttle.debit();
        }
    }
}
