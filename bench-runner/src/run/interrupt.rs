//! Ctrl-C and SIGTERM. The first ends the run in good order, with partial results; the second ends the process at once, and
//! the keepers of the nodes see to it that no server survives.

use std::io;

use nix::libc::SIGHUP;
use procfs::process::Process;
use tokio::signal::unix::{Signal, SignalKind, signal};
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
    let mut hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
    tokio::spawn(async move {
        for first in [true, false] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                Some(()) = received(&mut hang_up) => {}
            }
            if first {
                interrupted.cancel();
            }
        }
        std::process::exit(exit::INTERRUPTED.into());
    });
    Ok(token)
}

/// Whether this process was started so that the end of its terminal does not concern it, as `nohup` does.
fn ignores_hang_up() -> bool {
    let ignored = Process::myself().and_then(|process| process.status()).map_or(0, |status| status.sigign);
    ignored & 1 << (SIGHUP - 1) != 0
}

async fn received(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => None,
    }
}
