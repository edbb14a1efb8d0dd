//! Which arm runs when.
//!
//! Arms run on the same ensemble, which warms up, fills its log and shares a noisy machine, so a drift over the run must not
//! favour an arm. Each round runs every arm once, and every other round runs them backwards (A B B A …): a linear drift then
//! cancels out of the comparison, and each naive trial has a herd-free one next to it.

use crate::scenario::Scenario;

/// One trial to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The arm, as an index into the scenario's.
    pub arm: usize,
    /// Position among the measured trials, counted from 1; 0 for a warm-up.
    pub position: u32,
}

impl Planned {
    /// Whether the trial only warms the servers up.
    pub fn is_warmup(&self) -> bool {
        self.position == 0
    }
}

/// All trials of a scenario, in the order in which they run.
pub fn plan(scenario: &Scenario) -> Vec<Planned> {
    let arms = scenario.arms.len();
    let warmups = if scenario.trials.warmup.is_zero() { 0 } else { arms };
    let mut trials: Vec<Planned> = (0..warmups).map(|arm| Planned { arm, position: 0 }).collect();
    trials.extend((1..).zip(balanced(arms, scenario.trials.count)).map(|(position, arm)| Planned { arm, position }));
    trials
}

/// The arms of all measured trials: forwards in even rounds, backwards in odd ones.
fn balanced(arms: usize, rounds: u32) -> Vec<usize> {
    (0..rounds)
        .flat_map(|round| (0..arms).map(move |step| if round % 2 == 0 { step } else { arms - 1 - step }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_alternate() {
        assert_eq!(balanced(2, 4), [0, 1, 1, 0, 0, 1, 1, 0]);
        assert_eq!(balanced(3, 2), [0, 1, 2, 2, 1, 0]);
        assert_eq!(balanced(1, 3), [0, 0, 0]);
    }
}
