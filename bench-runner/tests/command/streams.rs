//! What goes where: the result to stdout, everything else to stderr; and readers that go away.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use bench_runner::exit;

use crate::place::{Place, SMALL};
use crate::process::eventually;
use crate::running::finished;

#[test]
fn a_quiet_run_says_nothing_but_its_result() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let done = finished(&mut place.command(&["run", "mine.toml", "--quiet"])).expect(exit::DONE);
    assert_eq!(done.stderr, "");
    assert!(done.stdout.contains("grants per second"), "{}", done.stdout);
    let page = done.stdout.lines().last().unwrap().strip_prefix("report: ").unwrap();
    assert!(place.path(page).exists(), "{page}");
    assert!(!done.stdout.contains('\x1b'), "a pipe gets no colours");
    place.assert_nothing_left();
}

#[test]
fn a_run_whose_readers_go_away_ends_as_if_they_had_not() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    let mut command = place.command(&["run", "mine.toml"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut first = [0];
    child.stderr.take().unwrap().read_exact(&mut first).unwrap();
    let mut status = None;
    eventually("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(i32::from(exit::DONE)));
    assert!(place.only_run_of("mine").join("summary.json").exists());
    place.assert_nothing_left();
}

#[test]
fn a_result_that_is_lost_is_an_error() {
    let place = Place::without_servers();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let output = place.command(&["schema", "summary"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(exit::INTERNAL)));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("cannot write the result to stdout") && !told.contains("panicked"), "{told}");
    // An error that cannot be told is still told by the exit code.
    let status = place.command(&["check", "nothing.toml"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(i32::from(exit::USAGE)));
}
