//! Reads a metric off a stored run: the figure of each trial, and the arm's own.

use crate::measure::figures::{Arm, Barriers, Failover, Trial};
use crate::scenario::gate::Metric;

/// Whether the arm's fan-out and notifications are known beforehand, so that they are the same in every trial.
pub fn is_exact(arm: &Arm, metric: Metric) -> bool {
    has_closed_form(arm) && matches!(metric, Metric::FanOut | Metric::FanOutMax | Metric::Notifications)
}

fn has_closed_form(arm: &Arm) -> bool {
    arm.notifications.expected.is_some()
}

/// Whether the arm has the metric at all: an order that it promises, a number that is known.
pub fn applies(arm: &Arm, metric: Metric) -> bool {
    match metric {
        Metric::FifoInversions => arm.recipe.is_fifo(),
        Metric::Notifications => has_closed_form(arm),
        Metric::EarlyPassages => arm.barriers.is_some(),
        _ => true,
    }
}

/// The figure of each trial that ran to its end, in the order in which they ran; trials that did not measure it are left out.
pub fn of_trials(arm: &Arm, metric: Metric) -> Vec<f64> {
    let complete = arm.trial.iter().filter(|trial| trial.complete);
    complete.filter_map(|trial| of_trial(trial, metric)).filter(|value| value.is_finite()).collect()
}

/// The figure of one trial, whether it ran to its end or not.
pub fn of_trial(trial: &Trial, metric: Metric) -> Option<f64> {
    let count = |number: u64| Some(number as f64);
    match metric {
        Metric::Overlaps => count(trial.safety.overlaps),
        Metric::TokenRegressions => count(trial.safety.token_regressions),
        Metric::EarlyPassages => count(trial.safety.early_passages),
        Metric::LostUpdates => trial.safety.lost_updates.map(|lost| lost as f64),
        Metric::FifoInversions => count(trial.safety.fifo_inversions),
        Metric::Failed => count(trial.safety.failed),
        Metric::FanOut => trial.fan_out.mean,
        Metric::FanOutMax => trial.fan_out.max.map(|most| most as f64),
        Metric::Notifications => count(trial.notifications.client),
        Metric::Requests => trial.requests.per_grant,
        Metric::ResponseBytes => trial.requests.response_bytes_per_grant,
        Metric::PeakRequests => count(trial.requests.peak_10ms),
        Metric::FailoverFanOut => mean(settled(trial).filter_map(|failover| failover.notifications.map(|n| n as f64))),
        Metric::BarrierRequests => trial.barriers.and_then(|barriers| barriers.requests_per_operation),
        Metric::BarrierBytes => trial.barriers.and_then(|barriers| barriers.response_bytes_per_operation),
        Metric::BarrierOperations => trial.barriers.and_then(|barriers| barriers.operations_per_second),
        Metric::AcquireP50 => trial.acquire_ms.p50,
        Metric::AcquireP90 => trial.acquire_ms.p90,
        Metric::AcquireP99 => trial.acquire_ms.p99,
        Metric::AcquireP999 => trial.acquire_ms.p999,
        Metric::HandoffP50 => trial.handoff_ms.p50,
        Metric::HandoffP90 => trial.handoff_ms.p90,
        Metric::HandoffP99 => trial.handoff_ms.p99,
        Metric::HandoffP999 => trial.handoff_ms.p999,
        Metric::BystanderP50 => trial.bystander_ms.during.p50,
        Metric::BystanderP99 => trial.bystander_ms.during.p99,
        Metric::TakeoverP50 => middle(trial, |failover| failover.takeover_ms),
        Metric::FailoverP50 => middle(trial, |failover| failover.total_ms),
        Metric::GrantsPerSecond => (trial.grants > 0).then_some(trial.grants_per_second),
        Metric::NodesCpu => percent(trial.nodes_cpu_seconds, trial.seconds),
    }
}

/// The arm's own figure, over all trials: what an absolute limit is about.
pub fn of_arm(arm: &Arm, metric: Metric) -> Option<f64> {
    let count = |number: u64| Some(number as f64);
    match metric {
        Metric::Overlaps => count(arm.safety.overlaps),
        Metric::TokenRegressions => count(arm.safety.token_regressions),
        Metric::EarlyPassages => count(arm.safety.early_passages),
        Metric::LostUpdates => arm.safety.lost_updates.map(|lost| lost as f64),
        Metric::FifoInversions => count(arm.safety.fifo_inversions),
        Metric::Failed => count(arm.safety.failed),
        Metric::FanOut => arm.fan_out.mean,
        Metric::FanOutMax => arm.fan_out.max.map(|most| most as f64),
        Metric::Notifications => count(arm.notifications.client),
        Metric::Requests => arm.requests.per_grant,
        Metric::ResponseBytes => arm.requests.response_bytes_per_grant,
        Metric::PeakRequests => count(arm.requests.peak_10ms),
        Metric::FailoverFanOut => arm.failovers.as_ref().and_then(|failovers| failovers.fan_out.mean),
        Metric::BarrierRequests => barriers(arm).and_then(|barriers| barriers.requests_per_operation),
        Metric::BarrierBytes => barriers(arm).and_then(|barriers| barriers.response_bytes_per_operation),
        Metric::BarrierOperations => barriers(arm).map(|barriers| barriers.operations_per_second.mean),
        Metric::AcquireP50 => arm.acquire_ms.p50,
        Metric::AcquireP90 => arm.acquire_ms.p90,
        Metric::AcquireP99 => arm.acquire_ms.p99,
        Metric::AcquireP999 => arm.acquire_ms.p999,
        Metric::HandoffP50 => arm.handoff_ms.p50,
        Metric::HandoffP90 => arm.handoff_ms.p90,
        Metric::HandoffP99 => arm.handoff_ms.p99,
        Metric::HandoffP999 => arm.handoff_ms.p999,
        Metric::BystanderP50 => arm.bystander_ms.during.p50,
        Metric::BystanderP99 => arm.bystander_ms.during.p99,
        Metric::TakeoverP50 => arm.failover_ms.takeover.p50,
        Metric::FailoverP50 => arm.failover_ms.total.p50,
        Metric::GrantsPerSecond => (arm.trials > 0).then_some(arm.grants_per_second.mean),
        Metric::NodesCpu => percent(arm.nodes_cpu_seconds, arm.seconds),
    }
}

/// Of one processor; `None` also where the servers' processes cannot be seen.
fn percent(cpu_seconds: Option<f64>, seconds: f64) -> Option<f64> {
    cpu_seconds.filter(|_| seconds > 0.0).map(|cpu_seconds| 100.0 * cpu_seconds / seconds)
}

fn barriers(arm: &Arm) -> Option<&Barriers> {
    arm.barriers.as_ref()
}

fn settled(trial: &Trial) -> impl Iterator<Item = &Failover> {
    trial.failovers.iter().filter(|failover| failover.settled)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, number) = values.fold((0.0, 0.0), |(sum, number), value| (sum + value, number + 1.0));
    (number > 0.0).then(|| sum / number)
}

fn middle(trial: &Trial, of: fn(&Failover) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = trial.failovers.iter().filter_map(of).collect();
    super::statistics::median(&values)
}
