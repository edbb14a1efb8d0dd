//! From a large recording to summary and report: the limit is 3 s for a million grants and ten million requests.

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use bench_runner::ensemble::Description;
use bench_runner::measure::trial::measure;
use bench_runner::report;
use bench_runner::results::compose::{Run, compose};
use bench_runner::run::generator::GeneratorRecording;
use bench_runner::run::recording::{End, TrialRecording};
use bench_runner::run::schedule::Planned;
use bench_runner::scenario::{self, Scenario};
use criterion::{Criterion, criterion_group, criterion_main};
use workloads::bystander::BystanderLatencies;
use workloads::record::{Acquisition, InstanceFanOut, Outcome, Recording, Slot, Tally};

const GRANTS: u64 = 1_000_000;
const REQUESTS: u64 = 10_000_000;
const WORKERS: u32 = 1_000;
/// Ten minutes.
const LENGTH: u64 = 600_000_000_000;

const SCENARIO: &str = r#"
version = 1
[workers]
count = 1000
[[arm]]
recipe = "lock/naive"
"#;

/// A trial in which a thousand workers take turns at one lock, with a little disorder.
fn recording() -> TrialRecording {
    let step = LENGTH / GRANTS;
    let acquisitions = (0..GRANTS)
        .map(|turn| {
            let granted = turn * step + step / 4 + (turn * 7_919) % (step / 8);
            let called = granted.saturating_sub(u64::from(WORKERS) * step).max(1);
            Acquisition {
                outcome: Outcome::Released,
                wakeups: 999,
                token: 1 + turn as i64 * 3,
                enqueued: called + 1_000,
                woken: granted - 1_000,
                granted,
                release_sent: granted + step / 2,
                released: granted + step / 2 + 1_000,
                ..Acquisition::called((turn % u64::from(WORKERS)) as u32, 0, called, called)
            }
        })
        .collect();
    let slots = LENGTH / 1_000_000;
    let requests = (REQUESTS / slots) as u32;
    let slot = Slot { requests, notifications: requests / 2, response_bytes: u64::from(requests) * 88 };
    let fan_out = (0..GRANTS)
        .map(|turn| InstanceFanOut {
            token: 1 + turn as i64 * 3,
            notifications: 900 + (turn % 100) as u32,
            first: 1,
            last: 2,
        })
        .collect();
    let mut tally = Tally::default();
    tally.requests[0] = REQUESTS;
    TrialRecording {
        planned: Planned { arm: 0, position: 1 },
        end: End::Complete,
        workers: Recording {
            length: LENGTH,
            tally,
            joined: None,
            timeline: vec![slot; slots as usize],
            fan_out,
            untracked: 0,
            acquisitions,
        },
        passages: Vec::new(),
        arrivals_left: None,
        counters: None,
        missing_book: None,
        silent_nodes: Default::default(),
        samples: Vec::new(),
        bystanders: BystanderLatencies::default(),
        generator: GeneratorRecording::default(),
        held_back: 0,
        nodes_cpu_seconds: Some(1.0),
        other_cpu_share: None,
        idle_rss_bytes: 0,
        failures: Default::default(),
        faults: Vec::new(),
        sessions_lost: 0,
        fenced_writes: Default::default(),
        updates: Default::default(),
    }
}

fn summarise(scenario: &Scenario, ensemble: &Description, recording: &TrialRecording) -> String {
    let trials = vec![vec![measure(scenario, &scenario.arms[0], recording)]];
    let run = Run {
        scenario,
        ensembles: std::slice::from_ref(ensemble),
        nodes: Vec::new(),
        started: SystemTime::UNIX_EPOCH,
        elapsed: Duration::from_secs(600),
        incomplete: None,
        peak_rss_bytes: 0,
        noticed: Vec::new(),
    };
    let (summary, _) = compose(&run, &trials);
    report::html(&summary)
}

fn summary(criterion: &mut Criterion) {
    let scenario = match scenario::parse("bench", SCENARIO, &[]) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    };
    let ensemble = Description {
        service: "zookeeper".to_owned(),
        provider: "local".to_owned(),
        version: String::new(),
        java: None,
        installation: String::new(),
        nodes: Vec::new(),
        settings: Default::default(),
    };
    let recording = recording();
    let mut group = criterion.benchmark_group("summary");
    group.sample_size(10);
    group.bench_function("summary and report of 1,000,000 grants and 10,000,000 requests", |bencher| {
        bencher.iter(|| black_box(summarise(&scenario, &ensemble, &recording)));
    });
    group.finish();
}

criterion_group!(benches, summary);
criterion_main!(benches);
