//! Every mistake that the format knows, as its author sees it.

use super::complaint;

/// A scenario around some lines of `[workers]`.
fn workers(lines: &str) -> String {
    format!("version = 1\n\n[workers]\n{lines}\n\n[[arm]]\nrecipe = \"lock/naive\"\n")
}

/// A scenario around some lines of any table but the arms and workers.
fn tables(lines: &str) -> String {
    format!("version = 1\n{lines}\n\n[[arm]]\nrecipe = \"lock/naive\"\nworkers = {{ count = 50 }}\n")
}

/// A scenario with 50 workers around some arms.
fn arms(lines: &str) -> String {
    format!("version = 1\nworkers = {{ count = 50 }}\n{lines}\n")
}

/// The messages about several texts, one after the other.
pub fn complaints(texts: &[String]) -> String {
    texts.iter().map(|text| complaint(text, &[])).collect::<Vec<_>>().join("\n\n--------\n\n")
}

#[test]
fn unknown_keys() {
    let shown = complaints(&[
        workers("cout = 50\nzzz = 1\nsession-timeout = \"10s\""),
        tables("[ensemble]\nsize = 3\n[trails]\ncount = 3"),
        arms("[[arms]]\nrecipe = \"lock/naive\""),
        arms(
            "[[arm]]\nrecipe = \"lock/naive\"\nworkers = { arrivals = { rate = 5, proces = \"constant\" }, mode = \"open\" }",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn wrong_types() {
    let shown = complaints(&[
        workers("count = \"fifty\"\nlocks = \"1\"\ntelemetry = \"true\"\nmode = 3\nconnect_concurrency = 1.5"),
        tables(
            "seed = -1\nquestion = 42\n[ensemble]\nnodes = -3\n[ensemble.zookeeper]\nbase_port = 70000\njvm_flags = [\"-Xss1m\", 3]\n[bystanders]\nrate = \"10\"",
        ),
        arms("[arm]\nrecipe = \"lock/naive\""),
        tables("question = \"  \""),
        arms("arm = [\"lock/naive\"]"),
        "version = \"1\"\nworkers = 50\n[[arm]]\nrecipe = 1979-05-27\nworkers.count = 3".to_owned(),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn durations_and_delays() {
    let shown = complaints(&[
        workers("count = 50\nsession_timeout = 10\nhold = \"5\"\nthink = 2.5"),
        workers("count = 50\nsession_timeout = \"-10s\"\nhold = \"5 parsecs\"\nthink = \"soon\""),
        workers("count = 50\nhold = { uniform = [\"5ms\", \"1ms\"] }\nthink = { gaussian = \"5ms\" }"),
        workers("count = 50\nhold = { uniform = [\"5ms\"] }\nthink = { exponential = 5 }"),
        workers("count = 50\nhold = { uniform = [\"1ms\", 5] }\nthink = {}"),
        workers("count = 50\nhold = { exponential = \"5ms\", uniform = [\"1ms\", \"5ms\"] }\nthink = true"),
        tables("[trials]\nduration = \"0s\"\nlimit = \"2000h\"\nwarmup = \"\"\nrest = true"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn numbers_out_of_range() {
    let shown = complaints(&[
        workers("count = 0\nlocks = 0\nconnect_concurrency = 0"),
        workers("count = 5\nlocks = 9"),
        workers("count = 5_000_000_000"),
        workers("count = 5\nmode = \"open\"\narrivals = { rate = -3 }"),
        workers("count = 5\nmode = \"open\"\narrivals = { rate = nan }"),
        workers("count = 5\nmode = \"open\"\narrivals = { rate = inf }"),
        workers("count = 5\nmode = \"open\"\narrivals = {}"),
        tables("[trials]\ncount = 0\n[bystanders]\nsessions = 100000\nrate = 0"),
        format!("{}\n[trials]\nduration = \"2h\"\n", workers("count = 5\nmode = \"open\"\narrivals = { rate = 1e5 }")),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn ensembles() {
    let shown = complaints(&[
        tables("service = \"consul\"\n[ensemble]\nprovider = \"dokcer\"\nnodes = 4"),
        tables("service = \"zokeeper\"\n[ensemble]\nprovider = \"external\"\nnodes = 0"),
        tables("[ensemble]\nprovider = \"kubernetes\"\nnodes = 11"),
        tables("[ensemble]\nnodes = 2\n[ensemble.zookeeper]\nfsync = false"),
        tables(
            "[ensemble.zookeeper]\ntick = \"1ms\"\nheap = \"lots\"\nbase_port = 80\njvm_flags = [\"-Xmx3g\", \"Xss1m\"]",
        ),
        tables("[ensemble.zookeeper]\ntick = \"1500us\"\nheap = \"0m\"\nbase_port = 65530"),
        tables("[ensemble.zookeeper]\ntick = \"1000500us\""),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn etcd() {
    let etcd = |lines: &str| format!("service = \"etcd\"\n{lines}");
    let shown = complaints(&[
        tables(&etcd(
            "[ensemble.etcd]\nheartbeat_interval = \"1ms\"\nquota_mib = 1\nsnapshot_count = 0\nbase_port = 80",
        )),
        tables(&etcd("[ensemble.etcd]\nelection_timeout = \"300ms\"")),
        tables(&etcd("[ensemble.etcd]\nelection_timeout = \"2m\"\nbase_port = 65534")),
        tables(&etcd("[ensemble.etcd]\nelection_timeout = \"1000500us\"\ntick = \"1s\"")),
        workers("count = 50\nsession_timeout = \"1s\"").replace("version = 1\n", "version = 1\nservice = \"etcd\"\n"),
        workers("count = 50\nsession_timeout = \"2500ms\"")
            .replace("version = 1\n", "version = 1\nservice = \"etcd\"\n"),
        workers("count = 50\nconnections = 60").replace("version = 1\n", "version = 1\nservice = \"etcd\"\n"),
        workers("count = 50\nconnections = 0").replace("version = 1\n", "version = 1\nservice = \"etcd\"\n"),
        workers("count = 50\nconnections = 5"),
        arms(
            "[[arm]]\nrecipe = \"lock/naive\"\nworkers = { connections = 5 }\n\n[[arm]]\nrecipe = \"lock/sequential\"\nservice = \"etcd\"",
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn session_timeouts() {
    let shown = complaints(&[
        workers("count = 50\nsession_timeout = \"30s\""),
        format!("{}\n[ensemble.zookeeper]\ntick = \"2s\"\n", workers("count = 50\nsession_timeout = \"3s\"")),
        workers("count = 50\nsession_timeout = \"24h\""),
        workers("count = 50\nsession_timeout = \"2500500us\""),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn arms_that_do_not_fit() {
    let shown = complaints(&[
        "version = 1\n".to_owned(),
        arms("[[arm]]\nlabel = \"x\"\n\n[[arm]]\nrecipe = \"lock/naiv\"\n\n[[arm]]\nrecipe = \"paxos\""),
        arms("[[arm]]\nrecipe = \"lock/naive\"\n\n[[arm]]\nrecipe = \"lock/naive\""),
        arms("[[arm]]\nrecipe = \"lock/naive\"\nlabel = \"a\"\n\n[[arm]]\nrecipe = \"lock/sequential\"\nlabel = \"a\""),
        arms("[[arm]]\nrecipe = \"lock/naive\"\nlabel = \"\"\nservice = \"consul\""),
        "version = 1\n[[arm]]\nrecipe = \"lock/naive\"\n[[arm]]\nrecipe = \"lock/sequential\"\nworkers.count = 3"
            .to_owned(),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn modes() {
    let shown = complaints(&[
        workers("count = 50\nmode = \"opne\""),
        workers("count = 50\nmode = \"drain\"\ntelemetry = false"),
        workers("count = 50\nmode = \"open\""),
        workers("count = 50\narrivals = { rate = 10.0 }"),
        arms("[[arm]]\nrecipe = \"lock/naive\"\nworkers = { mode = \"drain\", arrivals = { rate = 10.0 } }"),
        arms("[[arm]]\nrecipe = \"session/idle\"\nworkers = { mode = \"drain\" }"),
        workers("count = 50\nmode = \"open\"\narrivals = { rate = 10.0 }").replace("lock/naive", "session/idle"),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn versions_and_syntax() {
    let shown = complaints(&[
        "[workers]\ncount = 3\n[[arm]]\nrecipe = \"lock/naive\"".to_owned(),
        "version = 2\nshards = 7\n".to_owned(),
        "version = 0\nworkers.count = 1\n[[arm]]\nrecipe = \"lock/naive\"".to_owned(),
        String::new(),
        "vesion = 1\nworkers.count = 1\n[[arm]]\nrecipe = \"lock/naive\"".to_owned(),
        "version = 1\ncount = = 3\n[workers\nlocks 1\n".to_owned(),
        "version = 1\nversion = 1\n".to_owned(),
        "version = 1\nquestion = \"unfinished\n[workers]\ncount = 3\n".to_owned(),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn a_foreign_file_does_not_fill_the_screen() {
    let foreign = (0..300).fold("version = 1\n".to_owned(), |text, line| format!("{text}key{line} = {line}\n"));
    let complaint = complaint(&foreign, &[]);
    assert_eq!(complaint.matches("error: ").count(), 20);
    assert!(complaint.ends_with("more problems"), "{complaint}");
}

#[test]
fn counters_and_controls() {
    let etcd = |lines: &str| arms(&format!("[[arm]]\nrecipe = \"lock/sequential\"\nservice = \"etcd\"\n{lines}"));
    let shown = complaints(&[
        workers("count = 50\nupdates = \"forever\""),
        workers("count = 50\nupdates = \"5ms\"\nmode = \"drain\""),
        workers("count = 50\nupdates = \"5ms\"").replace("lock/naive", "session/idle"),
        workers("count = 50\nsessions = 50"),
        workers("count = 50\nsessions = 5\ntelemetry = false"),
        arms("[[arm]]\nrecipe = \"lock/sequential\"\nworkers = { sessions = 5 }"),
        etcd("workers = { sessions = 0 }"),
        etcd("workers = { sessions = 5 }\n[[fault]]\nkind = \"crash\"\ntarget = \"holder\"\nat = \"1s\""),
        arms("[[arm]]\nrecipe = \"control/unlokced\""),
    ]);
    insta::assert_snapshot!(shown);
}
