//! Ctrl-C and SIGTERM. The first ends the run in good order, with partial results; the second ends the process at once, and
//! the keepers of the nodes see to it that no server survives.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit;

/// Listens for the signals from now on. The token is cancelled by the first.
///
/// # Errors
///
/// When the handlers cannot be installed.
pub fn listen() -> io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let interrupted = token.clone();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            if first {
                interrupted.cancel();
            }
        }
        std::process::exit(exit::INTERRUPTED.into());
    });
    Ok(token)
}
