//! Synthetic runs: a stored one, with figures of its trials drawn anew.

use bench_runner::gate::judge::Which;
use bench_runner::gate::{Accepted, Judgement, Pairing, Rules, confirm, judge, to_confirm};
use bench_runner::measure::figures::{Arm, Latency, Series, Trial};
use bench_runner::results::summary::Summary;
use bench_runner::scenario::GateFile;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::sample;

/// What is done to a run on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Factor on the handoff, and on what follows from it.
    pub handoff: f64,
    /// Fan-out of the herd-free arm.
    pub fan_out: f64,
    /// Overlapping grants in one trial of the herd-free arm.
    pub overlaps: u64,
    /// Factor that a neighbour puts on every time, and the share of the machine that it takes.
    pub neighbour: Option<(f64, f64)>,
    /// Trials of each arm.
    pub trials: u32,
}

/// Nothing: the same build against itself.
pub const NOTHING: Change = Change { handoff: 1.0, fan_out: 1.0, overlaps: 0, neighbour: None, trials: 10 };

/// Draws runs.
pub struct Source {
    random: StdRng,
    template: Summary,
}

impl Source {
    pub fn new(seed: u64) -> Source {
        Source { random: StdRng::seed_from_u64(seed), template: without_series(sample::two_arms()) }
    }

    /// A factor around 1 whose logarithm is normal (Box and Muller).
    fn noise(&mut self, spread: f64) -> f64 {
        let (u, v): (f64, f64) = (self.random.random::<f64>().max(1e-300), self.random.random());
        (spread * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
    }

    /// A run of the naive and the herd-free lock. Each trial has a factor of its own on all its times (the machine's mood,
    /// 4 %), and each figure another: medians 4 %, 99th percentiles 12 %, the bystanders' 25 %.
    pub fn run(&mut self, change: Change) -> Summary {
        let mut summary = self.template.clone();
        for (index, arm) in summary.arms.iter_mut().enumerate() {
            let is_free = index == 1;
            let template = arm.trial[0].clone();
            arm.trial = (0..change.trials).map(|number| self.trial(&template, number, change, is_free)).collect();
            arm.trials = change.trials;
            sum_safety(arm);
        }
        summary
    }

    fn trial(&mut self, template: &Trial, number: u32, change: Change, is_free: bool) -> Trial {
        let (neighbour, others) = change.neighbour.unwrap_or((1.0, 0.05));
        let slower = if is_free { change.handoff } else { 1.0 };
        let mood = self.noise(0.04) * neighbour;
        let mut trial = template.clone();
        trial.position = number + 1;
        trial.other_cpu_share = Some((others * self.noise(0.2)).min(1.0));
        self.latency(&mut trial.acquire_ms, mood * slower);
        self.latency(&mut trial.handoff_ms, mood * slower);
        let p99 = trial.bystander_ms.during.p99.unwrap();
        trial.bystander_ms.during.p99 = Some(p99 * neighbour * self.noise(0.25));
        trial.grants_per_second = trial.grants_per_second / (mood * slower) * self.noise(0.03);
        for (figure, spread) in [
            (&mut trial.requests.per_grant, 0.005),
            (&mut trial.requests.response_bytes_per_grant, 0.04),
            (&mut trial.fan_out.mean, 0.002),
        ] {
            *figure = figure.map(|value| value * self.noise(spread));
        }
        if is_free {
            trial.fan_out.mean = trial.fan_out.mean.map(|mean| mean * change.fan_out);
            if number == change.trials / 2 {
                trial.safety.overlaps = change.overlaps;
            }
        }
        trial
    }

    fn latency(&mut self, latency: &mut Latency, factor: f64) {
        let (middle, tail) = (factor * self.noise(0.04), factor * self.noise(0.12));
        latency.p50 = latency.p50.map(|ms| round(ms * middle));
        latency.p90 = latency.p90.map(|ms| round(ms * middle));
        latency.p99 = latency.p99.map(|ms| round(ms * tail));
        latency.p999 = latency.p999.map(|ms| round(ms * tail));
    }

    /// A whole gate: a baseline, a candidate, and where it is called worse a second round.
    pub fn gate(&mut self, change: Change) -> Judgement {
        let baseline = self.run(Change { trials: change.trials, ..NOTHING });
        let candidate = self.run(change);
        let mut first = judged(&baseline, &candidate, &GateFile::default(), None);
        let again = to_confirm(&first);
        if !again.is_empty() {
            let second = self.run(change);
            confirm(&mut first, &judged(&baseline, &second, &GateFile::default(), Some(&again)));
        }
        first
    }
}

/// Three significant digits, as a histogram keeps them: figures tie.
fn round(value: f64) -> f64 {
    let step = 10f64.powf(value.log10().floor() - 2.0);
    (value / step).round() * step
}

/// What the charts draw is most of a summary, and nothing that is judged.
fn without_series(mut summary: Summary) -> Summary {
    summary.arms.iter_mut().for_each(|arm| arm.series = Series::default());
    summary
}

fn sum_safety(arm: &mut Arm) {
    arm.safety.overlaps = arm.trial.iter().map(|trial| trial.safety.overlaps).sum();
}

/// Judges one stored run against another.
pub fn judged(baseline: &Summary, candidate: &Summary, gate: &GateFile, only: Option<&Which>) -> Judgement {
    let accepted = Accepted::default();
    judge(baseline, candidate, &Rules { gate, pairing: Pairing::Apart, allowed: &[], accepted: &accepted, only })
}

/// The same, for trials that ran in turn.
pub fn judged_in_turn(baseline: &Summary, candidate: &Summary) -> Judgement {
    let (gate, accepted) = (GateFile::default(), Accepted::default());
    let rules = Rules { gate: &gate, pairing: Pairing::InTurn, allowed: &[], accepted: &accepted, only: None };
    judge(baseline, candidate, &rules)
}
