//! Whole runs of the program on etcd.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Starts a run of a shipped scenario; its summary comes on stdout.
fn begin(scenario: &str, set: &[&str], results: &std::path::Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench-runner"));
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    command.arg("run").arg(scenarios.join(scenario)).args(["--format", "json", "--quiet", "--out"]).arg(results);
    command.args(set.iter().flat_map(|set| ["--set", set]));
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// The summary of a run, and its exit code.
fn end(mut run: Child) -> (Value, Option<i32>) {
    let mut text = String::new();
    run.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let code = run.wait().unwrap().code();
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")), code)
}

#[test]
fn a_settled_drain_costs_what_the_closed_form_says_in_all_books() {
    let results = tempfile::tempdir().unwrap();
    let (summary, code) = end(begin("drain-etcd.toml", &["workers.count=50", "trials.count=2"], results.path()));
    assert_eq!((code, &summary["complete"]), (Some(0), &Value::Bool(true)), "{summary}");
    assert_eq!(summary["service"], "etcd");
    for (arm, expected) in [(0, 1225), (1, 49)] {
        let arm = &summary["arms"][arm];
        for trial in arm["trial"].as_array().unwrap() {
            let books = &trial["notifications"];
            assert_eq!((&books["client"], &books["expected"]), (&expected.into(), &expected.into()), "{books}");
            // The servers' own count, or the reason why there is none.
            match &books["server"] {
                Value::Null => assert!(books["server_missing"].is_string(), "{books}"),
                server => assert_eq!(server, &Value::from(expected), "{books}"),
            }
            assert_eq!(books["untracked"], 0, "{books}");
        }
        assert_eq!((&arm["safety"]["overlaps"], &arm["grants"]), (&0.into(), &100.into()), "{arm}");
    }
}

#[test]
fn one_report_holds_arms_of_both_services() {
    let results = tempfile::tempdir().unwrap();
    let set = ["workers.count=10", "trials.count=1", "trials.duration=1s", "trials.warmup=0s"];
    let (summary, code) = end(begin("zookeeper-vs-etcd.toml", &set, results.path()));
    assert_eq!(code, Some(0), "{summary}");
    assert_eq!(summary["service"], "zookeeper + etcd");
    let versions = summary["ensemble"]["versions"].as_object().unwrap();
    assert_eq!(versions.keys().collect::<Vec<_>>(), ["etcd", "zookeeper"]);
    let services: Vec<&str> =
        summary["arms"].as_array().unwrap().iter().map(|arm| arm["service"].as_str().unwrap()).collect();
    assert_eq!(services, ["zookeeper", "zookeeper", "etcd", "etcd"]);
    // Each naive lock against the herd-free one of its own service.
    let contrasts: Vec<(&str, &str)> = summary["contrasts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|contrast| (contrast["naive"].as_str().unwrap(), contrast["herd_free"].as_str().unwrap()))
        .collect();
    assert_eq!(contrasts, [("ZooKeeper naive", "ZooKeeper sequential"), ("etcd naive", "etcd sequential")]);
    assert_eq!(summary["nodes"].as_array().unwrap().len(), 6);
    let folders: Vec<_> = results.path().join("zookeeper-vs-etcd").read_dir().unwrap().flatten().collect();
    let page = std::fs::read_to_string(folders[0].path().join("report.html")).unwrap();
    assert!(["ZooKeeper naive", "etcd sequential", "--election-timeout"].iter().all(|word| page.contains(word)));
}

#[test]
fn shared_connections_are_told() {
    let results = tempfile::tempdir().unwrap();
    let set = ["workers.count=20", "trials.count=1", "workers.connections=4"];
    let (summary, code) = end(begin("drain-etcd.toml", &set, results.path()));
    assert_eq!(code, Some(0), "{summary}");
    assert_eq!(summary["arms"][0]["connections"], 4);
    assert_eq!(summary["arms"][1]["notifications"]["client"], 19);
    let folders: Vec<_> = results.path().join("drain-etcd").read_dir().unwrap().flatten().collect();
    let page = std::fs::read_to_string(folders[0].path().join("report.html")).unwrap();
    assert!(page.contains("20 workers over 4 shared connections"));
}

/// What an etcd server says of itself.
struct Server {
    pid: u32,
    leads: bool,
    watched: bool,
}

/// The etcd servers below a process, with what each says of itself.
fn servers_below(runner: u32) -> Vec<Server> {
    let processes: Vec<_> =
        procfs::process::all_processes().unwrap().flatten().filter_map(|process| process.stat().ok()).collect();
    let keepers = processes.iter().filter(|process| process.ppid == runner.cast_signed());
    let servers = keepers.flat_map(|keeper| processes.iter().filter(move |process| process.ppid == keeper.pid));
    servers
        .filter_map(|server| {
            let line = procfs::process::Process::new(server.pid).ok()?.cmdline().ok()?;
            let url = line.iter().find_map(|flag| flag.strip_prefix("--listen-client-urls="))?.to_owned();
            let page = get(url.strip_prefix("http://")?, "/metrics")?;
            let leads = page.lines().any(|line| line == "etcd_server_is_leader 1");
            // A waiter's watch: the workers contend.
            let watched = page.lines().any(|line| {
                line.strip_prefix("etcd_debugging_mvcc_watcher_total ").is_some_and(|watchers| watchers != "0")
            });
            Some(Server { pid: server.pid.cast_unsigned(), leads, watched })
        })
        .collect()
}

fn get(address: &str, path: &str) -> Option<String> {
    use std::io::Write;
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

fn signal(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

/// etcd #14641: the leader of the ensemble is stopped, for long enough that another one is elected, and comes back. No
/// worker hangs for ever, nobody holds what another one holds, and the run ends and tells.
#[test]
fn a_leader_that_stops_and_comes_back_is_survived_and_told() {
    let results = tempfile::tempdir().unwrap();
    let set = [
        "workers.count=12",
        "workers.session_timeout=6s",
        "workers.hold=5ms",
        "trials.count=1",
        "trials.warmup=0s",
        "trials.duration=20s",
        "bystanders.sessions=0",
    ];
    let run = begin("1000-workers-etcd.toml", &set, results.path());
    let begun = std::time::Instant::now();
    let stopped = loop {
        assert!(begun.elapsed() < super::PATIENCE, "no leader, or nobody waits");
        let servers = servers_below(run.id());
        let contended = servers.len() == 3 && servers.iter().any(|server| server.watched);
        match servers.iter().find(|server| server.leads) {
            Some(leader) if contended => break leader.pid,
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    signal(stopped, Signal::SIGSTOP);
    // The fault itself: longer than an election takes.
    std::thread::sleep(Duration::from_secs(6));
    signal(stopped, Signal::SIGCONT);

    let (summary, code) = end(run);
    // Done, or ended because the workers of the stopped node lost their leases; never unsafe.
    assert!(matches!(code, Some(0 | 3)), "{code:?}: {summary}");
    for arm in summary["arms"].as_array().unwrap() {
        assert_eq!(arm["safety"]["overlaps"], 0, "{arm}");
        assert_eq!(arm["safety"]["token_regressions"], 0, "{arm}");
        assert!(arm["grants"].as_u64().unwrap() > 0, "{arm}");
    }
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("did not answer") || warnings.contains("elected a new leader"), "{warnings}");
}
