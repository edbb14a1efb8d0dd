//! The shipped scenarios, and what a scenario means that says little.

use std::time::Duration;

use bench_runner::scenario::{Provider, load};
use workloads::settings::{Arrivals, Delay, Mode, Precautions, Recipe, Service, WorkerSettings};

use super::{SMALLEST, repository, valid};

#[test]
fn each_shipped_scenario_loads() {
    let mut names = Vec::new();
    for entry in repository("scenarios").read_dir().expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let scenario = load(&path, &[]).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert!(scenario.question.is_some(), "{} asks nothing", path.display());
        let mut lines = scenario.text.lines();
        assert_eq!(lines.next(), Some("#:schema ./schema.json"), "{}", path.display());
        assert!(lines.nth(1).is_some_and(|line| line.starts_with("# ")), "{} has no head", path.display());
        names.push(scenario.name);
    }
    names.sort();
    assert_eq!(
        names,
        [
            "1000-workers",
            "1000-workers-etcd",
            "5000-sessions",
            "barriers",
            "barriers-herd",
            "capacity-ensemble",
            "capacity-locks",
            "capacity-sessions",
            "controls",
            "drain",
            "drain-etcd",
            "election-failover",
            "ensemble-leader-kill",
            "gate",
            "leader-pause",
            "mass-crash",
            "open-loop",
            "quick",
            "split-brain",
            "telemetry",
            "zookeeper-vs-etcd"
        ]
    );
}

#[test]
fn shipped_scenarios_ask_what_their_names_say() {
    let of = |name: &str| {
        load(&repository(&format!("scenarios/{name}.toml")), &[]).unwrap_or_else(|error| panic!("{error}"))
    };
    let both = [Recipe::NaiveLock, Recipe::SequentialLock];
    let recipes = |name| of(name).arms.iter().map(|arm| arm.workers.recipe).collect::<Vec<_>>();
    for name in ["quick", "drain", "1000-workers", "open-loop"] {
        assert_eq!(recipes(name), both, "{name}");
    }
    for (of_etcd, of_zookeeper) in [("drain-etcd", "drain"), ("1000-workers-etcd", "1000-workers")] {
        let (of_etcd, of_zookeeper) = (of(of_etcd), of(of_zookeeper));
        assert_eq!(of_etcd.services(), [Service::Etcd]);
        assert_eq!(of_zookeeper.services(), [Service::Zookeeper]);
        for (one, other) in of_etcd.arms.iter().zip(&of_zookeeper.arms) {
            // The defaults of the session's timeout differ, and the drain leaves them alone.
            let session_timeout = other.workers.session_timeout;
            assert_eq!(WorkerSettings { session_timeout, ..one.workers.clone() }, other.workers);
        }
        assert_eq!(of_etcd.trials, of_zookeeper.trials);
    }
    let both_services = of("zookeeper-vs-etcd");
    assert_eq!(both_services.services(), [Service::Zookeeper, Service::Etcd]);
    assert_eq!(recipes("zookeeper-vs-etcd"), [both, both].concat());
    assert!(of("drain").arms.iter().all(|arm| arm.workers.mode == Mode::Drain && arm.workers.workers == 200));
    assert!(of("drain").arms.iter().all(|arm| arm.workers.hold == Delay::NONE && arm.telemetry));
    assert!(of("1000-workers").arms.iter().all(|arm| arm.workers.workers == 1000));
    assert_eq!(of("1000-workers").ensemble.nodes, 3);
    assert!(of("open-loop").arms.iter().all(|arm| matches!(arm.workers.mode, Mode::Open(Arrivals::Poisson(_)))));
    let failover = of("election-failover");
    assert_eq!(failover.services(), [Service::Zookeeper, Service::Etcd]);
    assert!(failover.arms.iter().all(|arm| arm.workers.workers == 200 && arm.workers.recipe.is_election()));
    assert!(failover.arms.iter().all(|arm| arm.workers.hold == Delay::Forever && arm.workers.precautions.crash));
    assert_eq!(failover.faults[0].due(failover.trials.duration).len(), 20);
    assert!(of("mass-crash").arms.iter().all(|arm| arm.workers.workers == 1000 && arm.workers.precautions.crash));
    assert!(of("leader-pause").arms.iter().all(|arm| arm.workers.precautions.pause));
    assert!(
        of("ensemble-leader-kill")
            .arms
            .iter()
            .all(|arm| arm.workers.precautions == Precautions { faults: true, ..Precautions::default() })
    );
    let sessions = of("5000-sessions");
    assert_eq!((sessions.ensemble.nodes, sessions.arms[0].workers.workers), (1, 5000));
    assert_eq!(recipes("5000-sessions"), [Recipe::IdleSession]);
}

