//! What the terminal shows while a run is under way: on stderr, so that stdout carries the result alone.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::stderr;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Workers open their sessions.
    Connecting {
        /// Sessions open so far.
        connected: u32,
        /// Workers in all.
        workers: u32,
    },
    /// Workers are connected and idle; bystanders are measured at rest.
    Resting,
    /// Workers contend.
    Running {
        /// Since the start of the workers.
        elapsed: Duration,
        /// When it ends; for a drain, when it is given up.
        length: Duration,
        /// Acquisitions that are over, or enters of barriers.
        grants: u64,
        /// Requests sent.
        requests: u64,
        /// What they are called.
        counted: &'static str,
        /// A drain: how many acquisitions there are to be; barriers: how many enters.
        drain_of: Option<u64>,
    },
    /// The books are being closed.
    Closing,
}

/// Is told how a run comes along.
pub trait Progress: Sync {
    /// A sentence about what is going on outside the trials.
    fn say(&self, what: &str);
    /// A trial begins: its arm, `trial` or `warm-up`, and which of how many of that kind.
    fn trial(&self, label: &str, kind: &str, number: usize, of: usize);
    /// Where the trial is.
    fn step(&self, step: Step);
    /// A trial is over: what came out of it, in a line.
    fn trial_over(&self, line: &str);
    /// Nothing more will come.
    fn finish(&self);
}

/// Shows nothing.
pub struct Silent;

impl Progress for Silent {
    fn say(&self, _: &str) {}
    fn trial(&self, _: &str, _: &str, _: usize, _: usize) {}
    fn step(&self, _: Step) {}
    fn trial_over(&self, _: &str) {}
    fn finish(&self) {}
}

/// One line that moves where stderr is a terminal, and a line for each step where it is a file or a pipe.
pub struct Terminal {
    bar: ProgressBar,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    trial: String,
    /// When the trial was last spoken of.
    told: Option<Instant>,
    last: Option<(Duration, u64, u64)>,
    rates: (f64, f64),
}

impl Terminal {
    /// A display that is drawn ten times a second at the most.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        // The template is a constant, so an error in it would show in every run.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Terminal { bar, begun: Instant::now(), state: Mutex::default() }
    }

    fn line(&self, text: String) {
        if self.bar.is_hidden() {
            stderr::line(&text);
        } else {
            self.bar.println(text);
        }
    }

    fn clock(&self) -> String {
        let seconds = self.begun.elapsed().as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }

    fn show(&self, what: String) {
        self.bar.set_message(format!("{}  {what}", self.clock()));
        self.bar.tick();
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

/// How long nothing is said of a trial that goes on, where stderr is a file or a pipe.
const QUIET: Duration = Duration::from_secs(10);

/// How much time rates are taken over: long enough to be readable, short enough to follow.
const RATE_WINDOW: Duration = Duration::from_millis(500);

impl State {
    fn rates(&mut self, elapsed: Duration, grants: u64, requests: u64) -> (f64, f64) {
        match self.last {
            Some((then, _, _)) if elapsed < then => self.last = None,
            Some((then, ..)) if elapsed - then < RATE_WINDOW => {}
            Some((then, grants_then, requests_then)) => {
                let seconds = (elapsed - then).as_secs_f64();
                let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
                self.rates = (rate(grants, grants_then), rate(requests, requests_then));
                self.last = Some((elapsed, grants, requests));
            }
            None => {
                self.rates = (0.0, 0.0);
                self.last = Some((elapsed, grants, requests));
            }
        }
        self.rates
    }
}

impl Progress for Terminal {
    fn say(&self, what: &str) {
        if self.bar.is_hidden() {
            self.line(format!("{}  {what}", self.clock()));
        } else {
            self.show(what.to_owned());
        }
    }

    fn trial(&self, label: &str, kind: &str, number: usize, of: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        *state = State { trial: format!("{kind} {number} of {of}, {label}"), ..State::default() };
        if self.bar.is_hidden() {
            state.told = Some(Instant::now());
            self.line(format!("{}  {}", self.clock(), state.trial));
        }
    }

    fn step(&self, step: Step) {
        let Ok(mut state) = self.state.lock() else { return };
        // Rates are followed all the time, also where they are seldom told.
        let (grants_per_second, requests_per_second) = match step {
            Step::Running { elapsed, grants, requests, .. } => state.rates(elapsed, grants, requests),
            _ => (0.0, 0.0),
        };
        if self.bar.is_hidden() && state.told.is_some_and(|told| told.elapsed() < QUIET) {
            return;
        }
        state.told = Some(Instant::now());
        let what = match step {
            Step::Connecting { connected, workers } => format!("connecting, {connected} of {workers} sessions"),
            Step::Resting => "connected; bystanders at rest".to_owned(),
            Step::Running { elapsed, length, grants, counted, drain_of, .. } => {
                let seconds = elapsed.as_secs();
                let position = match drain_of {
                    Some(all) => format!("{seconds} s, {grants} of {all} {counted}"),
                    None => format!("{seconds} of {} s", length.as_secs()),
                };
                format!("{position}, {grants_per_second:.0} {counted}/s, {requests_per_second:.0} requests/s")
            }
            Step::Closing => "closing the books".to_owned(),
        };
        let line = format!("{}, {what}", state.trial);
        drop(state);
        self.say(&line);
    }

    fn trial_over(&self, line: &str) {
        self.line(format!("{}  {line}", self.clock()));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
