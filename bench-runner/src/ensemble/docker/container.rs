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
    /// Whether its main process was stopped by a signal. Held while the engine changes anything about it, so that what was begun
    /// first is done first.
    stopped: Arc<Mutex<bool>>,
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
        Container { engine, name, host, network, create, stopped: Arc::default() }
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
        let name = self.name.clone();
        self.change(move |engine, _| engine.run(["kill", &name])).await
    }

    /// Stops all that runs in it, or where the kernel cannot, as some cannot freeze a group of processes, its main process.
    pub async fn pause(&self) -> Result<(), String> {
        let name = self.name.clone();
        let pause = move |engine: &Engine, stopped: &mut bool| match engine.run(["pause", &name]) {
            Ok(done) => Ok(done),
            Err(reason) => {
                let signalled = engine.run(["kill", "--signal", "STOP", &name]);
                *stopped = signalled.is_ok();
                signalled.map_err(|_| reason)
            }
        };
        self.change(pause).await
    }

    /// Lets it go on.
    pub async fn resume(&self) -> Result<(), String> {
        let name = self.name.clone();
        let resume = move |engine: &Engine, stopped: &mut bool| match std::mem::take(stopped) {
            true => engine.run(["kill", "--signal", "CONT", &name]),
            false => engine.run(["unpause", &name]),
        };
        self.change(resume).await
    }

    /// Takes it off its network: its connections die without a word, and nobody reaches it.
    pub async fn disconnect(&self) -> Result<(), String> {
        let (network, name) = (self.network.clone(), self.name.clone());
        self.change(move |engine, _| engine.run(["network", "disconnect", &network, &name])).await
    }

    /// Puts it on its network again, under the same name.
    pub async fn connect(&self) -> Result<(), String> {
        let (host, network, name) = (self.host.clone(), self.network.clone(), self.name.clone());
        self.change(move |engine, _| engine.run(["network", "connect", "--alias", &host, &network, &name])).await
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

    /// Has the engine change something about it. What was begun is done, also where nobody waits for it any more.
    async fn change(
        &self,
        doing: impl FnOnce(&Engine, &mut bool) -> Result<String, String> + Send + 'static,
    ) -> Result<(), String> {
        let (engine, stopped) = (self.engine.clone(), self.stopped.clone());
        let change = move || {
            let mut stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
            doing(&engine, &mut stopped).map(drop)
        };
        tokio::task::spawn_blocking(change).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Whether the process with this id is in the container with that one. An id that the engine tells may be somebody else's here.
fn is_of(pid: u32, container: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| groups.contains(container))
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    fn container(script: &str) -> (Fake, Container) {
        let fake = Fake::new(script);
        let container = Container::new(fake.engine(), "c".into(), "zookeeper-1".into(), "n".into(), Vec::new());
        (fake, container)
    }

    #[tokio::test]
    async fn it_is_broken_and_mended_by_the_engine() {
        let (fake, container) = container("exit 0");
        container.pause().await.unwrap();
        container.resume().await.unwrap();
        container.disconnect().await.unwrap();
        container.connect().await.unwrap();
        container.kill().await.unwrap();
        let wanted =
            ["pause c", "unpause c", "network disconnect n c", "network connect --alias zookeeper-1 n c", "kill c"];
        assert_eq!(fake.asked(), wanted);
    }

    #[tokio::test]
    async fn where_it_cannot_be_frozen_its_process_is_stopped_and_goes_on() {
        let (fake, container) = container("[ $1 != pause ]");
        container.pause().await.unwrap();
        container.resume().await.unwrap();
        assert_eq!(fake.asked(), ["pause c", "kill --signal STOP c", "kill --signal CONT c"]);
    }

    #[tokio::test]
    async fn a_refusal_is_handed_on() {
        let (_fake, container) = container("exit 1");
        assert!(container.kill().await.unwrap_err().contains("exit status: 1"));
    }

    #[test]
    fn this_process_is_in_no_such_container() {
        assert!(!is_of(std::process::id(), "f778f427c2e9f21c06dd27a677abc5b8b6c35176c542f5631d8c17572aa39b6b"));
    }
}
