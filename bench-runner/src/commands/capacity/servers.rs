//! The servers of a sweep: they stay up from point to point, and are started anew where their number changes.

use super::super::ensembles::Ensembles;
use crate::ensemble::EnsembleError;
use crate::results::warnings::Warning;
use crate::run::generator;
use crate::run::progress::Progress;
use crate::scenario::Scenario;

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

impl Idle {
    fn now() -> Idle {
        Idle {
            rss_bytes: generator::memory().now,
            heap_bytes: generator::live_heap_bytes(),
            tasks: generator::alive_tasks(),
        }
    }
}

impl Servers {
    /// Starts so many servers, or looks at external ones. Cancelled, it leaves nothing behind.
    pub async fn start(scenario: &Scenario, nodes: u32, progress: &dyn Progress) -> Result<Servers, Failure> {
        let mut scenario = scenario.clone();
        scenario.ensemble.nodes = nodes;
        let say = |what: &str| progress.say(what);
        let ensembles = Ensembles::start(&scenario, &say).await?;
        Ok(Servers { ensembles, nodes, idle: Idle::now() })
    }

    /// Takes the sweep's root on external servers; what is worth knowing of them. Not to be cancelled, as
    /// [`Ensembles::claim`] is not.
    pub async fn claim(
        &mut self,
        scenario: &Scenario,
        root: &str,
        progress: &dyn Progress,
    ) -> Result<Vec<Warning>, EnsembleError> {
        let noticed = self.ensembles.claim(scenario, root, &|what| progress.say(what)).await?;
        // The session that holds the root stays, and has a task.
        self.idle = Idle::now();
        Ok(noticed)
    }

    /// Stops them, and removes from external ones what was created there.
    pub async fn stop(self) -> Result<(), EnsembleError> {
        self.ensembles.stop().await
    }
}
