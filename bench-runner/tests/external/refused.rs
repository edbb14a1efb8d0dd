//! What is not allowed is not done, and the refusal says what it would have been.
use bench_runner::exit;

use crate::place::Place;
use crate::running::finished;
use crate::{on_etcd, on_zookeeper};

/// Nothing listens there, so that nothing is reached.
fn nowhere() -> Vec<String> {
    vec!["127.0.0.1:1".to_owned()]
}

#[test]
fn external_servers_are_refused_unless_they_are_allowed_by_name() {
    let place = Place::without_servers();
    place.write("theirs.toml", &on_zookeeper("", &nowhere()));
    let words = ["--allow-external", "127.0.0.1:1", "5 at once", "at most 5000 a second", "nothing was done"];
    finished(&mut place.command(&["run", "theirs.toml"])).expect(exit::USAGE).tells(&words);
    let gate = ["gate", "theirs.toml", "--baseline", "none.json", "--update-baseline"];
    finished(&mut place.command(&gate)).expect(exit::USAGE).tells(&["--allow-external"]);
    finished(&mut place.command(&["clean", "theirs.toml"])).expect(exit::USAGE).tells(&["--allow-external"]);
    place.assert_no_results();
}

#[test]
fn a_dry_run_shows_everything_and_touches_nothing() {
    let place = Place::without_servers();
    place.write("theirs.toml", &on_etcd("max_rate = 700\nmax_workers = 50", &nowhere()));
    let done = finished(&mut place.command(&["run", "theirs.toml", "--dry-run"])).expect(exit::DONE);
    for word in [
        "external etcd node",
        "127.0.0.1:1",
        "/bench-runner/<run> alone",
        "max_workers = 50",
        "at most 700 a second",
        "time",
    ] {
        assert!(done.stdout.contains(word), "{word}: {}", done.stdout);
    }
    assert_eq!(done.stderr, "");
    place.assert_no_results();
}

#[test]
fn servers_that_cannot_be_reached_are_named() {
    let place = Place::without_servers();
    place.write("theirs.toml", &on_etcd("", &nowhere()));
    let run = ["run", "theirs.toml", "--allow-external"];
    finished(&mut place.command(&run)).expect(exit::ENSEMBLE).tells(&["cannot connect to 127.0.0.1:1"]);
    place.assert_no_results();
}

#[test]
fn more_workers_than_the_ceiling_are_refused_by_line() {
    let place = Place::without_servers();
    place.write("theirs.toml", &on_zookeeper("max_workers = 4", &nowhere()));
    let words = ["5 workers are above the ceiling of 4", "max_workers = 4"];
    finished(&mut place.command(&["run", "theirs.toml", "--allow-external"])).expect(exit::USAGE).tells(&words);
    place.write("many.toml", &on_zookeeper("", &nowhere()).replace("count = 5\n", "count = 1001\n"));
    let words = ["1001 workers are above the ceiling of 1000"];
    finished(&mut place.command(&["run", "many.toml", "--allow-external"])).expect(exit::USAGE).tells(&words);
}

#[test]
fn a_password_that_is_not_there_is_told_before_anything_starts() {
    let place = Place::without_servers();
    let auth = "auth = { user = \"bench\", password_env = \"NO_SUCH_PASSWORD\" }\n";
    place.write("theirs.toml", &(on_etcd("", &nowhere()) + auth));
    let words = ["[ensemble.etcd]", "NO_SUCH_PASSWORD"];
    finished(&mut place.command(&["run", "theirs.toml", "--allow-external"])).expect(exit::USAGE).tells(&words);
    place.assert_no_results();
}

#[test]
fn faults_of_external_nodes_need_commands_and_leave_to_run_them() {
    let place = Place::without_servers();
    let fault = "\n[[fault]]\nkind = \"restart-node\"\ntarget = \"random\"\nat = \"100ms\"\n";
    place.write("theirs.toml", &(on_etcd("", &nowhere()) + fault));
    let run = |name: &str| finished(&mut place.command(&["run", name, "--allow-external"])).expect(exit::USAGE);
    run("theirs.toml").tells(&["`kill` and `start` under [ensemble.commands]"]);
    let commands = "commands = { kill = \"touch done\", start = \"touch done\" }";
    place.write("commands.toml", &(on_etcd(commands, &nowhere()) + fault));
    run("commands.toml").tells(&["--allow-commands", "kill: touch done"]);
    assert!(!place.path("done").exists());
}
