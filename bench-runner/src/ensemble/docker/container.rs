//! One node's container.
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use super::Engine;
use crate::ensemble::keeper::Commands;

/// A container: made, started and removed by the node's keeper, broken and mended here.
#[derive(Debug)]
pub(crate) struct Container {
    engine: Engine,
    name: String,
    /// What the other nodes call it.
    host: String,
    network: String,
    /// What follows `docker create`.
    create: Vec<String>,
    /// Held while the engine is asked for something that changes it, so that what was begun first is done first, also where
    /// nobody waits for it any more.
    turn: Arc<Mutex<()>>,
}

/// What can be seen of the server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It has this id in this machine's /proc.
    Here(u32),
    /// It runs, and not in what this process can see: on another machine, in a virtual one, or in another namespace.
    Elsewhere,
}

impl Container {
    pub(super) fn new(engine: Engine, name: String, host: String, network: String, create: Vec<String>) -> Container {
        Container { engine, name, host, network, create, turn: Arc::default() }
    }

    /// What its keeper runs.
    pub fn commands(&self) -> Commands {
        let (engine, name) = (&self.engine, self.name.as_str());
        Commands {
            first: Some(engine.line(["create"].into_iter().chain(self.create.iter().map(String::as_str)))),
            server: engine.line(["start", "--attach", name]),
            last: vec![
                engine.line(["rm", "--force", "--volumes", name]),
                // Refused while another node's container is on it: that one's keeper is going to do this.
                engine.line(["network", "rm", &self.network]),
            ],
        }
    }

    /// Kills the server. Errors: what the engine said; likewise below.
    pub async fn kill(&self) -> Result<(), String> {
        self.ask(vec!["kill", &self.name]).await
    }

    /// Stops all that runs in it.
    pub async fn pause(&self) -> Result<(), String> {
        self.ask(vec!["pause", &self.name]).await
    }

    /// Lets it go on.
    pub async fn resume(&self) -> Result<(), String> {
        self.ask(vec!["unpause", &self.name]).await
    }

    /// Takes it off its network: its connections die without a word, and nobody reaches it.
    pub async fn disconnect(&self) -> Result<(), String> {
        self.ask(vec!["network", "disconnect", &self.network, &self.name]).await
    }

    /// Puts it on its network again, under the same name.
    pub async fn connect(&self) -> Result<(), String> {
        self.ask(vec!["network", "connect", "--alias", &self.host, &self.network, &self.name]).await
    }

    /// The server's process; `None` while it does not run.
    pub async fn process(&self) -> Option<Seen> {
        let (engine, name) = (self.engine.clone(), self.name.clone());
        let format = "{{.State.Running}} {{.State.Pid}} {{.Id}}";
        let asked = tokio::task::spawn_blocking(move || engine.run(["inspect", "--format", format, &name])).await;
        let told = asked.ok()?.ok()?;
        let mut words = told.split_whitespace();
        let (runs, pid, id) = (words.next()?, words.next()?.parse::<u32>().ok()?, words.next()?);
        (runs == "true" && pid > 0).then(|| if is_of(pid, id) { Seen::Here(pid) } else { Seen::Elsewhere })
    }

    async fn ask(&self, words: Vec<&str>) -> Result<(), String> {
        let (engine, turn) = (self.engine.clone(), self.turn.clone());
        let words: Vec<String> = words.into_iter().map(String::from).collect();
        let asking = move || {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            engine.run(words).map(drop)
        };
        tokio::task::spawn_blocking(asking).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Whether the process with this id is in the container with that one. An id that the engine tells may be somebody else's here.
fn is_of(pid: u32, container: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| groups.contains(container))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_no_such_container() {
        assert!(!is_of(std::process::id(), "f778f427c2e9f21c06dd27a677abc5b8b6c35176c542f5631d8c17572aa39b6b"));
    }
}
