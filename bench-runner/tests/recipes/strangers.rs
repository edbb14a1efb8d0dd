//! Apache Curator's own InterProcessMutex and LeaderLatch in one queue with ours: each waits for the other, in the order in which they
//! came.
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, mpsc};

use tempfile::TempDir;
use uuid::Uuid;
use workloads::recipe::Lock;
use workloads::zookeeper::{LeaderLatch, SequentialLock};

use crate::place::{PATIENCE, Place, acquiring, on_ensemble, within};

/// Debian's Curator; its manifest names what it needs.
const CURATOR: &str = "/usr/share/java/curator-recipes.jar";

/// A program of the Java installation.
fn java(program: &str) -> PathBuf {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin").join(program));
    home.filter(|path| path.is_file()).unwrap_or_else(|| program.into())
}

/// The strangers' class, compiled once.
static CLASSES: LazyLock<TempDir> = LazyLock::new(|| {
    let classes = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recipes/Stranger.java");
    let compiled = Command::new(java("javac"))
        .args(["-cp", CURATOR, "-d"])
        .arg(classes.path())
        .arg(source)
        .output()
        .expect("a Java compiler is installed: scripts/setup --test");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    classes
});

/// Strangers in a process of their own, each with a name and a session.
struct Strangers {
    process: Child,
    lines: mpsc::Receiver<String>,
}

impl Strangers {
    /// `kind` is `mutex` or `latch`.
    fn at(place: &Place, kind: &str) -> Strangers {
        let mut process = Command::new(java("java"))
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-cp"])
            .arg(format!("{}:{CURATOR}", CLASSES.path().display()))
            .args(["Stranger", &place.ensemble.connect_string(), &place.base, kind])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Its logging says that there is none.
            .stderr(Stdio::null())
            .spawn()
            .expect("java is installed");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        Strangers { process, lines: told }
    }

    /// Tells one of them to do something.
    fn tell(&mut self, order: &str) {
        writeln!(self.process.stdin.as_ref().unwrap(), "{order}").unwrap();
    }

    /// Waits for what they say next.
    fn say(&self, line: &str) {
        assert_eq!(self.lines.recv_timeout(PATIENCE).expect("a stranger says something"), line);
    }

    /// That they have said nothing more by now.
    fn are_silent(&self) -> bool {
        self.lines.try_recv().is_err()
    }

    /// Lets them close their sessions and end.
    fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Strangers {
    /// By its id, where a test failed; one that ended is gone already.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// That an entry is called just as Curator calls one.
fn is_curators(entry: &str, name: &str, number: usize) {
    let (uuid, rest) = entry.strip_prefix("_c_").unwrap().split_at(36);
    assert_eq!(Uuid::parse_str(uuid).unwrap().hyphenated().to_string(), uuid, "{entry}");
    assert_eq!(rest, format!("-{name}{number:010}"), "{entry}");
}

/// Theirs, ours, theirs, ours; each waits for the one before it, and for nobody else.
fn each_waits_for_the_other<L: Lock + 'static>(kind: &'static str, name: &'static str, new: impl AsyncFn(&Place) -> L) {
    on_ensemble(async |place| {
        let mut strangers = Strangers::at(place, kind);
        strangers.tell("acquire first");
        strangers.say("granted first");

        let ours = acquiring(new(place).await);
        place.queued(2).await;
        place.watched(1).await;
        strangers.tell("acquire second");
        place.queued(3).await;
        place.watched(2).await;
        let last = acquiring(new(place).await);
        let entries = place.queued(4).await;
        place.watched(3).await;
        (0..).zip(&entries).for_each(|(number, entry)| is_curators(entry, name, number));
        assert!(strangers.are_silent() && !ours.is_finished() && !last.is_finished());

        strangers.tell("release first");
        strangers.say("released first");
        let (mut ours, grant, _) = within(ours).await.unwrap();
        let grant = grant.unwrap();
        assert_eq!(grant.path, format!("{}/{}", place.base, entries[1]));
        place.watched(2).await;
        assert!(strangers.are_silent() && !last.is_finished());

        ours.release(grant).await.unwrap();
        strangers.say("granted second");
        place.watched(1).await;
        assert!(!last.is_finished());

        strangers.tell("release second");
        strangers.say("released second");
        let (mut last, grant, _) = within(last).await.unwrap();
        let grant = grant.unwrap();
        assert_eq!(grant.path, format!("{}/{}", place.base, entries[3]));

        // And once more the other way round: theirs behind ours.
        strangers.tell("acquire first");
        place.queued(2).await;
        place.watched(1).await;
        assert!(strangers.are_silent());
        last.release(grant).await.unwrap();
        strangers.say("granted first");
        strangers.tell("release first");
        strangers.say("released first");
        place.left_clean().await;
        strangers.end();
    });
}

#[test]
fn curators_mutex_stands_in_our_queue_and_we_in_its() {
    each_waits_for_the_other("mutex", "lock-", async |place| SequentialLock::new(place.session().await, &place.base));
}

#[test]
fn curators_leader_latch_campaigns_against_us_and_we_against_it() {
    each_waits_for_the_other("latch", "latch-", async |place| {
        LeaderLatch::new(place.session().await, &place.base, "ours")
    });
}

/// The process of the holder is killed: its session expires, and the lock is ours.
#[test]
fn a_stranger_that_dies_hands_over_to_us() {
    on_ensemble(async |place| {
        let mut strangers = Strangers::at(place, "mutex");
        strangers.tell("acquire first");
        strangers.say("granted first");
        let ours = acquiring(SequentialLock::new(place.session().await, &place.base));
        place.queued(2).await;
        place.watched(1).await;
        drop(strangers);
        let (mut ours, grant, _) = within(ours).await.unwrap();
        ours.release(grant.unwrap()).await.unwrap();
        place.left_clean().await;
    });
}
