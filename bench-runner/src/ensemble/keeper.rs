//! The keeper: a process between the runner and one server, so that the server dies with the runner whatever kills it.
//!
//! A server process cannot be trusted to notice that the runner is gone, and a runner that was killed with `SIGKILL`
//! cannot end its servers. So each server runs under this small process, which is the same program started as
//! `bench-runner keep`, in a process group of its own (a terminal's Ctrl-C does not reach it), without threads of a
//! runtime, and with one job: to hold the other end of a pipe. Whatever ends the runner, the kernel closes the pipe;
//! the keeper then kills the server, reaps it, removes its folder, and ends. Should the keeper itself be killed, the
//! kernel kills the server (`PR_SET_PDEATHSIG`), and the folder is swept by the next start of an ensemble.
//!
//! A server in a container is a child of Docker's engine and not of the keeper, which then runs the command that is attached to
//! it. So that the container comes and goes with the keeper all the same, a keeper may have commands to run before the first
//! start and at its end.
//!
//! Orders come as lines on stdin: `stop` kills the server and keeps its folder, `start` starts one again that has ended.
//! Reports go as lines to stdout: `started <pid>`, `failed <reason>`, `ended <how>`; the first and the last in turn, once for
//! each life of the server. A server that somebody has stopped with `SIGSTOP` is killed like any other.
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{Pid, getppid};

/// The word after the program's name that makes it a keeper. Not for people: it is in no help text.
pub const SUBCOMMAND: &str = "keep";

/// Begins the report of a server that runs; its process id follows.
pub(crate) const STARTED: &str = "started ";
/// Begins the report of a server that could not be started; the reason follows.
pub(crate) const FAILED: &str = "failed ";
/// Begins the report of a server that ended; how follows, fit to stand after "it".
pub(crate) const ENDED: &str = "ended ";

/// The order to kill the server.
pub(crate) const STOP: &str = "stop";
/// The order to start a server again that has ended; one that runs is left alone.
pub(crate) const START: &str = "start";

/// Begins the name of every ensemble's folder. A keeper touches no other: it removes a folder with all that is in it.
pub(crate) const FOLDER_PREFIX: &str = "bench-runner-";

/// Begins a command to run before the first start, and one to run at the end; how many words it has follows, and they.
const FIRST: &str = "--first";
const LAST: &str = "--last";

/// How long a command of the end may take before the next one's turn: an engine that hangs is not to hold a keeper for ever.
const LAST_LIMIT: Duration = Duration::from_secs(60);

/// Signals that people and terminals send to end a program. The keeper has to outlive the runner by a moment, so it
/// ends for one reason only: its stdin is closed.
const IGNORED: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program that is started as the keeper, for a process that is not `bench-runner` itself (a test). The first
/// call counts. Without one it is the running program.
pub fn set_program(path: impl Into<PathBuf>) {
    let _ = PROGRAM.set(path.into());
}

/// The program to start as a keeper. `/proc/self/exe` and not its path: it is the running program even when the file
/// was replaced or removed since, as a build in the middle of a run does.
pub(crate) fn program() -> PathBuf {
    PROGRAM.get().cloned().unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// A program and its arguments.
pub(crate) type CommandLine = Vec<OsString>;

/// What a keeper runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Commands {
    /// Before the server's first start; where it fails, the server is not started.
    pub first: Option<CommandLine>,
    /// The server's.
    pub server: CommandLine,
    /// One after the other when the server has ended for good, whatever becomes of each.
    pub last: Vec<CommandLine>,
}

/// What a keeper is told on its command line.
struct Task {
    /// The server's folder: its working directory while it runs, removed at the end.
    folder: PathBuf,
    /// Where the server's output goes.
    log: PathBuf,
    commands: Commands,
}

impl Task {
    /// Reads `<folder> <log> [--first <count> <word> …] [--last <count> <word> …]… <program> [<argument> …]`.
    fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Option<Task> {
        let mut arguments = arguments.into_iter().peekable();
        let (folder, log) = (PathBuf::from(arguments.next()?), arguments.next()?.into());
        let mut commands = Commands::default();
        while let Some(kind) = arguments.next_if(|word| word == FIRST || word == LAST) {
            let words: usize = arguments.next()?.to_str()?.parse().ok().filter(|words| *words > 0)?;
            let command = (0..words).map(|_| arguments.next()).collect::<Option<CommandLine>>()?;
            if kind == FIRST { commands.first = Some(command) } else { commands.last.push(command) }
        }
        commands.server = arguments.collect();
        let ensemble = folder.parent()?.file_name()?.to_str()?;
        (ensemble.starts_with(FOLDER_PREFIX) && !commands.server.is_empty()).then_some(Task { folder, log, commands })
    }
}

