//! One set of worker settings by itself: `[workers]`, or what an arm overrides.

use super::super::delay::DelayText;
use super::super::file::WorkersFile;
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::barriers::MOST_BARRIERS;
use super::{rate, whole_number};

/// Sessions that the runner is built for, far beyond what one machine opens.
pub(super) const MOST_WORKERS: u32 = 1_000_000;

/// Judges the settings at `path`, each key by itself.
pub fn validate(workers: &WorkersFile, path: &KeyPath, problems: &mut Problems) {
    match workers.count {
        Some(0) => {
            let path = path.key("count");
            let problem = Problem::value(&path, "zero workers have nothing to contend for").remedy("write at least 1");
            problems.spoil(&path, problem);
        }
        Some(count) => {
            whole_number(
                &path.key("count"),
                count,
                1,
                MOST_WORKERS,
                "one runner has a port for each session",
                problems,
            );
        }
        None => {}
    }
    if let Some(barriers) = workers.barriers {
        let path = path.key("barriers");
        whole_number(&path, barriers, 1, MOST_BARRIERS, "each is a znode or key", problems);
    }
    if let Some(0) = workers.locks {
        let path = path.key("locks");
        problems.spoil(
            &path,
            Problem::value(&path, "zero locks or elections leave nothing to acquire").remedy("write at least 1"),
        );
    }
    if workers.think == Some(DelayText::Forever) {
        let path = path.key("think");
        let problem = Problem::value(&path, "a worker that rests for ever has nothing to do with the others");
        problems.spoil(&path, problem.remedy("write for example \"5ms\"; only `hold` can be \"forever\""));
    }
    if let Some(number) = workers.connect_concurrency {
        let path = path.key("connect_concurrency");
        whole_number(&path, number, 1, 10_000, "64 suits most machines", problems);
    }
    if let Some(0) = workers.connections {
        let path = path.key("connections");
        let problem = Problem::value(&path, "without a connection no worker reaches the servers");
        problems.spoil(&path, problem.remedy("write at least 1, or leave the key out: each worker then has its own"));
    }
    if let Some(arrivals) = workers.arrivals {
        let path = path.key("arrivals");
        match arrivals.rate {
            None => {
                let problem = Problem::value(&path, "`arrivals` has no `rate`")
                    .remedy("write for example { rate = 200.0 }: 200 acquires a second over all workers");
                problems.spoil(&path.key("rate"), problem);
            }
            Some(number) => {
                let remedy = "write for example { rate = 200.0 }: 200 acquires a second over all workers";
                rate(&path.key("rate"), number, 1_000_000.0, remedy, problems);
            }
        }
    }
}
