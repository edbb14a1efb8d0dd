//! What happened, line by line.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

/// The trace of a run; clones write to the same. Costs nothing while it is off.
#[derive(Clone, Debug, Default)]
pub struct Trace(Option<Arc<Mutex<Lines>>>);

#[derive(Debug)]
struct Lines {
    start: Instant,
    lines: Vec<String>,
}

impl Trace {
    /// Writes nothing.
    pub fn off() -> Self {
        Trace(None)
    }

    /// Writes everything down, with the time since now. To be called inside the [run](super::run).
    pub fn on() -> Self {
        Trace(Some(Arc::new(Mutex::new(Lines { start: Instant::now(), lines: Vec::new() }))))
    }

    /// Writes a line.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.0 {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            let at = lines.start.elapsed().as_millis();
            let line = line();
            lines.lines.push(format!("{at:>7} ms  {line}"));
        }
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.0
            .as_ref()
            .map_or_else(Vec::new, |lines| lines.lock().unwrap_or_else(PoisonError::into_inner).lines.clone())
    }
}
