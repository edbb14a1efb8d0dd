//! The servers of a sweep: they stay up from point to point, and are started anew where their number changes.

use super::super::ensembles::Ensembles;
use super::under_way::at;
use crate::ensemble::EnsembleError;
use crate::run::generator;
use crate::run::progress::Progress;
use crate::scenario::{Scenario, Variable};

use super::super::Failure;

/// Servers that run, and how many.
pub(super) struct Servers {
    pub ensembles: Ensembles,
    pub nodes: u32,
    /// The generator before the first worker connects to them.
    pub idle: Idle,
}

/// The generator without workers.
#[derive(Clone, Copy)]
pub(super) struct Idle {
    pub rss_bytes: u64,
    pub heap_bytes: u64,
    pub tasks: usize,
}

impl Servers {
    /// Starts as many servers as the scenario says.
    pub async fn start(scenario: &Scenario, nodes: u32, progress: &dyn Progress) -> Result<Servers, Failure> {
        let point = at(scenario, &[(Variable::Nodes, f64::from(nodes))])?;
        let say = |what: &str| progress.say(what);
        let ensembles = Ensembles::start(&point, &say).await?;
        let idle = Idle {
            rss_bytes: generator::memory().now,
            heap_bytes: generator::live_heap_bytes(),
            tasks: generator::alive_tasks(),
        };
        Ok(Servers { ensembles, nodes, idle })
    }

    /// Stops them.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        self.ensembles.stop().await
    }
}
