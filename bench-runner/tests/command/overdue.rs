//! A drain that is not over within its limit: the run goes on, is not complete, and says what to change.

use bench_runner::exit;

use crate::place::{Place, SMALL};
use crate::running::finished;
use crate::written::{assert_partial, summary};

#[test]
fn a_drain_beyond_its_limit_makes_the_run_incomplete() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut arguments = vec!["run", "mine.toml"];
    for set in ["workers.mode=drain", "workers.hold=1s", "trials.limit=2s", "trials.count=2"] {
        arguments.extend(["--set", set]);
    }
    finished(&mut place.command(&arguments)).expect(exit::INTERNAL).tells(&[
        "trial 2 of 2",
        "error: a drain was not over within its limit",
        "raise trials.limit",
        ".partial, marked as incomplete",
    ]);
    let run = place.only_run_of("mine");
    assert_partial(&run, "not over within its limit");
    assert!(summary(&run).arms[0].trial.iter().all(|trial| !trial.complete));
    place.assert_nothing_left();
}
