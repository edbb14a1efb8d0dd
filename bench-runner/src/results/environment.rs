//! The machine and the versions that a result is from.

use procfs::{CpuInfo, Current, Meminfo};

use super::summary::Environment;
use crate::ensemble::Description;
use crate::scenario::Scenario;

/// Looks at this machine. What cannot be found out is left empty, never guessed.
pub fn collect(scenario: &Scenario, ensembles: &[Description]) -> Environment {
    let cpus = std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32);
    Environment {
        bench_runner: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: option_env!("GIT_REVISION").map(str::to_owned),
        scenario_sha256: scenario.sha256.clone(),
        kernel: std::fs::read_to_string("/proc/version")
            .map(|version| version.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
            .unwrap_or_default(),
        cpu_model: CpuInfo::current().ok().and_then(|info| info.model_name(0).map(str::to_owned)).unwrap_or_default(),
        cpus,
        memory_bytes: Meminfo::current().map_or(0, |memory| memory.mem_total),
        java: ensembles.iter().find_map(|ensemble| ensemble.java.clone()),
    }
}
