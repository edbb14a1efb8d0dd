//! The ensemble stage on real servers.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.

mod faults;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bench_runner::ensemble::{Ensemble, EnsembleError, LocalSettings, Node, Role, Search, ZookeeperSettings, keeper};

/// How long a condition may take to come true before a test fails. No test asserts a time.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings(nodes: u32) -> ZookeeperSettings {
    ZookeeperSettings { nodes, heap: "128m".into(), fsync: false, ..ZookeeperSettings::default() }
}

async fn start(settings: &ZookeeperSettings) -> Result<Ensemble, EnsembleError> {
    start_any(settings.clone()).await
}

async fn start_any(settings: impl Into<LocalSettings>) -> Result<Ensemble, EnsembleError> {
    keeper::set_program(env!("CARGO_BIN_EXE_bench-runner"));
    Ensemble::start(settings, &|sentence| eprintln!("{sentence}")).await
}

/// Waits until `condition` holds.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether the process runs. One that ended and was not reaped by whoever inherited it does not run.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

fn kill(pid: u32) {
    let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

/// The node's folder: the server's working directory.
fn folder_of(node: &Node) -> PathBuf {
    fs::read_link(format!("/proc/{}/cwd", node.pid())).unwrap()
}

/// What must be gone after an ensemble: its processes (servers and keepers) and its folder.
#[derive(Debug)]
struct Traces {
    pids: Vec<u32>,
    folder: PathBuf,
}

impl Traces {
    fn of(ensemble: &Ensemble) -> Traces {
        let pids = ensemble.nodes().iter().flat_map(|node| [node.pid(), node.keeper_pid()]).collect();
        let folder = folder_of(&ensemble.nodes()[0]).parent().unwrap().to_path_buf();
        Traces { pids, folder }
    }

    fn gone(&self) -> bool {
        !self.pids.iter().any(|pid| runs(*pid)) && !self.folder.exists()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_serve_tell_and_leave_nothing() {
    let ensemble = start(&settings(3)).await.unwrap();
    let traces = Traces::of(&ensemble);
    assert_eq!(traces.pids.iter().filter(|pid| runs(**pid)).count(), 6);

    let description = ensemble.describe().await.unwrap();
    let count = |role| description.nodes.iter().filter(|node| node.role == role).count();
    assert_eq!((count(Role::Leader), count(Role::Follower)), (1, 2), "{description:?}");
    assert_eq!(description.nodes[0].name, "zookeeper-1");
    assert_eq!(ensemble.endpoints().len(), 3);
    assert_eq!(description.settings["tickTime"], "500");
    assert_eq!(description.settings["forceSync"], "no");
    assert!(description.version.starts_with(|first: char| first.is_ascii_digit()), "{description:?}");
    assert!(
        description.java.as_ref().is_some_and(|java| java.starts_with(|first: char| first.is_ascii_digit())),
        "{description:?}"
    );

    one_watch_is_one_notification(&ensemble).await;

    let sample = ensemble.sample().await;
    assert_eq!(sample.watches(), Some(0), "{sample:?}");
    for (node, usage) in sample.nodes.iter().zip(ensemble.usage()) {
        assert_eq!(node.name, usage.name);
        assert!(node.cpu_seconds > Some(0.0) && usage.cpu_seconds >= node.cpu_seconds, "{node:?} {usage:?}");
        assert!(node.rss_bytes > Some(0) && usage.peak_rss_bytes >= node.rss_bytes, "{node:?} {usage:?}");
        assert_eq!(node.connections, Some(0), "{node:?}");
        eprintln!("{} has {} MiB resident", node.name, node.rss_bytes.unwrap() >> 20);
    }

    ensemble.check_alive().unwrap();
    ensemble.stop().await.unwrap();
    assert!(traces.gone(), "{traces:?}");
}

/// The servers' books: one deletion with one watch on it counts as one, and sessions and watches go when they are done.
async fn one_watch_is_one_notification(ensemble: &Ensemble) {
    let before = ensemble.counters().await.unwrap();
    assert_eq!((before.sessions, before.watches, before.notifications.unwrap().total), (0, 0, 0), "{before:?}");

    let servers = ensemble.connect_string();
    let connect = || zookeeper_client::Client::connect(&servers);
    let (waiter, holder) = (connect().await.unwrap(), connect().await.unwrap());
    let mode = zookeeper_client::CreateMode::Ephemeral.with_acls(zookeeper_client::Acls::anyone_all());
    holder.create("/held", b"", &mode).await.unwrap();
    waiter.sync("/held").await.unwrap();
    let (_, _, watcher) = waiter.get_and_watch_data("/held").await.unwrap();
    let armed = ensemble.counters().await.unwrap();
    assert_eq!((armed.sessions, armed.watches), (2, 1), "{armed:?}");
    let unsettled = ensemble.settled(1, 0, Duration::ZERO).await.unwrap_err();
    assert!(unsettled.to_string().contains("2 sessions and 1 watches"), "{unsettled}");

    holder.delete("/held", None).await.unwrap();
    watcher.changed().await;
    let after = ensemble.counters_at_rest(PATIENCE).await.unwrap().since(&before).unwrap();
    let notifications = after.notifications.unwrap();
    assert_eq!((notifications.kinds.unwrap().deleted, notifications.total), (1, 1), "{after:?}");
    assert!(after.packets_received > 0 && after.packets_sent > 0, "{after:?}");

    drop((waiter, holder));
    ensemble.settled(0, 0, PATIENCE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_node_stands_alone_and_goes_when_dropped() {
    let ensemble = start(&settings(1)).await.unwrap();
    let traces = Traces::of(&ensemble);
    let description = ensemble.describe().await.unwrap();
    assert_eq!(description.nodes.iter().map(|node| node.role).collect::<Vec<_>>(), [Role::Standalone]);
    assert_eq!(ensemble.counters().await.unwrap().sessions, 0);
    // Out of the reach of a Ctrl-C in this process's terminal.
    let (server, keeper) = (ensemble.nodes()[0].pid(), ensemble.nodes()[0].keeper_pid());
    let group = |pid: u32| procfs::process::Process::new(pid.cast_signed()).unwrap().stat().unwrap().pgrp;
    assert_eq!((group(server), group(keeper)), (keeper.cast_signed(), keeper.cast_signed()));
    drop(ensemble);
    assert!(traces.gone(), "{traces:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_is_named_with_the_end_of_its_log() {
    let ensemble = start(&settings(3)).await.unwrap();
    let traces = Traces::of(&ensemble);
    let victim = &ensemble.nodes()[1];
    kill(victim.pid());
    eventually("the loss is noticed", || ensemble.check_alive().is_err());
    let error = ensemble.check_alive().unwrap_err();
    assert!(matches!(&error, EnsembleError::Lost { node, .. } if node == "zookeeper-2"), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("zookeeper-2 was lost: it was killed by SIGKILL"), "{text}");
    assert!(text.contains("its log ends with:\n  | ") && text.contains("zookeeper"), "{text}");
    // Figures of what it was stay; questions that need it fail with the same.
    assert!(ensemble.usage()[1].name == "zookeeper-2");
    assert!(matches!(ensemble.counters().await, Err(EnsembleError::Lost { .. })));
    ensemble.stop().await.unwrap();
    assert!(traces.gone(), "{traces:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_keeper_takes_its_server_along() {
    let ensemble = start(&settings(1)).await.unwrap();
    let traces = Traces::of(&ensemble);
    let (server, keeper) = (ensemble.nodes()[0].pid(), ensemble.nodes()[0].keeper_pid());
    kill(keeper);
    eventually("the server goes", || !runs(server));
    eventually("the loss is noticed", || ensemble.check_alive().is_err());
    let text = ensemble.check_alive().unwrap_err().to_string();
    assert!(text.contains("zookeeper-1 was lost: it went with its keeper"), "{text}");
    ensemble.stop().await.unwrap();
    assert!(traces.gone(), "{traces:?}");
}

/// Set for the process that [`holder`] is to be: how many nodes, and whether it is to break some of them.
const HOLD: &str = "BENCH_RUNNER_TEST_HOLDS_AN_ENSEMBLE";

/// Not a test of its own: the process that the tests below kill. It holds an ensemble until then.
#[tokio::test(flavor = "multi_thread")]
async fn holder() {
    let Ok(order) = std::env::var(HOLD) else { return };
    let (nodes, breaks) = order.split_once(' ').unwrap();
    let ensemble = start(&settings(nodes.parse().unwrap())).await.unwrap();
    let traces = Traces::of(&ensemble);
    if breaks == "true" {
        ensemble.kill_node(0).await.unwrap();
        ensemble.pause_node(1).await.unwrap();
    }
    let pids: Vec<String> = traces.pids.iter().map(u32::to_string).collect();
    println!("\nholds {} {}", traces.folder.display(), pids.join(" "));
    std::future::pending::<()>().await;
}

/// Starts this test binary as a holder of `nodes` nodes with its temporary folder at `place`; it kills the first node and
/// pauses the second if it `breaks` them.
fn spawn_holder(nodes: u32, breaks: bool, place: &Path) -> (Child, Traces) {
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder", "--nocapture"])
        .env(HOLD, format!("{nodes} {breaks}"))
        .env("TMPDIR", place)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find_map(|line| line.strip_prefix("holds ").map(String::from)).expect("the holder holds");
    let mut words = line.split(' ');
    let folder = PathBuf::from(words.next().unwrap());
    (holder, Traces { folder, pids: words.map(|pid| pid.parse().unwrap()).collect() })
}

#[test]
fn a_killed_runner_leaves_no_server_no_keeper_and_no_folder() {
    let place = tempfile::tempdir().unwrap();
    let (mut holder, traces) = spawn_holder(3, false, place.path());
    assert_eq!(traces.pids.iter().filter(|pid| runs(**pid)).count(), 6);
    assert!(traces.folder.starts_with(place.path()), "{traces:?}");
    kill(holder.id());
    eventually("all of it is gone", || traces.gone());
    holder.wait().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_left_by_runner_and_keeper_killed_at_once_is_swept_by_the_next_start() {
    let place = tempfile::tempdir().unwrap();
    let (mut first, left) = spawn_holder(1, false, place.path());
    let (server, keeper) = (left.pids[0], left.pids[1]);
    // Stopped, the keeper cannot see that the runner goes, as if both were killed at the same moment.
    let stop = nix::sys::signal::Signal::SIGSTOP;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(keeper.cast_signed()), stop).unwrap();
    kill(first.id());
    first.wait().unwrap();
    kill(keeper);
    eventually("the server goes with its keeper", || !runs(server) && !runs(keeper));
    assert!(left.folder.exists());

    let (mut second, traces) = spawn_holder(1, false, place.path());
    assert!(!left.folder.exists());
    kill(second.id());
    second.wait().unwrap();
    eventually("all of it is gone", || traces.gone());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_cancelled_leaves_nothing() {
    // Other servers come and go meanwhile; this one is known by a flag.
    let flag = format!("-Dcancelled.by={}", std::process::id());
    let settings = ZookeeperSettings { jvm_flags: vec![flag.clone()], ..settings(1) };
    let server_runs = async {
        loop {
            let processes = procfs::process::all_processes().unwrap().flatten();
            let mut servers = processes.filter(|process| {
                let line = process.cmdline().unwrap_or_default();
                line.contains(&flag) && line.first().is_some_and(|program| program.ends_with("/java"))
            });
            if let Some(server) = servers.next()
                && let Ok(folder) = server.cwd()
            {
                break (server.pid().cast_unsigned(), folder.parent().unwrap().to_path_buf());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (server, folder) = tokio::select! {
        seen = server_runs => seen,
        started = start(&settings) => panic!("it was to be cancelled: {started:?}"),
    };
    assert!(!runs(server));
    assert!(!folder.exists(), "{folder:?}");
}

#[tokio::test]
async fn what_is_not_installed_is_named_with_the_remedy() {
    let nowhere = tempfile::tempdir().unwrap();
    let search = Search { zookeeper_home: None, jars: nowhere.path().into(), ..Search::from_env() };
    let error = Ensemble::start_from(settings(3), &search, &|_| {}).await.unwrap_err();
    assert!(matches!(error, EnsembleError::NotInstalled { .. }));
    let text = error.to_string();
    for remedy in ["scripts/setup", "`zookeeper`", "ZOOKEEPER_HOME", "JAVA_HOME"] {
        assert!(text.contains(remedy), "{text}");
    }
}

#[tokio::test]
async fn a_taken_port_is_named() {
    // A base port whose neighbours may be taken too would do: the first of them is named.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = start(&ZookeeperSettings { base_port: Some(port), ..settings(1) }).await.unwrap_err();
    assert!(matches!(error, EnsembleError::PortTaken { port: named, .. } if named == port), "{error}");
    assert!(error.to_string().contains(&format!("port {port} of 127.0.0.1 is taken by process")), "{error}");
}

/// A port that begins a range of nine free ones.
fn free_base() -> u16 {
    let free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    let bases = std::iter::repeat_with(|| rand::random_range(10_240..32_000));
    bases.take(1000).find(|base| (*base..*base + 9).all(free)).expect("nine free ports in a row")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_port_is_where_the_clients_ports_begin() {
    let base = free_base();
    let ensemble = start(&ZookeeperSettings { base_port: Some(base), ..settings(3) }).await.unwrap();
    let ports: Vec<u16> = ensemble.nodes().iter().map(|node| node.endpoint().port()).collect();
    assert_eq!(ports, [base, base + 1, base + 2]);
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_somebody_takes_while_the_servers_start_is_named() {
    keeper::set_program(env!("CARGO_BIN_EXE_bench-runner"));
    // The client's port of the only node; of three nodes one's for elections, and all for the leader, whoever leads.
    for (nodes, offsets) in [(1, 0..1), (3, 8..9), (3, 3..6)] {
        let base = free_base();
        let settings = ZookeeperSettings { base_port: Some(base), ..settings(nodes) };
        let thief = std::sync::Mutex::new(Vec::new());
        // The first sentence comes after the ports were checked and before a server runs.
        let steal = |_: &str| {
            let mut stolen = thief.lock().unwrap();
            if stolen.is_empty() {
                let bind = |offset| std::net::TcpListener::bind(("127.0.0.1", base + offset)).unwrap();
                stolen.extend(offsets.clone().map(bind));
            }
        };
        let error = Ensemble::start(settings, &steal).await.unwrap_err();
        let expected = base + offsets.start;
        assert!(matches!(error, EnsembleError::PortTaken { port, .. } if port == expected), "{expected}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_start_is_told_with_its_log() {
    let broken = ZookeeperSettings { jvm_flags: vec!["-XX:NoSuchFlag=1".into()], ..settings(1) };
    let error = start(&broken).await.unwrap_err();
    assert!(matches!(error, EnsembleError::Start { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("zookeeper-1 did not start: it exited with code 1"), "{text}");
    assert!(text.contains("NoSuchFlag"), "{text}");
}

#[tokio::test]
async fn a_setting_that_nobody_can_meet_is_refused_first() {
    // In a task of its own, as a runner may have it.
    let error = tokio::spawn(async { start(&settings(0)).await.unwrap_err() }).await.unwrap();
    assert!(matches!(error, EnsembleError::Settings { .. }), "{error}");
}