#[test]
fn defaults() {
    let scenario = valid(SMALLEST, &[]);
    assert_eq!((scenario.name.as_str(), scenario.question.as_deref(), scenario.seed), ("test", None, 1));
    assert_eq!(scenario.text, SMALLEST);
    assert_eq!(scenario.sha256.len(), 64);
    assert_eq!((scenario.ensemble.provider, scenario.ensemble.nodes), (Provider::Local, 3));
    let zookeeper = &scenario.ensemble.zookeeper;
    assert_eq!((zookeeper.tick, zookeeper.heap.as_str(), zookeeper.fsync), (Duration::from_secs(1), "512m", true));
    assert_eq!((zookeeper.base_port, zookeeper.jvm_flags.len()), (None, 0));
    assert_eq!(scenario.trials.count, 3);
    assert_eq!((scenario.bystanders.sessions, scenario.bystanders.rate), (4, 10.0));
    let etcd = &scenario.ensemble.etcd;
    assert_eq!((etcd.heartbeat_interval, etcd.election_timeout), (Duration::from_millis(100), Duration::from_secs(1)));
    assert_eq!((etcd.quota_mib, etcd.fsync, etcd.base_port), (2048, true, None));
    let arm = &scenario.arms[0];
    assert_eq!((arm.label.as_str(), arm.service, arm.telemetry), ("lock/naive", Service::Zookeeper, true));
    let workers = &arm.workers;
    assert_eq!((workers.workers, workers.resources, workers.mode), (2, 1, Mode::Closed));
    assert_eq!((workers.hold, workers.think), (Delay::NONE, Delay::NONE));
    assert_eq!((workers.session_timeout, workers.connect_concurrency), (Duration::from_secs(20), 64));
    assert_eq!(workers.seed, 1);
}

#[test]
fn etcd_has_defaults_of_its_own() {
    let etcd = |lines: &str| {
        let text = SMALLEST.replace("version = 1\n", &format!("version = 1\nservice = \"etcd\"\n{lines}"));
        valid(&text, &[]).arms[0].workers.clone()
    };
    assert_eq!((etcd("").session_timeout, etcd("").connections), (Duration::from_secs(20), None));
    // Servers that grant no lease of 20 s give the shortest that they have.
    let slow = "ensemble.etcd = { heartbeat_interval = \"2s\", election_timeout = \"20s\" }\n";
    assert_eq!(etcd(slow).session_timeout, Duration::from_secs(30));
    let shared = SMALLEST.replace("count = 2\n", "count = 2\nconnections = 1\n");
    let shared = format!("{shared}service = \"etcd\"\n[[arm]]\nrecipe = \"lock/sequential\"\n");
    let arms = valid(&shared, &[]).arms;
    assert_eq!((arms[0].workers.connections, arms[1].workers.connections), (Some(1), None));
}

#[test]
fn an_arm_overrides_the_workers_key_by_key() {
    let scenario = valid(
        r#"
version = 1
seed = 7
[workers]
count = 100
mode = "open"
arrivals = { rate = 50 }
hold = { exponential = "5ms" }
[[arm]]
recipe = "lock/naive"
label = "as they come"
[[arm]]
recipe = "lock/naive"
label = "closed"
workers = { count = 9, locks = 3, mode = "closed", think = { uniform = ["1ms", "2ms"] }, telemetry = false }
"#,
        &[],
    );
    let [open, closed] = &scenario.arms[..] else { panic!("two arms") };
    assert_eq!(open.workers.mode, Mode::Open(Arrivals::Poisson(50.0)));
    assert_eq!(open.workers.hold, Delay::Exponential(Duration::from_millis(5)));
    assert_eq!((closed.workers.mode, closed.workers.workers, closed.workers.resources), (Mode::Closed, 9, 3));
    assert_eq!(closed.workers.hold, open.workers.hold);
    assert_eq!(closed.workers.think, Delay::Uniform(Duration::from_millis(1), Duration::from_millis(2)));
    assert!(open.telemetry && !closed.telemetry);
    assert_eq!((open.workers.seed, closed.workers.seed), (7, 7));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let windows = format!("\u{feff}{}", SMALLEST.replace('\n', "\r\n"));
    assert_eq!(valid(&windows, &[]).arms, valid(SMALLEST, &[]).arms);
}

/// What the guide in the folder calls the smallest scenario, and its fault.
#[test]
fn the_examples_of_the_readme_load() {
    let readme = std::fs::read_to_string(repository("scenarios/README.md")).expect("it is there");
    let example = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let set = "--set trials.duration=10s --set arm.0.workers.count=10 --set 'workers.hold={ exponential = \"5ms\" }'";
    assert!(readme.contains(set));
    let overrides = ["trials.duration=10s", "arm.0.workers.count=10", "workers.hold={ exponential = \"5ms\" }"];
    assert_eq!(valid(example, &overrides).arms[0].workers.workers, 10);
    let fault = readme.split("```toml\n").nth(2).and_then(|rest| rest.split("```").next()).expect("another example");
    assert_eq!(valid(&format!("{example}{fault}"), &["trials.duration=2m"]).faults[0].count, Some(20));
}
