//! The lives of a node's server: what its keeper tells of them, and what is done to them on purpose.
use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::{MutexGuard, PoisonError};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use tokio::sync::watch;

use super::node::{KEEPER_LIMIT, Node};
use super::vessel::Vessel;
use crate::ensemble::description::NodeState;
use crate::ensemble::error::EnsembleError;
use crate::ensemble::keeper;

/// Why something that is broken cannot be broken again.
const DOWN: &str = "it is down already";

/// What a keeper has reported.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// How often the server was started.
    pub lives: u64,
    /// The process of the latest life.
    pub pid: u32,
    /// Whether that process runs, or has ended a moment ago.
    pub runs: bool,
    /// How often it could not be started.
    pub failures: u64,
    /// Why, the last time.
    pub failed: Option<String>,
    /// How the latest life ended.
    pub ended: Option<String>,
    /// Its stdout is closed: the keeper is gone.
    pub closed: bool,
}

/// Reads a keeper's reports until there can be no more.
pub(super) fn read_reports(stdout: ChildStdout, tell: &watch::Sender<Said>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        tell.send_modify(|said| {
            if let Some(pid) = line.strip_prefix(keeper::STARTED).and_then(|pid| pid.parse().ok()) {
                (said.lives, said.pid, said.runs, said.ended) = (said.lives + 1, pid, true, None);
            } else if let Some(reason) = line.strip_prefix(keeper::FAILED) {
                (said.failures, said.failed) = (said.failures + 1, Some(reason.into()));
            } else if let Some(how) = line.strip_prefix(keeper::ENDED) {
                (said.runs, said.ended) = (false, Some(how.into()));
            }
        });
    }
    tell.send_modify(|said| (said.closed, said.runs) = (true, false));
}

/// Which of a server's lives was broken on purpose. A number and not a flag: with the report of the next life it is history
/// at once, whoever waits for it.
#[derive(Debug, Default)]
pub(super) struct Broken {
    killed_life: Option<u64>,
    paused_life: Option<u64>,
    disconnected_life: Option<u64>,
}

impl Broken {
    fn state(&self, life: u64) -> NodeState {
        match Some(life) {
            life if self.killed_life == life => NodeState::Killed,
            life if self.paused_life == life => NodeState::Paused,
            life if self.disconnected_life == life => NodeState::Disconnected,
            _ => NodeState::Up,
        }
    }
}

impl Node {
    /// What was made of it on purpose.
    pub(crate) fn state(&self) -> NodeState {
        self.broken().state(self.lives())
    }

    /// How often its server was started.
    pub(crate) fn lives(&self) -> u64 {
        self.said.borrow().lives
    }

    /// Kills the server and returns when the process is gone. Errors: [`EnsembleError::Fault`].
    pub(crate) async fn kill(&self) -> Result<(), EnsembleError> {
        let refuse = |reason: &str| self.refuse("killed", reason);
        if let Some(how) = self.ended() {
            return refuse(&format!("it {how} before"));
        }
        // What it has cost so far, before that is gone.
        self.usage();
        let life = {
            let (mut broken, life) = (self.broken(), self.lives());
            match broken.state(life) {
                NodeState::Killed => return refuse(DOWN),
                NodeState::Disconnected => return refuse("it is off its network; connect it first"),
                NodeState::Up | NodeState::Paused => {}
            }
            // The end of what is attached to a container would be noticed, and the container would go on.
            if let (Vessel::Process, Err(error)) = (&self.vessel, self.order(keeper::STOP)) {
                return refuse(&error.to_string());
            }
            // Under the lock, so that nobody can take the end that follows for a loss.
            broken.killed_life = Some(life);
            life
        };
        if let Vessel::Container(container) = &self.vessel
            && let Err(reason) = container.kill().await
        {
            let mut broken = self.broken();
            broken.killed_life = broken.killed_life.filter(|killed| *killed != life);
            drop(broken);
            return refuse(&reason);
        }
        let mut said = self.said.clone();
        match tokio::time::timeout(KEEPER_LIMIT, said.wait_for(|said| !said.runs)).await {
            Ok(Ok(said)) if !said.closed => Ok(()),
            Ok(_) => refuse("its keeper is gone"),
            Err(_) => refuse("its keeper does not report its end"),
        }
    }

    /// Starts the server again after [`Node::kill`] and returns when it is a process. Errors: [`EnsembleError::Fault`].
    pub(crate) async fn start_again(&self) -> Result<(), EnsembleError> {
        let refuse = |reason: &str| self.refuse("started again", reason);
        if self.state() != NodeState::Killed {
            return refuse("it was not killed");
        }
        match tokio::time::timeout(KEEPER_LIMIT, self.next_life()).await {
            Ok(Ok(())) => {
                self.look_inside().await;
                Ok(())
            }
            Ok(Err(reason)) => refuse(&reason),
            Err(_) => refuse("its keeper does not report its start"),
        }
    }

