//! A password.

use std::fmt;

/// What must not be printed, by whatever prints the rest.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes it in.
    pub fn new(secret: impl Into<String>) -> Self {
        Secret(secret.into())
    }

    /// Hands it out, to the servers alone.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(a secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Login};
    use super::*;
    use std::sync::Arc;

    #[test]
    fn nothing_prints_it() {
        let login = Login::new("bench", Secret::new("swordfish"));
        let access = Access { login: Some(Arc::new(login)), ..Access::default() };
        let printed = format!("{access:?} {access:#?}");
        assert!(printed.contains("bench") && !printed.contains("swordfish"), "{printed}");
    }
}
