//! Finds the installed etcd and asks which version it is.
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::ensemble::error::EnsembleError;
use crate::ensemble::search::{Search, is_program};

/// How long `etcd --version` may take on a machine that is busy or cold.
const LIMIT: Duration = Duration::from_secs(20);

/// An etcd that was asked for its version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Installation {
    /// The server's program.
    pub program: PathBuf,
    /// As in `3.4.23`.
    pub version: String,
}

impl Installation {
    /// Whether it knows `--unsafe-no-fsync`, which came with 3.5.
    pub fn can_leave_out_fsync(&self) -> bool {
        let mut numbers = self.version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        (numbers.next(), numbers.next()) >= (Some(3), Some(5))
    }
}

impl Search {
    /// The program `etcd`. Errors: [`EnsembleError::NoEtcd`] with what is missing.
    pub(crate) fn etcd(&self) -> Result<PathBuf, EnsembleError> {
        match &self.etcd_bin {
            Some(program) if is_program(program) => Ok(program.clone()),
            Some(program) => Err(missing(format!(
                "ETCD_BIN, or `program` in the scenario, is {}, and that is no program",
                program.display()
            ))),
            None => self.on_path("etcd").ok_or_else(|| {
                missing("etcd is not installed: ETCD_BIN is not set and there is no `etcd` on PATH".into())
            }),
        }
    }
}

fn missing(missing: String) -> EnsembleError {
    EnsembleError::NoEtcd { missing }
}

/// Asks `program`. Errors: [`EnsembleError::NoEtcd`] when it does not answer as an etcd does.
pub(super) async fn probe(program: PathBuf) -> Result<Installation, EnsembleError> {
    let refuse = |reason: String| missing(format!("{} does not run: {reason}", program.display()));
    let mut command = Command::new(&program);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(LIMIT, command.output()).await {
        Err(_) => return Err(refuse(format!("no answer to `--version` within {} s", LIMIT.as_secs()))),
        Ok(Err(error)) => return Err(refuse(error.to_string())),
        Ok(Ok(output)) => output,
    };
    match read(&String::from_utf8_lossy(&output.stdout)) {
        Some(version) => Ok(Installation { program, version }),
        None => Err(refuse("it does not tell its version".into())),
    }
}

/// Reads the line `etcd Version: 3.4.23`.
fn read(answer: &str) -> Option<String> {
    let version = answer.lines().find_map(|line| line.strip_prefix("etcd Version:"))?.trim();
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: &str) -> Installation {
        Installation { program: PathBuf::new(), version: version.into() }
    }

    #[test]
    fn the_version_is_read() {
        let answer = "etcd Version: 3.4.23\nGit SHA: Not provided (use ./build instead of go build)\n";
        assert_eq!(read(answer).as_deref(), Some("3.4.23"));
        assert_eq!(read("bash: etcd: not found"), None);
        assert_eq!(read("etcd Version: \n"), None);
    }

    #[test]
    fn fsync_can_be_left_out_since_3_5() {
        assert!(!of("3.4.23").can_leave_out_fsync());
        assert!(of("3.5.0").can_leave_out_fsync() && of("3.10.1").can_leave_out_fsync());
        assert!(of("4.0.0-rc.1").can_leave_out_fsync());
    }

    #[tokio::test]
    async fn what_is_no_etcd_is_refused() {
        let error = probe(PathBuf::from("/bin/false")).await.unwrap_err();
        assert!(matches!(error, EnsembleError::NoEtcd { .. }), "{error}");
        let search = Search { etcd_bin: Some("/nonexistent/etcd".into()), ..Search::from_env() };
        let text = search.etcd().unwrap_err().to_string();
        assert!(
            text.starts_with("ETCD_BIN, or `program` in the scenario, is /nonexistent/etcd")
                && text.contains("scripts/setup"),
            "{text}"
        );
    }
}
