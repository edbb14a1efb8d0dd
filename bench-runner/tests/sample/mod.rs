//! Summaries to test the report with: plausible figures, and the edges.

mod arm;
mod failover;
mod proof;

use std::collections::BTreeMap;

use bench_runner::measure::figures::{Arm, Contrast, Failover, Failovers, Quantity, Safety};
use bench_runner::results::summary::{Ensemble, Environment, Generator, Node, SCHEMA_VERSION, Summary, Warning};
use workloads::settings::Recipe;

use arm::{Shape, arm, latency};
pub use failover::failovers;

/// Every sample with its name.
pub fn all() -> Vec<(&'static str, Summary)> {
    vec![
        ("two_arms", two_arms()),
        ("drain", drain()),
        ("open_loop", open_loop()),
        ("six_arms", six_arms()),
        ("alarms", alarms()),
        ("no_grants", no_grants()),
        ("idle", idle()),
        ("huge", huge()),
        ("nothing", nothing()),
        ("hostile", hostile()),
        ("failovers", failovers()),
        ("faults", failover::faults()),
        ("proof", proof::proof()),
    ]
}

/// 1,000 workers, both locks, closed loop: the run that the suite is for.
pub fn two_arms() -> Summary {
    let naive = arm("lock/naive", &Shape::naive(1_000));
    let free = arm("lock/sequential", &Shape::sequential(1_000));
    summary("1000-workers", vec![naive, free])
}

/// A settled drain of 200 workers: all three books at hand, and they agree.
fn drain() -> Summary {
    let mut arms = vec![arm("lock/naive", &Shape::naive(200)), arm("lock/sequential", &Shape::sequential(200))];
    for (arm, per_trial) in arms.iter_mut().zip([19_900, 199]) {
        arm.mode = "drain".to_owned();
        arm.grants = 600;
        for (books, times) in
            arm.trial.iter_mut().map(|trial| (&mut trial.notifications, 1)).chain([(&mut arm.notifications, 3)])
        {
            books.client = per_trial * times;
            books.server = Some(per_trial * times);
            books.expected = Some(per_trial * times);
            books.untracked = 0;
        }
    }
    arms[0].fan_out.mean = Some(99.5);
    summary("drain", arms)
}

/// Arrivals at a rate that both locks keep up with, more or less.
fn open_loop() -> Summary {
    let mut arms = vec![arm("lock/naive", &Shape::naive(50)), arm("lock/sequential", &Shape::sequential(50))];
    for (arm, unserved) in arms.iter_mut().zip([41, 0]) {
        arm.mode = "open".to_owned();
        arm.grants_per_second = Quantity { mean: 200.0, spread: Some(1.5), min: 198.0, max: 201.0 };
        arm.service_ms = latency(arm.acquire_ms.p99.unwrap_or(1.0) * 0.6);
        for trial in &mut arm.trial {
            trial.unserved = Some(unserved);
        }
    }
    summary("open-loop", arms)
}

/// Six arms, some of them with labels as long as labels get.
fn six_arms() -> Summary {
    let label = |index: usize| match index {
        0 => "lock/naive".to_owned(),
        1 => "lock/sequential".to_owned(),
        2 => "sequential, hold drawn from exponential M".to_owned(),
        3 => "naive with WWWWWWWWWW think time of 100 ms".to_owned(),
        other => format!("lock/sequential at {other},000 workers ……"),
    };
    let arms = (0..6)
        .map(|index| {
            let workers = 200 * (index as u32 + 1);
            let shape = if index % 2 == 0 { Shape::naive(workers) } else { Shape::sequential(workers) };
            arm(&label(index), &shape)
        })
        .collect();
    summary("six-arms-of-a-scenario-with-a-long-name", arms)
}

/// Everything that can be wrong with a run at once.
fn alarms() -> Summary {
    let mut summary = two_arms();
    summary.complete = false;
    summary.incomplete_reason = Some("node zookeeper-2 died in trial 4 (exit status 137)".to_owned());
    summary.generator.saturated = true;
    let naive = &mut summary.arms[0];
    naive.safety = Safety { overlaps: 3, token_regressions: 1, lost_updates: Some(2), ..naive.safety };
    naive.notifications.server = naive.notifications.client.checked_sub(1_234);
    naive.notifications.untracked = 17;
    summary.arms[1].trial.truncate(1);
    summary.arms[1].trials = 1;
    summary.arms[1].grants_per_second.spread = None;
    summary.arms[0].grants_per_second = Quantity { mean: 449.0, spread: Some(9.0), min: 440.0, max: 458.0 };
    summary.contrasts[0].throughput = Some(Quantity { mean: 0.62, spread: Some(0.02), min: 0.6, max: 0.64 });
    summary.warnings = vec![
        Warning {
            text: "The load average was 7.4 when the run began, on 2 processors.".to_owned(),
            remedy: "Stop what else runs on this machine and repeat the run.".to_owned(),
        },
        Warning {
            text: "The spread of grants per second is 31 % of its mean in lock/naive.".to_owned(),
            remedy: "Run more trials: --set trials=9.".to_owned(),
        },
    ];
    summary
}

