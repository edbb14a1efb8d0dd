//! Lines on stderr.

use std::io::Write;

/// Writes a line to stderr. Nobody may be reading: `bench-runner … 2>&1 | head` closes the pipe, and a run must not die of
/// that, as it would with `eprintln!`, which panics.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
