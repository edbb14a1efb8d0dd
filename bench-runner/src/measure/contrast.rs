//! Naive against herd-free: the ratios that answer what the herd costs.

use workloads::settings::Recipe;

use super::figures::{Arm, Contrast, Quantity};

/// One contrast for each pair of arms that differ in the recipe alone, and one of them herds where the other does not. Arms with
/// faults are compared by their failovers and not by their throughput, and controls with nothing.
pub fn contrasts(arms: &[Arm]) -> Vec<Contrast> {
    let mut found = Vec::new();
    for naive in arms.iter().filter(|arm| arm.failovers.is_none()) {
        for herd_free in arms {
            if answers(naive.recipe, herd_free.recipe) && alike(naive, herd_free) {
                found.push(contrast(naive, herd_free));
            }
        }
    }
    found
}

/// Whether the second recipe does without the herd of the first.
fn answers(naive: Recipe, herd_free: Recipe) -> bool {
    matches!(
        (naive, herd_free),
        (Recipe::NaiveLock, Recipe::SequentialLock)
            | (Recipe::NaiveElection, Recipe::LeaderLatch | Recipe::LeaderSelector)
    )
}

fn alike(a: &Arm, b: &Arm) -> bool {
    let is_control = a.control.is_some() || b.control.is_some();
    !is_control && (a.service, a.workers, a.resources, &a.mode) == (b.service, b.workers, b.resources, &b.mode)
}

fn contrast(naive: &Arm, herd_free: &Arm) -> Contrast {
    // Trials of one round ran next to one another, so their ratio is free of the drift over the run.
    let pairs: Vec<f64> = naive
        .trial
        .iter()
        .zip(&herd_free.trial)
        .filter(|(naive, herd_free)| naive.grants_per_second > 0.0 && herd_free.grants_per_second > 0.0)
        .map(|(naive, herd_free)| herd_free.grants_per_second / naive.grants_per_second)
        .collect();
    Contrast {
        naive: naive.label.clone(),
        herd_free: herd_free.label.clone(),
        throughput: (!pairs.is_empty()).then(|| Quantity::of(&pairs)),
        fan_out: ratio(naive.fan_out.mean, herd_free.fan_out.mean),
        requests_per_grant: ratio(naive.requests.per_grant, herd_free.requests.per_grant),
        acquire_p50: ratio(naive.acquire_ms.p50, herd_free.acquire_ms.p50),
        bystander_p99: ratio(naive.bystander_ms.during.p99, herd_free.bystander_ms.during.p99),
    }
}

fn ratio(over: Option<f64>, under: Option<f64>) -> Option<f64> {
    over.zip(under).filter(|(_, under)| *under > 0.0).map(|(over, under)| over / under)
}