/// Two arms that never granted anything.
fn no_grants() -> Summary {
    let mut arms = vec![arm("lock/naive", &Shape::naive(10)), arm("lock/sequential", &Shape::sequential(10))];
    for arm in &mut arms {
        *arm = Arm { requests: arm.requests.clone(), ..blank(arm) };
        arm.requests.per_grant = None;
        arm.requests.response_bytes_per_grant = None;
    }
    let mut summary = summary("no-grants", arms);
    summary.contrasts = vec![Contrast {
        naive: "lock/naive".to_owned(),
        herd_free: "lock/sequential".to_owned(),
        throughput: None,
        fan_out: None,
        requests_per_grant: None,
        acquire_p50: None,
        bystander_p99: None,
    }];
    summary
}

/// One arm that only holds sessions.
fn idle() -> Summary {
    let mut only = blank(&arm("session/idle", &Shape::sequential(5_000)));
    only.recipe = Recipe::IdleSession;
    only.mode = "closed".to_owned();
    only.generator.rss_per_worker_bytes = 61_400;
    let mut summary = summary("5000-sessions", vec![only]);
    summary.question = None;
    summary
}

/// Figures as large as they get.
fn huge() -> Summary {
    let mut summary = two_arms();
    summary.scenario = "huge".to_owned();
    for arm in &mut summary.arms {
        arm.workers = 4_000_000_000;
        arm.grants = u64::MAX / 3;
        arm.grants_per_second = Quantity { mean: 1.2e12, spread: Some(3.4e11), min: 1e12, max: 2e12 };
        arm.requests.per_grant = Some(9.9e15);
        arm.requests.response_bytes_per_grant = Some(8.8e17);
        for kind in arm.requests.by_kind.values_mut() {
            kind.response_bytes = u64::MAX;
            kind.requests = u64::MAX;
        }
        arm.notifications.client = u64::MAX / 2;
        arm.notifications.server = Some(u64::MAX / 2 + 1_000_000);
        arm.fan_out.mean = Some(3.9e9);
        arm.acquire_ms = latency(3_600_000.0);
        for point in &mut arm.series.rates {
            point.requests_per_second *= 1e12;
            point.grants_per_second = f64::MAX;
        }
        for point in &mut arm.series.fan_out_points {
            point.notifications *= 1_000_000_000;
        }
        for point in arm.series.percentiles.values_mut().flatten() {
            point.ms *= 10_000.0;
        }
        for count in arm.series.heat_map.counts.iter_mut().flatten() {
            *count = count.saturating_mul(1 << 55);
        }
    }
    summary.contrasts = vec![contrast(&summary.arms[0], &summary.arms[1])];
    summary.contrasts[0].throughput = Some(Quantity { mean: 1.0, spread: Some(0.3), min: 0.7, max: 1.4 });
    summary
}

/// A run that ended before any arm ran.
fn nothing() -> Summary {
    let mut summary = summary("nothing", Vec::new());
    summary.complete = false;
    summary.nodes.clear();
    summary.settings.clear();
    summary
}

/// Text from outside that would do harm if it were not escaped.
fn hostile() -> Summary {
    let mut arms = vec![
        arm("<script>alert(1)</script>", &Shape::naive(50)),
        arm("a\"b'c&d\u{1b}[31m\u{0}", &Shape::sequential(50)),
    ];
    let kind = arms[0].requests.by_kind.values().next().copied().unwrap_or_default();
    arms[0].requests.by_kind.insert("<img src=x onerror=alert(2)>".to_owned(), kind);
    arms[0].failovers = Some(Failovers::default());
    for (skipped, node) in [(Some("<u>why</u>\u{1b}[31m"), None), (None, Some("<img src=x onerror=alert(6)>"))] {
        arms[0].trial[0].failovers.push(Failover {
            fault: "<b onclick=alert(7)>\u{0}".to_owned(),
            seconds: 3.0,
            skipped: skipped.map(str::to_owned),
            node: node.map(str::to_owned),
            detection_ms: Some(1.0),
            ..Failover::default()
        });
    }
    let mut summary = summary("</title><script>alert(3)</script>", arms);
    summary.question = Some("<b onclick=alert(4)>?</b>".to_owned());
    summary.settings = "label = \"</pre><script>alert(5)</script>\"\n".to_owned();
    summary.warnings = vec![Warning { text: "<i>text</i>".to_owned(), remedy: "<u>remedy</u>".to_owned() }];
    summary.ensemble.settings.insert("<s>key</s>".to_owned(), "<s>value</s>".to_owned());
    summary
}

