//! A limit of a file's size (`ulimit -f`) that is reached: an error of the write, as a full disk is, and not the end of the
//! process without a word.

use nix::sys::signal::{SigHandler, Signal, signal};

/// Ignores the signal that the kernel sends when a file reaches the limit; the write then fails with an error.
pub fn make_it_an_error() {
    // SAFETY: ignoring a signal installs no handler, so no code can run at a wrong moment.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}
