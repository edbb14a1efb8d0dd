//! A `bench-runner` that runs while the test looks on.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::place::Place;
use crate::process::{self, eventually};

/// A started command whose outputs are read as they come.
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// What a command leaves.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Sees that it ended with the code, and without a panic.
    pub fn expect(self, code: u8) -> Finished {
        assert_eq!(self.code, Some(i32::from(code)), "{self:#?}");
        assert!(!self.stderr.contains("panicked") && !self.stderr.contains("please report it"), "{self:#?}");
        self
    }

    /// Sees that stderr tells all of it.
    pub fn tells(self, words: &[&str]) -> Finished {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in {}", self.stderr);
        }
        self
    }
}

/// Runs the command to its end.
pub fn finished(command: &mut Command) -> Finished {
    Running::start(command).finish()
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        let told = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let so_far = Arc::clone(&told);
        let reader = thread::spawn(move || {
            for line in lines {
                let mut so_far = so_far.lock().unwrap();
                so_far.push_str(&line.unwrap());
                so_far.push('\n');
            }
        });
        Running { child, stdout: Some(stdout), stderr: told, reader: Some(reader) }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        process::signal(self.pid(), signal).unwrap();
    }

    /// Waits until stderr tells this.
    pub fn wait_for(&mut self, words: &str) {
        eventually(&format!("stderr tells `{words}`"), || {
            let told = self.stderr.lock().unwrap().contains(words);
            assert!(told || self.child.try_wait().unwrap().is_none(), "it ended: {}", self.stderr.lock().unwrap());
            told
        });
    }

    /// Waits for the end.
    pub fn finish(mut self) -> Finished {
        let mut code = None;
        eventually("the command ends", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        self.reader.take().unwrap().join().unwrap();
        let stdout = self.stdout.take().unwrap().join().unwrap();
        let stderr = std::mem::take(&mut *self.stderr.lock().unwrap());
        Finished { code: code.unwrap().code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One server of the run in a place, found from outside: by its folder and its process.
pub struct Server {
    pub pid: u32,
    pub port: u16,
}

impl Server {
    /// Waits until the server of that name is a process.
    pub fn wait_for(place: &Place, name: &str) -> Server {
        let mut server = None;
        eventually(&format!("{name} runs"), || {
            server = Server::find(place, name);
            server.is_some()
        });
        server.unwrap()
    }

    fn find(place: &Place, name: &str) -> Option<Server> {
        let folder = place.ensembles().first()?.join(name);
        let settings = fs::read_to_string(folder.join("conf/zoo.cfg")).ok()?;
        let port = settings.lines().find_map(|line| line.strip_prefix("clientPort="))?.parse().ok()?;
        let works_there = |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
        let pid = process::started_with(&place.temporary()).into_iter().find(works_there)?;
        Some(Server { pid, port })
    }

    /// A figure of `mntr`, if the server tells it.
    pub fn figure(&self, name: &str) -> Option<u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        // A server that has only just begun to listen may never answer; it is asked again.
        stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
        stream.write_all(b"mntr").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t')?.parse().ok())
    }

    /// Waits until workers contend: somebody waits for a lock.
    pub fn wait_for_contention(&self) {
        eventually("workers contend", || self.figure("zk_watch_count").is_some_and(|watches| watches > 0));
    }
}
