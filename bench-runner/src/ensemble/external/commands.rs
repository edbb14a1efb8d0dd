//! Commands of the user's, by which a node is broken and mended.
use std::process::{Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Command;

use super::Remote;

/// Of what a command printed, so many lines are told, the last ones.
const TOLD_LINES: usize = 5;

/// How nodes are broken and mended. Each command is run by `sh -c`.
#[derive(Debug, Clone, Default)]
pub struct NodeCommands {
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
    /// Variables that are kept from them: those with passwords.
    pub hidden: Vec<String>,
}

impl NodeCommands {
    /// Runs one for the node at this place. Errors: why it failed, with the end of what it printed.
    pub(super) async fn run(&self, command: &str, node: usize, remote: &Remote, service: &str) -> Result<(), String> {
        let index = (node + 1).to_string();
        let (host, port) = remote.endpoint.rsplit_once(':').unwrap_or((&remote.endpoint, ""));
        let values = [
            ("index", index.as_str()),
            ("endpoint", &remote.endpoint),
            ("host", host),
            ("port", port),
            ("service", service),
        ];
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(filled_in(command, &values));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Out of the reach of the terminal's Ctrl-C: what was broken is still to be mended.
        shell.process_group(0).kill_on_drop(true);
        for (name, value) in values {
            shell.env(format!("BENCH_RUNNER_NODE_{}", name.to_uppercase()), value);
        }
        self.hidden.iter().for_each(|variable| {
            shell.env_remove(variable);
        });
        let child = shell.spawn().map_err(|error| format!("`sh` could not be started: {error}"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        match tokio::time::timeout(self.timeout, child.wait_with_output()).await {
            Ok(Ok(output)) if output.status.success() => Ok(()),
            Ok(Ok(output)) => Err(format!("`{command}` ended with {}{}", output.status, told(&output))),
            Ok(Err(error)) => Err(format!("`{command}`: {error}")),
            Err(_) => {
                // All that it has started: an ssh that hangs.
                if let Some(group) = group {
                    let _ = killpg(group, Signal::SIGKILL);
                }
                Err(format!("`{command}` had not ended after {} s, and was", self.timeout.as_secs_f64()))
            }
        }
    }
}

/// A command with the node's values in it.
fn filled_in(command: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(command.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// The end of what a command printed.
fn told(output: &Output) -> String {
    let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.len() {
        0 => ", and printed nothing".into(),
        count => format!(": {}", lines[count.saturating_sub(TOLD_LINES)..].join(" / ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn remote() -> Remote {
        Remote {
            name: "zookeeper-3".into(),
            endpoint: "zoo-3.example.org:2181".into(),
            metrics: String::new(),
            lives: AtomicU64::new(1),
            state: Mutex::default(),
        }
    }

    async fn run(command: &str, timeout: Duration) -> Result<(), String> {
        let commands = NodeCommands { timeout, hidden: vec!["HOME".into()], ..NodeCommands::default() };
        commands.run(command, 2, &remote(), "zookeeper").await
    }

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_command_is_told_which_node() {
        let test = r#"test "{index} {host} {port} {endpoint} {service}" = "3 zoo-3.example.org 2181 zoo-3.example.org:2181 zookeeper""#;
        run(test, PATIENCE).await.unwrap();
        let test = r#"test "$BENCH_RUNNER_NODE_INDEX $BENCH_RUNNER_NODE_HOST" = "3 zoo-3.example.org""#;
        run(test, PATIENCE).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_hidden_is_not_handed_down() {
        run(r#"test -z "${HOME+set}" && test -n "$PATH""#, PATIENCE).await.unwrap();
    }

    #[tokio::test]
    async fn a_failure_is_told_with_what_it_printed() {
        let told = run("echo one; echo two >&2; exit 7", PATIENCE).await.unwrap_err();
        assert!(told.contains("exit status: 7: one / two"), "{told}");
        let told = run("exit 1", PATIENCE).await.unwrap_err();
        assert!(told.ends_with("printed nothing"), "{told}");
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_ended_with_all_it_started() {
        let told = run("sleep 600 & echo $$; wait", Duration::from_millis(300)).await.unwrap_err();
        assert!(told.contains("had not ended"), "{told}");
    }
}
