//! One node: its server, under its keeper, as the runner holds it.
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::folder::NodeFolder;
use super::lives::{Broken, Said, read_reports};
use super::ports::NodePorts;
use super::vessel::{Inside, Vessel};
use crate::ensemble::description::NodeState;
use crate::ensemble::docker::Seen;
use crate::ensemble::error::EnsembleError;
use crate::ensemble::keeper::{self, Commands};
use crate::ensemble::usage::{self, ProcessUsage};

/// How long a keeper may take to start and to report its server's process.
pub(super) const KEEPER_LIMIT: Duration = Duration::from_secs(20);
/// How much of a log is shown.
const TAIL_LINES: usize = 15;
const TAIL_BYTES: u64 = 8 << 10;
/// How often it is looked whether a container runs.
const CONTAINER_PACE: Duration = Duration::from_millis(50);

/// One server of the ensemble. Dropping it tells its keeper to kill the server and to remove the node's folder, and
/// blocks the thread until the keeper has: some milliseconds, ten seconds at the most; a container takes some tenths of a second,
/// a minute at the most. So nothing runs any more after a drop, also where a start was cancelled before it had its node.
#[derive(Debug)]
pub struct Node {
    name: String,
    ports: NodePorts,
    folder: NodeFolder,
    pub(super) vessel: Vessel,
    /// The keeper as a process, to be asked whether it lives, and to be reaped.
    keeper: Mutex<Child>,
    /// The pipe that holds the server alive and takes the keeper's orders; `None` once it was let go.
    hold: Mutex<Option<ChildStdin>>,
    /// What the keeper said last.
    pub(super) said: watch::Receiver<Said>,
    /// What was broken on purpose.
    pub(super) broken: Mutex<Broken>,
    spent: Mutex<Spent>,
    /// The process inside its container, once it was seen.
    inside: Mutex<Option<Inside>>,
}

/// What a node has cost, over all lives of its server.
#[derive(Debug, Default)]
struct Spent {
    /// Which life `last` is of.
    life: u64,
    /// What was last seen of that life in /proc.
    last: ProcessUsage,
    /// CPU time of the lives before, in seconds.
    earlier_cpu_seconds: f64,
    /// The most memory that one of them had resident, in bytes.
    earlier_peak_bytes: u64,
}

impl Node {
    /// Starts the server that `commands` name, under a keeper, and waits until it is a process (not until it serves).
    /// Variables that `is_kept_out` names are not handed down to them.
    pub(crate) async fn start(
        name: String,
        ports: NodePorts,
        folder: NodeFolder,
        vessel: Vessel,
        commands: Commands,
        is_kept_out: impl Fn(&OsStr) -> bool,
    ) -> Result<Node, EnsembleError> {
        let refuse = |reason: String| EnsembleError::Keeper { node: name.clone(), reason };
        let mut keeper = Command::new(keeper::program());
        keeper.arg0("bench-runner").args(keeper::arguments(folder.path().into(), folder.log(), commands));
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Out of the reach of the terminal's Ctrl-C.
        keeper.process_group(0);
        for (variable, _) in std::env::vars_os().filter(|(variable, _)| is_kept_out(variable)) {
            keeper.env_remove(variable);
        }
        let mut keeper = keeper.spawn().map_err(|error| refuse(error.to_string()))?;
        let hold = keeper.stdin.take();
        let (tell, said) = watch::channel(Said::default());
        if let Some(stdout) = keeper.stdout.take() {
            // A thread and not a task: a node that is lost is to be noticed however busy or gone the runtime is.
            thread::spawn(move || read_reports(stdout, &tell));
        }
        // From here on dropping the node ends the keeper.
        let node = Node {
            name,
            ports,
            folder,
            vessel,
            keeper: Mutex::new(keeper),
            hold: Mutex::new(hold),
            said,
            broken: Mutex::default(),
            spent: Mutex::default(),
            inside: Mutex::default(),
        };
        let refuse = |reason: &str| Err(EnsembleError::Keeper { node: node.name.clone(), reason: reason.into() });
        let mut said = node.said.clone();
        let told = |said: &Said| said.lives > 0 || said.failed.is_some() || said.closed;
        let said = match tokio::time::timeout(KEEPER_LIMIT, said.wait_for(told)).await {
            Err(_) => return refuse("it does not report its server"),
            Ok(Err(_)) => return refuse("it ended at once"),
            Ok(Ok(said)) => said.clone(),
        };
        match (said.lives, &said.failed) {
            (0, Some(reason)) => refuse(reason),
            (0, None) => refuse("it ended at once; is the keeper's program `bench-runner`?"),
            _ => {
                node.look_inside().await;
                Ok(node)
            }
        }
    }

    /// As in `zookeeper-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's process; the latest one where it was started again. It may be gone: see `Ensemble::check_alive`. Of one in a
    /// container: the process that is attached to it.
    pub fn pid(&self) -> u32 {
        self.said.borrow().pid
    }

