//! What holds for all scenarios, and for all texts that are none.

use std::path::PathBuf;
use std::time::Duration;

use bench_runner::scenario::delay::DelayText;
use bench_runner::scenario::duration::Span;
use bench_runner::scenario::ensemble::{EnsembleFile, EtcdFile, ZookeeperFile};
use bench_runner::scenario::fault::file::{FaultFile, HowName, KindName, TargetText};
use bench_runner::scenario::file::{
    ArmFile, ArrivalsFile, BystandersFile, ModeName, ProcessName, ScenarioFile, TrialsFile, WorkersFile,
};
use bench_runner::scenario::gate::GateFile;
use bench_runner::scenario::{self, SloFile};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use workloads::settings::{Recipe, Service};

fn span(millis: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Span> {
    millis.prop_map(|millis| Span(Duration::from_millis(millis)))
}

fn delay() -> impl Strategy<Value = DelayText> {
    prop_oneof![
        Just(DelayText::Forever),
        span(0..=100).prop_map(DelayText::Fixed),
        span(0..=100).prop_map(DelayText::Exponential),
        (span(0..=50), span(50..=100)).prop_map(|(low, high)| DelayText::Uniform(low, high)),
    ]
}

prop_compose! {
    /// Worker settings that fit a tick of one second and a lease, with the mode left open.
    fn workers()(
        count in 10..100_000_u32,
        locks in option::of(1..=10_u32),
        hold in option::of(delay()),
        think in option::of(span(0..=100).prop_map(DelayText::Exponential)),
        session_timeout in option::of((2_u64..=20).prop_map(Span::seconds)),
        connect_concurrency in option::of(1..=10_000_u32),
    ) -> WorkersFile {
        let count = Some(count);
        WorkersFile { count, locks, hold, think, session_timeout, connect_concurrency, ..WorkersFile::default() }
    }
}

prop_compose! {
    /// An arm of a mode, with a label that it may share with others.
    fn arm()(
        recipe in select(Recipe::ALL.to_vec()),
        mode in select(vec![None, Some(ModeName::Closed), Some(ModeName::Drain), Some(ModeName::Open)]),
        own in option::of(workers()).boxed(),
        rate in 0.01..1_000.0_f64,
        process in select(vec![ProcessName::Constant, ProcessName::Poisson]),
        telemetry in option::of(any::<bool>()),
        service in option::of(select(vec![Service::Zookeeper, Service::Etcd])),
        connections in option::of(1..=10_u32),
        requeue in any::<bool>(),
        name in "\\PC{0,20}",
    ) -> ArmFile {
        let mode = if recipe == Recipe::IdleSession { Some(ModeName::Closed) } else { mode };
        let meets = recipe.is_barrier();
        let free = rate < 500.0 && recipe != Recipe::SingleBarrier;
        let mode = if meets { Some(if free { ModeName::Barriers } else { ModeName::Rounds }) } else { mode };
        let drain = mode == Some(ModeName::Drain) || meets;
        let selects = recipe == Recipe::LeaderSelector && matches!(mode, None | Some(ModeName::Closed));
        let mut own = own.unwrap_or_default();
        // What the file's `[workers]` say is in force where an arm is silent.
        own.hold = own.hold.filter(|hold| *hold != DelayText::Forever).or(drain.then_some(DelayText::Fixed(Span::default())));
        let workers = WorkersFile {
            mode,
            arrivals: (mode == Some(ModeName::Open)).then_some(ArrivalsFile { rate: Some(rate), process }),
            telemetry: if drain { None } else { telemetry },
            connections: connections.filter(|_| service == Some(Service::Etcd)),
            auto_requeue: selects.then_some(requeue),
            barriers: meets.then_some(connections.unwrap_or(1)),
            count: if meets { own.count.or(Some(2)).map(|count| count.max(10)) } else { own.count },
            locks: if meets { Some(1) } else { own.locks },
            think: own.think.filter(|_| !selects).or((selects && requeue).then_some(DelayText::Fixed(Span::default()))),
            ..own
        };
        ArmFile { recipe: Some(recipe), label: Some(name), service, workers }
    }
}

prop_compose! {
    /// A fault of workers that falls due once, at once: it fits a trial of any length.
    fn fault()(
        kind in select(vec![KindName::Close, KindName::Crash, KindName::Pause, KindName::Cut]),
        target in prop_oneof![
            Just(TargetText::Holder),
            Just(TargetText::Waiter),
            (0.001..=1.0_f64).prop_map(TargetText::Share),
        ],
        every in option::of(span(1..=100)),
        length in span(1..=60_000),
        how in option::of(select(vec![HowName::Sever, HowName::Blackhole])),
        lasts in any::<bool>(),
    ) -> FaultFile {
        let takes_length = kind == KindName::Pause || (kind == KindName::Cut && lasts);
        FaultFile {
            kind: Some(kind),
            target: Some(target),
            at: Some(Span::default()),
            every,
            count: every.map(|_| 1),
            length: takes_length.then_some(length),
            how: how.filter(|_| kind == KindName::Cut),
        }
    }
}

prop_compose! {
    fn file()(
        question in option::of("[a-zé]\\PC{0,100}"),
        seed in 0..=i64::MAX as u64,
        nodes in select(vec![1_u32, 3, 5, 7, 9]),
        heap in "[1-9][0-9]{0,3}[kKmMgG]",
        fsync in any::<bool>(),
        base_port in option::of(1024..65_000_u16),
        jvm_flags in prop::collection::vec("-XX:\\PC{0,10}", 0..3),
        quota_mib in 16..=65_536_u32,
        count in 1..=1_000_u32,
        lengths in (span(0..=60_000), span(1..=60_000), span(1..=60_000), span(0..=60_000)),
        sessions in 0..=1_000_u32,
        rate in 0.001..10_000.0_f64,
        // Boxed: by value, the strategies within each other are larger than a test's stack.
        workers in workers().boxed(),
        mut fault in prop::collection::vec(fault().boxed(), 0..=3),
        node_target in select(vec![TargetText::Leader, TargetText::Follower, TargetText::Random]),
        mut arm in prop::collection::vec(arm().boxed(), 1..=3),
    ) -> ScenarioFile {
        let (warmup, duration, limit, rest) = lengths;
        for (place, arm) in arm.iter_mut().enumerate() {
            arm.label = arm.label.take().map(|label| format!("{place}{label}"));
        }
        if arm.iter().any(|arm| arm.recipe == Some(Recipe::IdleSession)) {
            fault.iter_mut().for_each(|fault| fault.target = Some(TargetText::Share(1.0)));
        }
        if nodes > 1 {
            let (kind, target, at) = (Some(KindName::KillNode), Some(node_target), Some(Span::default()));
            fault.push(FaultFile { kind, target, at, ..FaultFile::default() });
        }
        let takes_faults = |arm: &ArmFile| matches!(arm.workers.mode, None | Some(ModeName::Closed | ModeName::Open));
        if !arm.iter().all(takes_faults) {
            fault.clear();
        }
        let zookeeper = ZookeeperFile { heap, fsync, base_port, jvm_flags, ..ZookeeperFile::default() };
        let etcd = EtcdFile { fsync, base_port, quota_mib, ..EtcdFile::default() };
        ScenarioFile {
            version: Some(1),
            question,
            seed,
            service: Service::Zookeeper,
            ensemble: EnsembleFile { nodes, zookeeper, etcd, ..EnsembleFile::default() },
            trials: TrialsFile { count, warmup, duration, limit, rest },
            workers,
            grid: None,
            sweep: None,
            slo: SloFile::default(),
            bystanders: BystandersFile { sessions, rate },
            arm,
            fault,
            gate: GateFile::default(),
        }
    }
}

/// Words that mean something in a scenario, for mutations that get further than noise.
fn token() -> impl Strategy<Value = String> {
    let words = [
        "count = 0",
        "mode = \"open\"",
        "mode = \"drain\"",
        "arrivals = { rate = nan }",
        "hold = {}",
        "[[arm]]",
        "[[fault]]",
        "kind = \"pause\"",
        "target = 1e9",
        "every = \"1ns\"",
        "[arm]",
        "[workers]",
        "recipe = \"lock/naive\"",
        "\"",
        "\"\"\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        ".",
        "#",
        "\n",
        "\r",
        "-1",
        "é",
        "\u{feff}",
        "\0",
        "1e400",
        "9223372036854775808",
        "workers.count = 1",
        "arm.0 = 1",
        "version = 2",
    ];
    prop_oneof![4 => select(words.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,5}"]
}

/// A change of a text: cut `cut` characters at a place, and put a word there.
fn mutations() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..20_usize, token()), 1..6)
}