    /// Has the keeper start the server once its last life is over. Errors: why it did not.
    async fn next_life(&self) -> Result<(), String> {
        let gone = || "its keeper is gone".to_owned();
        let mut said = self.said.clone();
        // Somebody may be killing it just now.
        let (lives, failures) =
            said.wait_for(|said| !said.runs).await.map(|said| (said.lives, said.failures)).map_err(|_| gone())?;
        self.order(keeper::START).map_err(|error| error.to_string())?;
        let done = |said: &Said| said.lives > lives || said.failures > failures || said.closed;
        let said = said.wait_for(done).await.map_err(|_| gone())?;
        match &said.failed {
            _ if said.lives > lives => Ok(()),
            Some(reason) if said.failures > failures => Err(reason.clone()),
            _ => Err(gone()),
        }
    }

    /// Stops the server's process (`SIGSTOP`), or all in its container. Errors: [`EnsembleError::Fault`].
    pub(crate) async fn pause(&self) -> Result<(), EnsembleError> {
        match &self.vessel {
            Vessel::Process => {
                let (mut broken, life) = (self.broken(), self.lives());
                if broken.state(life) != NodeState::Up {
                    return self.refuse("paused", DOWN);
                }
                self.signal(Signal::SIGSTOP).or_else(|reason| self.refuse("paused", &reason))?;
                broken.paused_life = Some(life);
                Ok(())
            }
            Vessel::Container(container) => {
                self.break_up("paused", |broken| &mut broken.paused_life, container.pause()).await
            }
        }
    }

    /// Lets it go on (`SIGCONT`). Errors: [`EnsembleError::Fault`].
    pub(crate) async fn resume(&self) -> Result<(), EnsembleError> {
        let life = self.lives();
        if self.broken().state(life) != NodeState::Paused {
            return self.refuse("resumed", "it was not paused");
        }
        let resumed = match &self.vessel {
            Vessel::Process => self.signal(Signal::SIGCONT),
            Vessel::Container(container) => container.resume().await,
        };
        resumed.or_else(|reason| self.refuse("resumed", &reason))?;
        self.broken().paused_life = None;
        Ok(())
    }

    /// Takes it off its network. Errors: [`EnsembleError::Fault`], always for one that is not in a container.
    pub(crate) async fn disconnect(&self) -> Result<(), EnsembleError> {
        let Vessel::Container(container) = &self.vessel else {
            return self.refuse("disconnected", "it has no network of its own: that takes `provider = \"docker\"`");
        };
        self.break_up("disconnected", |broken| &mut broken.disconnected_life, container.disconnect()).await
    }

    /// Puts it on its network again. Errors: [`EnsembleError::Fault`].
    pub(crate) async fn connect(&self) -> Result<(), EnsembleError> {
        let life = self.lives();
        let (Vessel::Container(container), NodeState::Disconnected) = (&self.vessel, self.broken().state(life)) else {
            return self.refuse("connected", "it was not disconnected");
        };
        container.connect().await.or_else(|reason| self.refuse("connected", &reason))?;
        self.broken().disconnected_life = None;
        Ok(())
    }

    /// Does something to a container that is up, and has that noted before it is done: nobody is to ask it meanwhile.
    async fn break_up(
        &self,
        deed: &'static str,
        noted: impl Fn(&mut Broken) -> &mut Option<u64>,
        doing: impl Future<Output = Result<(), String>>,
    ) -> Result<(), EnsembleError> {
        {
            let (mut broken, life) = (self.broken(), self.lives());
            if broken.state(life) != NodeState::Up {
                return self.refuse(deed, DOWN);
            }
            *noted(&mut broken) = Some(life);
        }
        doing.await.or_else(|reason| {
            *noted(&mut self.broken()) = None;
            self.refuse(deed, &reason)
        })
    }

    /// Sends a signal to a server that runs.
    fn signal(&self, signal: Signal) -> Result<(), String> {
        let said = self.said.borrow().clone();
        // The process id of one that was reported as ended may belong to somebody else by now.
        if !said.runs {
            return Err(said.ended.map_or("its keeper is gone".into(), |how| format!("it {how}")));
        }
        signal::kill(Pid::from_raw(said.pid.cast_signed()), signal).map_err(|error| error.to_string())
    }

    fn refuse(&self, deed: &'static str, reason: &str) -> Result<(), EnsembleError> {
        Err(EnsembleError::Fault { node: self.name().into(), deed, reason: reason.into() })
    }

    fn broken(&self) -> MutexGuard<'_, Broken> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