    /// Where clients connect.
    pub fn endpoint(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports.client).into()
    }

    /// The process that keeps the server.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper().id()
    }

    /// How the server ended, fit to stand after "it", or `None` while it runs, or is down on purpose.
    pub(crate) fn ended(&self) -> Option<String> {
        // Asked first: a keeper that reports and ends has reported.
        let keeper = self.keeper().try_wait().ok().flatten();
        let said = self.said.borrow().clone();
        let ended = said.ended.filter(|_| self.state() != NodeState::Killed);
        match (ended, keeper) {
            (Some(how), _) => Some(how),
            (None, Some(status)) => Some(format!("went with its keeper, which {}", keeper::how_ended(status))),
            (None, None) if said.closed => Some("went with its keeper".into()),
            (None, None) => None,
        }
    }

    /// The last lines of the log; empty when there is none.
    pub(crate) fn log_tail(&self) -> String {
        tail(&self.folder.log()).unwrap_or_default()
    }

    /// Whether the log tells that an address was in use.
    pub(crate) fn failed_to_bind(&self) -> bool {
        let said = ["BindException", "ddress already in use", "port is already allocated"];
        std::fs::read_to_string(self.folder.log()).is_ok_and(|log| said.iter().any(|word| log.contains(word)))
    }

    /// Waits until its container runs and notes which process that is.
    pub(super) async fn look_inside(&self) {
        let (Some(container), begun) = (self.vessel.container(), Instant::now()) else { return };
        loop {
            let said = self.said.borrow().clone();
            if !said.runs || begun.elapsed() > KEEPER_LIMIT {
                return;
            }
            if let Some(seen) = container.process().await {
                *self.inside() = Some(Inside { life: said.lives, seen });
                return;
            }
            tokio::time::sleep(CONTAINER_PACE).await;
        }
    }

    /// The process of the server in this life; `None` where it cannot be seen.
    fn process(&self, said: &Said) -> Option<u32> {
        match (&self.vessel, *self.inside()) {
            (Vessel::Process, _) => Some(said.pid),
            (Vessel::Container(_), Some(Inside { life, seen: Seen::Here(pid) })) if life == said.lives => Some(pid),
            (Vessel::Container(_), _) => None,
        }
    }

    /// Whether its server's process was ever to be seen.
    fn can_be_seen(&self) -> bool {
        matches!(self.vessel, Vessel::Process)
            || self.inside().is_some_and(|inside| matches!(inside.seen, Seen::Here(_)))
    }

    /// CPU and peak memory over all lives of the server, and what is resident of the present one; what was seen last when the
    /// process is gone. `None` for one that cannot be seen.
    pub(crate) fn usage(&self) -> Option<(ProcessUsage, bool)> {
        if !self.can_be_seen() {
            return None;
        }
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let said = self.said.borrow().clone();
        if said.lives != spent.life {
            spent.earlier_cpu_seconds += spent.last.cpu_seconds;
            spent.earlier_peak_bytes = spent.earlier_peak_bytes.max(spent.last.peak_rss_bytes);
            (spent.life, spent.last) = (said.lives, ProcessUsage::default());
        }
        // A pid that was reported as ended may belong to somebody else by now.
        let now = self.process(&said).filter(|_| said.runs).and_then(usage::of_process);
        // A zombie has no memory left and no peak either.
        let now = now.filter(|usage| usage.rss_bytes > 0);
        if let Some(mut usage) = now {
            // The kernel notes the peak a little late: it may be below what was seen resident already.
            usage.peak_rss_bytes = usage.peak_rss_bytes.max(usage.rss_bytes).max(spent.last.peak_rss_bytes);
            spent.last = usage;
        }
        let over_all = ProcessUsage {
            cpu_seconds: spent.earlier_cpu_seconds + spent.last.cpu_seconds,
            rss_bytes: spent.last.rss_bytes,
            peak_rss_bytes: spent.earlier_peak_bytes.max(spent.last.peak_rss_bytes),
        };
        Some((over_all, now.is_some()))
    }

    /// Gives the keeper an order.
    pub(super) fn order(&self, order: &str) -> io::Result<()> {
        match &mut *self.hold() {
            Some(keeper) => writeln!(keeper, "{order}"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Lets the server go: its keeper kills it and removes its folder.
    pub(crate) fn release(&self) {
        *self.hold() = None;
    }

    /// Whether the keeper has ended, after [`Node::release`].
    pub(crate) fn is_gone(&self) -> bool {
        !matches!(self.keeper().try_wait(), Ok(None))
    }

    fn inside(&self) -> MutexGuard<'_, Option<Inside>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keeper(&self) -> MutexGuard<'_, Child> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.release();
        let begun = Instant::now();
        while !self.is_gone() && begun.elapsed() < self.vessel.end_limit() {
            thread::sleep(Duration::from_millis(5));
        }
        if !self.is_gone() {
            // The kernel then kills the server.
            let mut keeper = self.keeper();
            let _ = keeper.kill();
            let _ = keeper.wait();
        }
    }
}

/// The last lines of the file at `path`.
fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut end = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut end)?;
    let end = String::from_utf8_lossy(&end);
    // Where the beginning was cut off, the first line is not whole.
    let whole = if length > TAIL_BYTES { end.split_once('\n').map_or("", |(_, rest)| rest) } else { &end };
    let lines: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_whole_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = (0..10_000).map(|line| format!("line {line}")).collect();
        std::fs::write(file.path(), lines.join("\n\n")).unwrap();
        assert_eq!(tail(file.path()).unwrap(), lines[10_000 - TAIL_LINES..].join("\n"));
        std::fs::write(file.path(), "one\n").unwrap();
        assert_eq!(tail(file.path()).unwrap(), "one");
        std::fs::write(file.path(), "x".repeat(20_000)).unwrap();
        assert_eq!(tail(file.path()).unwrap(), "");
    }
}
