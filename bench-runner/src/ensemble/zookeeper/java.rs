//! Which Java it is, and where the JVM's own program is.
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::ensemble::error::EnsembleError;

/// How long `java -version` may take on a machine that is busy or cold.
const LIMIT: Duration = Duration::from_secs(20);

/// A Java runtime that was asked for its properties.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Java {
    /// The JVM's own program. What was found on `PATH` may be a script of a version manager that starts the JVM as its
    /// child, and a child's child does not die with the keeper.
    pub program: PathBuf,
    /// As in `17.0.15 (OpenJDK 64-Bit Server VM)`.
    pub version: String,
}

/// Asks `program`. Errors: [`EnsembleError::NotInstalled`] when it does not answer as a Java does.
pub(crate) async fn probe(program: &Path) -> Result<Java, EnsembleError> {
    let refuse = |reason: String| EnsembleError::NotInstalled {
        missing: format!("{} does not run: {reason}", program.display()),
    };
    let mut command = Command::new(program);
    command.args(["-XshowSettings:properties", "-XX:-UsePerfData", "-version"]);
    command.stdin(Stdio::null()).kill_on_drop(true);
    for variable in super::config::JVM_VARIABLES {
        command.env_remove(variable);
    }
    let output = match tokio::time::timeout(LIMIT, command.output()).await {
        Err(_) => return Err(refuse(format!("no answer to `-version` within {} s", LIMIT.as_secs()))),
        Ok(Err(error)) => return Err(refuse(error.to_string())),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(refuse(text.lines().next().unwrap_or("it says nothing").to_string()));
    }
    read(&text, program).ok_or_else(|| refuse("it does not tell its version".into()))
}

/// Reads the lines `    java.version = 17.0.15` of the answer.
fn read(answer: &str, asked: &Path) -> Option<Java> {
    let property = |name: &str| {
        let pairs = answer.lines().filter_map(|line| line.split_once(" = "));
        pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_string()).next()
    };
    let version = property("java.version")?;
    let version = match property("java.vm.name") {
        Some(machine) => format!("{version} ({machine})"),
        None => version,
    };
    let own = property("java.home").map(|home| Path::new(&home).join("bin/java")).filter(|own| own.is_file());
    Some(Java { program: own.unwrap_or_else(|| asked.to_path_buf()), version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_properties_are_read() {
        let answer = "Property settings:\n    java.home = /nowhere/jdk\n    java.version = 17.0.15\n    \
                      java.version.date = 2025-04-15\n    java.vm.name = OpenJDK 64-Bit Server VM\n";
        let java = read(answer, Path::new("/usr/bin/java")).unwrap();
        assert_eq!(java.version, "17.0.15 (OpenJDK 64-Bit Server VM)");
        // There is no such home on this machine, so what was asked is used.
        assert_eq!(java.program, PathBuf::from("/usr/bin/java"));
        assert_eq!(read("sh: syntax error", Path::new("java")), None);
    }

    #[tokio::test]
    async fn what_is_no_java_is_refused() {
        let error = probe(Path::new("/bin/false")).await.unwrap_err();
        assert!(matches!(error, EnsembleError::NotInstalled { .. }), "{error}");
    }
}
