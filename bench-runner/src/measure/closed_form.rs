//! The notifications that a settled drain must cost: the third of the three books.
//!
//! In a settled drain each of the N workers of a lock acquires once, and a holder releases only when every worker that still
//! waits has armed its watch. The k-th release then finds N − k waiting.
//!
//! - `lock/naive`: all of them watch the released znode or key, so the drain costs (N − 1) + (N − 2) + … + 0 = N(N − 1)/2.
//! - `lock/sequential`: only the successor does, and the last release finds nobody: N − 1.

use workloads::settings::{Mode, Recipe, WorkerSettings};

/// What a complete trial of these settings must cost; `None` where there is no closed form.
pub fn notifications(settings: &WorkerSettings) -> Option<u64> {
    if settings.mode != Mode::Drain {
        return None;
    }
    let per_lock: fn(u64) -> u64 = match settings.recipe {
        Recipe::NaiveLock | Recipe::NaiveElection => |workers| workers * workers.saturating_sub(1) / 2,
        Recipe::SequentialLock | Recipe::LeaderLatch | Recipe::LeaderSelector => |workers| workers.saturating_sub(1),
        // Nobody waits.
        Recipe::Unlocked => |_| 0,
        // Barriers have a mode of their own; see `barrier`.
        Recipe::SingleBarrier | Recipe::DoubleBarrier | Recipe::NaiveDoubleBarrier | Recipe::IdleSession => {
            return None;
        }
    };
    // Worker i goes to lock i modulo the number of locks.
    let (workers, locks) = (u64::from(settings.workers), u64::from(settings.resources.max(1)));
    Some((0..locks).map(|lock| per_lock(workers / locks + u64::from(lock < workers % locks))).sum())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use workloads::settings::{Delay, Precautions};

    use super::*;

    fn settings(recipe: Recipe, workers: u32, resources: u32, mode: Mode) -> WorkerSettings {
        WorkerSettings {
            recipe,
            workers,
            resources,
            mode,
            hold: Delay::NONE,
            think: Delay::NONE,
            auto_requeue: false,
            updates: None,
            sessions: None,
            session_timeout: Duration::from_secs(10),
            connections: None,
            connect_concurrency: 1,
            seed: 1,
            precautions: Precautions::default(),
        }
    }

    #[test]
    fn the_drain_of_two_hundred() {
        assert_eq!(notifications(&settings(Recipe::NaiveLock, 200, 1, Mode::Drain)), Some(19_900));
        assert_eq!(notifications(&settings(Recipe::SequentialLock, 200, 1, Mode::Drain)), Some(199));
        assert_eq!(notifications(&settings(Recipe::NaiveLock, 200, 1, Mode::Closed)), None);
    }

    #[test]
    fn workers_are_spread_over_the_locks() {
        // 7 workers on 3 locks: 3, 2, 2.
        assert_eq!(notifications(&settings(Recipe::NaiveLock, 7, 3, Mode::Drain)), Some(3 + 1 + 1));
        assert_eq!(notifications(&settings(Recipe::SequentialLock, 7, 3, Mode::Drain)), Some(2 + 1 + 1));
    }
}
