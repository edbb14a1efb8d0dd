//! Goes through the seeds of a subject, on all cores.
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::story::Story;
use crate::subject::Subject;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The lowest seed that breaks a promise, and which one.
    pub broken: Option<(u64, String)>,
    pub seeds: u64,
    pub passed: u64,
    pub losses: u64,
    pub took: Duration,
}

/// Explores `seeds`. When one is broken, those after it are left out and those before it are finished, so that the lowest
/// is told whatever the number of cores.
pub fn sweep(subject: &Subject, seeds: std::ops::Range<u64>) -> Found {
    let started = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let end = AtomicU64::new(seeds.end);
    let found = Mutex::new(Found::default());
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let mut own = Found::default();
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= end.load(Relaxed) {
                        break;
                    }
                    let Story { violation, passed, losses, .. } = subject.story(seed, false);
                    own.seeds += 1;
                    own.passed += passed;
                    own.losses += losses;
                    if let Some(violation) = violation {
                        end.fetch_min(seed, Relaxed);
                        own.broken = Some((seed, violation));
                        break;
                    }
                }
                let mut found = found.lock().unwrap();
                found.seeds += own.seeds;
                found.passed += own.passed;
                found.losses += own.losses;
                let broken = [found.broken.take(), own.broken].into_iter().flatten().min();
                found.broken = broken;
            });
        }
    });
    Found { took: started.elapsed(), ..found.into_inner().unwrap() }
}
