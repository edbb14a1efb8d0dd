//! Faults of external nodes, by commands of the user's.
use bench_runner::exit;

use crate::place::Place;
use crate::running::finished;
use crate::servers::{self, Server};
use crate::written::summary;
use crate::{on_etcd, tree};

#[test]
fn nodes_are_broken_and_mended_by_the_users_commands() {
    let place = Place::with_servers();
    let servers = servers::etcd_ensemble(&place, &["etcd-1", "etcd-2", "etcd-3"], None);
    let endpoints: Vec<String> = servers.iter().map(Server::endpoint).collect();
    let before = tree::of_etcd(&servers[0]);
    // They work in the test's folder, beside those of the servers.
    let commands = |resume: &str| {
        format!(
            "commands = {{ pause = \"kill -STOP $(cat etcd-{{index}}/pid) && echo {{endpoint}} >> paused\", resume = \"{resume}\" }}"
        )
    };
    let fault = "\n[[fault]]\nkind = \"pause-node\"\ntarget = \"follower\"\nat = \"200ms\"\nfor = \"500ms\"\n";
    let run = ["run", "theirs.toml", "--allow-external", "--allow-commands", "--set", "trials.duration=3s"];

    let resume = "kill -CONT $(cat etcd-$BENCH_RUNNER_NODE_INDEX/pid)";
    place.write("theirs.toml", &(on_etcd(&commands(resume), &endpoints) + fault));
    finished(&mut place.command(&run)).expect(exit::DONE);
    let struck = &summary(&place.only_run_of("theirs")).arms[0].trial[0].failovers[0];
    assert_eq!((struck.skipped.as_ref(), struck.healed_seconds.is_some()), (None, true), "{struck:?}");
    let node = struck.node.as_ref().unwrap();
    let number: usize = node.strip_prefix("etcd-").unwrap().parse().unwrap();
    assert_eq!(std::fs::read_to_string(place.path("paused")).unwrap().trim(), endpoints[number - 1]);
    assert_eq!(tree::of_etcd(&servers[0]), before);

    std::fs::remove_dir_all(place.path("results")).unwrap();
    let broken = commands(resume).replace("kill -STOP", "echo no such host; exit 1; kill -STOP");
    place.write("theirs.toml", &(on_etcd(&broken, &endpoints) + fault));
    finished(&mut place.command(&run)).expect(exit::DONE);
    let struck = &summary(&place.only_run_of("theirs")).arms[0].trial[0].failovers[0];
    let why = struck.skipped.as_ref().unwrap();
    assert!(why.contains("could not be paused") && why.contains("no such host"), "{why}");
}
