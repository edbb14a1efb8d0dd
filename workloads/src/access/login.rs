//! A user with a password, and the token that stands for them at etcd.
//!
//! etcd checks the password once and then takes a token. All sessions of a process share one: checking a password
//! costs the servers CPU on purpose (bcrypt), which adds up over thousands of sessions, and the token is known to every node. A
//! token ends when it is not used for five minutes at a node, when the node restarts, or when the user changes; whoever
//! meets that drops it, and the next request gets another one.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use http::HeaderValue;

use super::Secret;

/// A user with a password.
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: Secret,
    token: Mutex<Token>,
    /// Held by whoever gets a token, so that one is got and not one for each who needs it.
    turn: tokio::sync::Mutex<()>,
}

/// The token, and which one it is of all that there were.
#[derive(Default)]
struct Token {
    number: u64,
    value: Option<HeaderValue>,
}

impl Login {
    /// A user who has no token yet.
    pub fn new(user: impl Into<String>, password: Secret) -> Self {
        Login { user: user.into(), password, token: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// The name and the password as ZooKeeper's scheme `digest` takes them.
    pub(crate) fn digest(&self) -> String {
        format!("{}:{}", self.user, self.password.expose())
    }

    /// The token as it is now, and its number; got by `get` where there is none.
    pub(crate) async fn token<E>(
        &self,
        get: impl AsyncFnOnce() -> Result<HeaderValue, E>,
    ) -> Result<(u64, HeaderValue), E> {
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let _turn = self.turn.lock().await;
        // Somebody may have got one meanwhile.
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let mut value = get().await?;
        value.set_sensitive(true);
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.number += 1;
        token.value = Some(value.clone());
        Ok((token.number, value))
    }

    /// The number of the token as it is now; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).number
    }

    /// Drops the token of this number; one that came after it stays.
    pub(crate) fn drop_token(&self, number: u64) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.number == number {
            token.value = None;
        }
    }

    fn current(&self) -> Option<(u64, HeaderValue)> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.value.clone().map(|value| (token.number, value))
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn all_who_need_a_token_get_one_together() {
        let login = Login::new("bench", Secret::new("swordfish"));
        let got = AtomicU32::new(0);
        let get = async || {
            tokio::task::yield_now().await;
            let number = got.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(HeaderValue::from_str(&format!("token-{number}")).unwrap())
        };
        let (one, other, third) = tokio::join!(login.token(get), login.token(get), login.token(get));
        assert_eq!((one.unwrap().0, other.unwrap().0, third.unwrap().0), (1, 1, 1));
        assert_eq!(got.load(Ordering::Relaxed), 1);
        // Two who meet the end of the same token drop it once.
        login.drop_token(1);
        assert_eq!(login.token(get).await.unwrap().0, 2);
        login.drop_token(1);
        assert_eq!(login.token(get).await.unwrap().0, 2);
        assert_eq!(got.load(Ordering::Relaxed), 2);
    }
}