/// A word of an override's key, known or not.
fn key() -> impl Strategy<Value = String> {
    let words = [
        "arm",
        "fault",
        "target",
        "0",
        "1",
        "workers",
        "count",
        "hold",
        "ensemble",
        "zookeeper",
        "tick",
        "arrivals",
        "rate",
        "trials",
        "question",
        "\"a b\"",
        "x",
        "''",
        "uniform",
        "jvm_flags",
    ];
    select(words.to_vec()).prop_map(str::to_owned)
}

/// An override that may fit.
fn override_() -> impl Strategy<Value = String> {
    let values =
        ["1", "", "10s", "{}", "[]", "{ a = 1 }", "[1, 2]", "true", "open", "\"x\"", "'", "1 # c", "[{}]", "nan"];
    let value = prop_oneof![select(values.to_vec()).prop_map(str::to_owned), "\\PC{0,8}"];
    prop_oneof![
        4 => (prop::collection::vec(key(), 1..5), value).prop_map(|(keys, value)| format!("{}={value}", keys.join("."))),
        1 => "\\PC{0,12}",
    ]
}

/// Reads the text and draws whatever is wrong; what is valid stays the same when its own text is read again.
fn survives(text: &str, overrides: &[String]) -> Result<(), TestCaseError> {
    match scenario::parse("test", text, overrides) {
        Ok(scenario) => prop_assert_eq!(&scenario::parse("test", &scenario.text, &[]), &Ok(scenario.clone())),
        Err(error) => {
            prop_assert!(error.messages().next().is_some());
            prop_assert!(error.render(true).len() >= error.render(false).len());
            prop_assert!(!error.to_string().is_empty());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_file_is_read_as_it_was_written(file in file()) {
        let text = toml::to_string(&file).expect("a scenario is valid TOML");
        prop_assert_eq!(&toml::from_str::<ScenarioFile>(&text).expect("it reads its own"), &file);
        let read = scenario::parse("test", &text, &[]);
        let read = read.map_err(|error| TestCaseError::fail(format!("{error}\n\n{text}")))?;
        prop_assert_eq!(read.arms.len(), file.arm.len());
        prop_assert_eq!(read.faults.len(), file.fault.len());
        for (fault, written) in read.faults.iter().zip(&file.fault) {
            prop_assert_eq!(Some(fault.kind.name()), written.kind.map(KindName::name));
            prop_assert_eq!(fault.kind.length(), written.length.map(|length| length.0));
        }
        for (arm, written) in read.arms.iter().zip(&file.arm) {
            prop_assert_eq!(Some(arm.workers.workers), written.workers.count.or(file.workers.count));
            prop_assert_eq!(Some(arm.workers.recipe), written.recipe);
            prop_assert_eq!(Some(&arm.label), written.label.as_ref());
        }
        prop_assert_eq!(scenario::parse("test", &read.text, &[]), Ok(read));
    }

    #[test]
    fn an_override_is_the_same_as_a_changed_file(file in file(), count in 10..1_000_u32, length in span(1..=1_000)) {
        let text = toml::to_string(&file).expect("a scenario is valid TOML");
        let overrides = [format!("arm.0.workers.count={count}"), format!("trials.duration={length}")];
        let overridden = scenario::parse("test", &text, &overrides);
        let overridden = overridden.map_err(|error| TestCaseError::fail(format!("{error}\n\n{text}")))?;
        let mut changed = file;
        changed.arm[0].workers.count = Some(count);
        changed.trials.duration = length;
        let changed = toml::to_string(&changed).expect("a scenario is valid TOML");
        let changed = scenario::parse("test", &changed, &[]);
        let changed = changed.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!((&overridden.arms, overridden.trials), (&changed.arms, changed.trials));
        prop_assert_eq!(scenario::parse("test", &overridden.text, &[]), Ok(overridden));
    }

    #[test]
    fn mutations_never_panic(file in file(), mutations in mutations(), overrides in prop::collection::vec(override_(), 0..3)) {
        let mut text: Vec<char> = toml::to_string(&file).expect("a scenario is valid TOML").chars().collect();
        for (place, cut, word) in mutations {
            let place = place.index(text.len() + 1);
            let end = (place + cut).min(text.len());
            text.splice(place..end, word.chars());
        }
        survives(&String::from_iter(text), &overrides)?;
    }

    #[test]
    fn overrides_never_panic(file in file(), overrides in prop::collection::vec(override_(), 0..6)) {
        survives(&toml::to_string(&file).expect("a scenario is valid TOML"), &overrides)?;
    }

    #[test]
    fn texts_never_panic(text in "\\PC*") {
        survives(&text, &[])?;
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path: PathBuf = folder.path().join("bytes.toml");
        std::fs::write(&path, &bytes).expect("it can be written");
        if let Err(error) = scenario::load(&path, &[]) {
            prop_assert!(!error.render(true).is_empty());
        }
        survives(&String::from_utf8_lossy(&bytes), &[])?;
    }
}

/// Depth is what makes a parser of nested things overflow its stack.
#[test]
fn deep_texts_never_panic() {
    for text in [
        "[".repeat(50_000),
        format!("a = {}", "[".repeat(50_000)),
        format!("a = {}", "{a=".repeat(50_000)),
        format!("{}a = 1", "a.".repeat(50_000)),
        format!("[{}a]", "a.".repeat(50_000)),
        format!("[[{}a]]", "a.".repeat(50_000)),
        format!("{}a = 1", "a.".repeat(70)),
    ] {
        let head = text[..10].to_owned();
        survives(&text, &["workers.count=3".to_owned()]).expect(&head);
        survives("version = 1", &[text, format!("question={}", "[".repeat(50_000))]).expect(&head);
    }
}
