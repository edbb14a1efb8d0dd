//! A panic is a fault of this program. It reaches the user as an error like any other, in words and with an exit code, and
//! not as a thread's last cry in the middle of the progress.

use std::backtrace::BacktraceStatus;
use std::panic::{self, UnwindSafe};
use std::sync::OnceLock;

use crate::{exit, stderr};

/// The first panic of this process, whichever thread it was in; what follows is mostly its consequence.
static FIRST: OnceLock<String> = OnceLock::new();

/// The first fault so far, as a sentence without a full stop. Who waits for a task asks here whether it can still come.
pub fn seen() -> Option<&'static str> {
    FIRST.get().map(String::as_str)
}

/// The line that stands for a fault.
pub fn message(fault: &str) -> String {
    format!("{fault}; this is a fault of bench-runner: please report it with this line and the scenario")
}

/// Carries `main` out and answers with its exit code, which is never that of a success when anything panicked.
pub fn contain(main: impl FnOnce() -> u8 + UnwindSafe) -> u8 {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // Whoever asks for a backtrace is looking for the fault, and gets all that there is.
        if std::backtrace::Backtrace::capture().status() == BacktraceStatus::Captured {
            default(panic);
        }
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let told = text.unwrap_or("no reason was given");
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
        let _ = FIRST.set(format!("internal error: {told}{place}"));
    }));
    match (panic::catch_unwind(main), seen()) {
        (Ok(code), None) => code,
        // It was told as the reason why the command failed, and must not pass unnoticed where it was not.
        (Ok(code), Some(_)) if code != exit::DONE => code,
        (_, fault) => {
            stderr::line(&message(fault.unwrap_or("internal error")));
            exit::INTERNAL
        }
    }
}
