//! `--set key=value`.

use std::time::Duration;

use workloads::settings::{Arrivals, Delay, Mode};

use super::{complaint, valid};

/// A scenario with comments that must survive.
const TEXT: &str = r#"# head
version = 1
question = "How much?"   # in one sentence

[workers]
count = 50      # workers
mode = "closed"

[[arm]]
recipe = "lock/naive"

[[arm]]           # the other one
recipe = "lock/sequential"
workers = { count = 20 }
"#;

#[test]
fn values_need_no_quotes() {
    let scenario = valid(
        TEXT,
        &[
            "trials.duration=10s",
            "trials.count=1",
            "ensemble.nodes=1",
            "ensemble.zookeeper.fsync=false",
            "workers.count=60",
            "workers.hold={ exponential = \"5ms\" }",
            "arm.1.workers.count=10",
            "arm.0.workers.locks=2",
            "arm.0.label=the herd",
            "question=What is it = worth?",
        ],
    );
    assert_eq!((scenario.trials.duration, scenario.trials.count), (Duration::from_secs(10), 1));
    assert_eq!((scenario.ensemble.nodes, scenario.ensemble.zookeeper.fsync), (1, false));
    assert_eq!(scenario.question.as_deref(), Some("What is it = worth?"));
    let [naive, sequential] = &scenario.arms[..] else { panic!("two arms") };
    assert_eq!((naive.workers.workers, naive.workers.resources, naive.label.as_str()), (60, 2, "the herd"));
    assert_eq!((sequential.workers.workers, sequential.workers.resources), (10, 1));
    assert_eq!(naive.workers.hold, Delay::Exponential(Duration::from_millis(5)));
    insta::assert_snapshot!(scenario.text);
}

#[test]
fn the_last_one_wins_and_an_empty_one_removes() {
    assert_eq!(valid(TEXT, &["workers.count=60", "workers.count=70"]).arms[0].workers.workers, 70);
    let scenario = valid(TEXT, &["question=", "arm.1.workers.count=", "trials.count="]);
    assert_eq!((scenario.question, scenario.arms[1].workers.workers), (None, 50));
}

#[test]
fn tables_come_into_being() {
    let scenario = valid(TEXT, &["workers.mode=open", "workers.arrivals.rate=3", "workers.arrivals.process=constant"]);
    assert_eq!(scenario.arms[0].workers.mode, Mode::Open(Arrivals::Constant(3.0)));
    let scenario = valid(TEXT, &["arm=[{ recipe = \"session/idle\" }]"]);
    assert_eq!((scenario.arms.len(), scenario.arms[0].label.as_str()), (1, "session/idle"));
    let scenario = valid(TEXT, &["arm.0={ recipe = \"session/idle\" }"]);
    assert_eq!((scenario.arms.len(), scenario.arms[0].label.as_str()), (2, "session/idle"));
}

#[test]
fn refused_ones_are_named() {
    let all = [
        &["workers.cout=3", "foo.bar=1", "seed.x=1"][..],
        &["workers.count=0", "trials.duration=10", "question=1"],
        &["workers=3", "workers.mode=open"],
        &["arm.2.label=x", "arm.naive.label=x", "arm.0=3", "arm.0="],
        &["question.x=3", "workers.count.x=3", "x={a=b}"],
        &["foo", "a b=3", "=3", "a.b.c.d.e.f.g.h.i=1"],
        &["workers.arrivals.rate=3"],
        &["workers.session_timeout=30s"],
        &["workers.session_timeout=5s", "arm.1.workers.session_timeout=30s", "ensemble.zookeeper.tick=3s"],
        &["version="],
    ];
    let all = all.map(|overrides| complaint(TEXT, overrides)).join("\n\n--------\n\n");
    insta::assert_snapshot!(all);
}