/// The arguments of a keeper, from [`SUBCOMMAND`] on.
pub(crate) fn arguments(folder: PathBuf, log: PathBuf, commands: Commands) -> Vec<OsString> {
    let mut arguments = vec![SUBCOMMAND.into(), folder.into(), log.into()];
    let first = commands.first.into_iter().map(|command| (FIRST, command));
    for (kind, command) in first.chain(commands.last.into_iter().map(|command| (LAST, command))) {
        arguments.extend([kind.into(), command.len().to_string().into()]);
        arguments.extend(command);
    }
    arguments.extend(commands.server);
    arguments
}

/// What wakes a keeper.
enum Event {
    /// A line on stdin.
    Order(String),
    /// Stdin is closed: the runner is done, or dead.
    RunnerGone,
    /// The server ended and can be reaped.
    ServerEnded,
}

/// Runs as a keeper until stdin is closed. `arguments` are those after [`SUBCOMMAND`]. To be called from the main
/// thread, before any other thread exists.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(task) = Task::from_arguments(arguments) else {
        eprintln!("bench-runner keep is started by bench-runner itself, with a folder, a log and a command");
        return ExitCode::from(2);
    };
    for ignored in IGNORED {
        // SAFETY: ignoring a signal installs no handler, so no code can run at a wrong moment.
        let _ = unsafe { signal(ignored, SigHandler::SigIgn) };
    }
    // A folder that is some process's working directory may be busy on some file systems.
    let _ = std::env::set_current_dir("/");

    // Spawned from this thread, each time: the death signal is bound to the thread that starts the server, not to the
    // process, and this one lives until the end.
    let (events, inbox) = mpsc::channel();
    let mut server = match prepare(&task) {
        Ok(()) => start(&task, &events),
        Err(reason) => {
            report(format_args!("{FAILED}{reason}"));
            None
        }
    };
    listen(events.clone());

    for event in inbox {
        match event {
            Event::Order(order) => match order.trim() {
                STOP => kill(&mut server),
                // One that was killed and is not reaped yet counts as running: the runner waits for the report of its end.
                START if server.is_none() => server = start(&task, &events),
                _ => {}
            },
            Event::ServerEnded => {
                if let Some(status) = server.take().and_then(|mut server| server.wait().ok()) {
                    report(format_args!("{ENDED}{}", how_ended(status)));
                }
            }
            Event::RunnerGone => break,
        }
    }
    kill(&mut server);
    if let Some(mut server) = server {
        let _ = server.wait();
    }
    task.commands.last.iter().for_each(finish);
    remove(&task);
    ExitCode::SUCCESS
}