/// The arm with everything that grants leave behind taken away.
fn blank(arm: &Arm) -> Arm {
    let mut blank = arm.clone();
    blank.grants = 0;
    blank.grants_per_second = Quantity { spread: Some(0.0), ..Quantity::default() };
    blank.requests = Default::default();
    blank.notifications = Default::default();
    blank.fan_out = Default::default();
    blank.acquire_ms = Default::default();
    blank.service_ms = Default::default();
    blank.enqueue_ms = Default::default();
    blank.wait_ms = Default::default();
    blank.wake_to_grant_ms = Default::default();
    blank.handoff_ms = Default::default();
    blank.bystander_ms = Default::default();
    blank.safety = Default::default();
    blank.series = Default::default();
    blank.trial.clear();
    blank
}

/// A run of these arms, with a contrast between the first two.
fn summary(scenario: &str, arms: Vec<Arm>) -> Summary {
    let contrasts = match arms.as_slice() {
        [naive, free, ..] => vec![contrast(naive, free)],
        _ => Vec::new(),
    };
    let node = |number: u32, role: &str, cpu_seconds: f64| Node {
        name: format!("zookeeper-{number}"),
        role: role.to_owned(),
        cpu_seconds: Some(cpu_seconds),
        peak_rss_bytes: Some(412_000_000 + u64::from(number) * 7_000_000),
        usage_missing: None,
    };
    Summary {
        schema_version: SCHEMA_VERSION,
        scenario: scenario.to_owned(),
        question: Some("What does the herd cost when a thousand workers want one lock?".to_owned()),
        service: "zookeeper".to_owned(),
        workers: arms.iter().map(|arm| arm.workers).max().unwrap_or(0),
        complete: true,
        incomplete_reason: None,
        started: "2026-11-30T09:12:44Z".to_owned(),
        elapsed_seconds: 212.4,
        ensemble: Ensemble {
            nodes: 3,
            provider: "local".to_owned(),
            versions: BTreeMap::from([("zookeeper".to_owned(), "3.8.0".to_owned())]),
            settings: BTreeMap::from([
                ("tickTime".to_owned(), "1000".to_owned()),
                ("maxClientCnxns".to_owned(), "0".to_owned()),
                ("forceSync".to_owned(), "yes".to_owned()),
            ]),
        },
        environment: Environment {
            bench_runner: "0.1.0".to_owned(),
            git_revision: Some("db85109c0ffee".to_owned()),
            scenario_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            kernel: "Linux 6.1.0-28-amd64".to_owned(),
            cpu_model: "AMD EPYC 7B13".to_owned(),
            cpus: 2,
            memory_bytes: 8_323_072_000,
            java: Some("OpenJDK 17.0.13".to_owned()),
        },
        settings: SETTINGS.to_owned(),
        contrasts,
        growth: Vec::new(),
        arms,
        generator: Generator {
            cpu_seconds: 61.2,
            peak_rss_bytes: 402_000_000,
            lag_ms: latency(2.1),
            saturated: false,
            held_back: 0,
        },
        nodes: vec![node(1, "follower", 48.0), node(2, "leader", 71.5), node(3, "follower", 46.9)],
        warnings: Vec::new(),
    }
}

fn contrast(naive: &Arm, free: &Arm) -> Contrast {
    let ratio = |of: fn(&Arm) -> Option<f64>| of(naive).zip(of(free)).map(|(many, few)| many / few);
    let mean = free.grants_per_second.mean / naive.grants_per_second.mean;
    Contrast {
        naive: naive.label.clone(),
        herd_free: free.label.clone(),
        throughput: Some(Quantity { mean, spread: Some(mean * 0.08), min: mean * 0.92, max: mean * 1.08 }),
        fan_out: ratio(|arm| arm.fan_out.mean),
        requests_per_grant: ratio(|arm| arm.requests.per_grant),
        acquire_p50: ratio(|arm| arm.acquire_ms.p50),
        bystander_p99: ratio(|arm| arm.bystander_ms.during.p99),
    }
}

const SETTINGS: &str = r#"version = 1
question = "What does the herd cost when a thousand workers want one lock?"
trials = 3
duration = "20s"
warm_up = "5s"
seed = 7

[ensemble]
service = "zookeeper"
provider = "local"
nodes = 3

[[arms]]
recipe = "lock/naive"
workers = 1000

[[arms]]
recipe = "lock/sequential"
workers = 1000
"#;
