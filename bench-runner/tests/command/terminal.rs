//! The command on a terminal: colours, NO_COLOR, and a progress that fits.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Command;
use std::thread;

use bench_runner::exit;

use crate::place::{Place, SMALL};
use crate::process::eventually;

/// Runs a command with stdout and stderr on a terminal of so many columns; answers with what the terminal was sent.
fn on_a_terminal(command: &mut Command, columns: u16) -> (Option<i32>, String) {
    let (mut ours, theirs) = open_terminal(columns);
    let mut child = command.env("TERM", "xterm").stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    // The command holds the other end, too, as long as it is not dropped.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let reader = thread::spawn(move || {
        let mut sent = Vec::new();
        let mut block = [0; 4096];
        // When the last who holds the other end is gone, reading fails.
        while let Ok(read @ 1..) = ours.read(&mut block) {
            sent.extend_from_slice(&block[..read]);
        }
        String::from_utf8_lossy(&sent).into_owned()
    });
    let mut status = None;
    eventually("the command ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    (status.unwrap().code(), reader.join().unwrap())
}

fn open_terminal(columns: u16) -> (File, OwnedFd) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: both descriptors are written before they are used; name and settings may be null.
    let failed = unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), &size) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, belong to nobody else, and are not inherited by what other tests start.
    unsafe {
        for descriptor in [ours, theirs] {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

/// Whether a text has colours or the like (`ESC [ … m`), rather than movements of the cursor.
fn is_styled(text: &str) -> bool {
    text.split('\x1b').skip(1).any(|part| {
        let end = part.find(|symbol: char| symbol.is_ascii_alphabetic());
        end.is_some_and(|end| part[end..].starts_with('m'))
    })
}

/// The widest line that was on the terminal at any time; each carriage return begins it anew.
fn widest(sent: &str) -> usize {
    let mut plain = String::new();
    let mut rest = sent.chars();
    while let Some(symbol) = rest.next() {
        if symbol == '\x1b' {
            rest.find(|symbol| symbol.is_ascii_alphabetic());
        } else {
            plain.push(symbol);
        }
    }
    plain.split(['\r', '\n']).map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_terminal_gets_colours_unless_they_are_refused() {
    let place = Place::without_servers();
    place.write("wrong.toml", "version = 1\ncolour = \"red\"\n");
    let (code, sent) = on_a_terminal(&mut place.command(&["check", "wrong.toml"]), 80);
    assert_eq!(code, Some(i32::from(exit::USAGE)));
    assert!(is_styled(&sent), "{sent:?}");
    let (_, sent) = on_a_terminal(place.command(&["check", "wrong.toml"]).env("NO_COLOR", "1"), 80);
    assert!(!is_styled(&sent) && sent.contains("colour"), "{sent:?}");
}

#[test]
fn the_progress_fits_a_narrow_terminal_and_goes_in_the_end() {
    let place = Place::with_servers();
    place.write("mine.toml", SMALL);
    // The result goes to a file, as of a user who keeps it; the terminal has the progress alone.
    let mut command =
        place.in_place("sh", &["-c", &format!("exec {} run mine.toml >result", env!("CARGO_BIN_EXE_bench-runner"))]);
    let (code, sent) = on_a_terminal(command.env("NO_COLOR", "1"), 30);
    assert_eq!(code, Some(i32::from(exit::DONE)), "{sent:?}");
    assert!(sent.contains("0:0") && !is_styled(&sent), "{sent:?}");
    let moving: Vec<&str> = sent.split('\r').filter(|line| !line.contains("grants,")).collect();
    assert!(moving.iter().all(|line| widest(line) <= 30), "{moving:?}");
    let result = std::fs::read_to_string(place.path("result")).unwrap();
    assert!(result.contains("grants per second") && !result.contains('\x1b'), "{result:?}");
    place.assert_nothing_left();
}