/// Runs the command that comes before the first start. Errors: the end of what it said, in one line.
fn prepare(task: &Task) -> Result<(), String> {
    let Some(first) = &task.commands.first else { return Ok(()) };
    let output = Command::new(&first[0]).args(&first[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", first[0].display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines[lines.len().saturating_sub(3)..].join(" / ") {
        said if said.is_empty() => Err(format!("{} {}", first[0].display(), how_ended(output.status))),
        said => Err(said),
    }
}

/// Runs a command of the end.
fn finish(command: &CommandLine) {
    let mut last = Command::new(&command[0]);
    last.args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut last) = last.spawn() else { return };
    let begun = Instant::now();
    while matches!(last.try_wait(), Ok(None)) {
        if begun.elapsed() > LAST_LIMIT {
            let _ = last.kill();
            let _ = last.wait();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Starts the server, reports that or why not, and has its end noticed.
fn start(task: &Task, events: &Sender<Event>) -> Option<Child> {
    match spawn(task) {
        Ok(server) => {
            report(format_args!("{STARTED}{}", server.id()));
            watch(server.id(), events.clone());
            Some(server)
        }
        Err(error) => {
            report(format_args!("{FAILED}{error}"));
            None
        }
    }
}

/// Starts the server's process: no stdin, both outputs in the log, dead as soon as this process is.
fn spawn(task: &Task) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(&task.log)?;
    let keeper = Pid::this();
    let line = &task.commands.server;
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).current_dir(&task.folder);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let prepare = move || {
        for ignored in IGNORED {
            // SAFETY: the default action is no handler. (An ignored signal would stay ignored in the server.)
            unsafe { signal(ignored, SigHandler::SigDfl) }?;
        }
        set_pdeathsig(Signal::SIGKILL)?;
        // Had the keeper died just before, nobody would send the signal any more.
        if getppid() != keeper { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only system calls are made (sigaction, prctl, getppid), all async-signal-safe, and
    // nothing is allocated.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// Tells when the server has ended, without reaping it: as long as it is not reaped its process id cannot be given to
/// another process, so the main thread may kill it at any time.
fn watch(server: u32, events: Sender<Event>) {
    let server = Pid::from_raw(server.cast_signed());
    thread::spawn(move || {
        while let Err(nix::errno::Errno::EINTR) = waitid(Id::Pid(server), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
        }
        let _ = events.send(Event::ServerEnded);
    });
}

/// Hands on the orders, and at last that no more can come.
fn listen(events: Sender<Event>) {
    thread::spawn(move || {
        for order in io::stdin().lock().lines() {
            match order {
                Ok(order) => {
                    let _ = events.send(Event::Order(order));
                }
                Err(_) => break,
            }
        }
        let _ = events.send(Event::RunnerGone);
    });
}

/// Kills the server, which has no say in it. It stays to be reaped.
fn kill(server: &mut Option<Child>) {
    if let Some(server) = server {
        let _ = server.kill();
    }
}

/// Removes the server's folder, and the ensemble's when this was the last one in it.
fn remove(task: &Task) {
    for _ in 0..20 {
        match fs::remove_dir_all(&task.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(Duration::from_millis(50)),
            _ => break,
        }
    }
    if let Some(ensemble) = task.folder.parent() {
        // Refused while another node's folder is there: its keeper is going to do this.
        let _ = fs::remove_dir(ensemble);
    }
}

/// Writes one report. A runner that is gone does not read it; that is found out elsewhere.
fn report(line: std::fmt::Arguments<'_>) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// How a process ended, fit to stand after "it".
pub(crate) fn how_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(number)) => {
            let name =
                Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string());
            format!("was killed by {name}")
        }
        (None, None) => "ended".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_read_back() {
        let folder = PathBuf::from("/tmp/bench-runner-1-2-3-4/zookeeper-1");
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<CommandLine>();
        let bare = Commands { server: words("java -version"), ..Commands::default() };
        let whole = Commands {
            first: Some(words("docker create --name x")),
            server: words("docker start --attach x"),
            last: vec![words("docker rm x"), words("docker network rm --last 2")],
        };
        for commands in [bare, whole] {
            let line = arguments(folder.clone(), folder.join("node.log"), commands.clone());
            let task = Task::from_arguments(line.into_iter().skip(1)).unwrap();
            assert_eq!((task.folder, task.log), (folder.clone(), folder.join("node.log")));
            assert_eq!(task.commands, commands);
        }
    }

    #[test]
    fn a_command_line_that_could_do_harm_is_refused() {
        let task = |words: &[&str]| Task::from_arguments(words.iter().map(OsString::from));
        assert!(task(&["/tmp/bench-runner-1-2-3-4/zookeeper-1", "log"]).is_none());
        for cut_off in
            [&["--first", "1"][..], &["--last"], &["--last", "2", "rm"], &["--last", "0", "rm"], &["--last", "x", "rm"]]
        {
            assert!(
                task(&[&["/tmp/bench-runner-1-2-3-4/zookeeper-1", "log"], cut_off].concat()).is_none(),
                "{cut_off:?}"
            );
        }
        for folder in ["/", "/home", "/home/somebody", "..", "", "/tmp/bench-runner-1-2-3-4"] {
            assert!(task(&[folder, "log", "true"]).is_none(), "{folder}");
        }
    }

    #[test]
    fn the_end_of_a_process_is_told_in_words() {
        assert_eq!(how_ended(ExitStatus::from_raw(9)), "was killed by SIGKILL");
        assert_eq!(how_ended(ExitStatus::from_raw(3 << 8)), "exited with code 3");
    }
}
