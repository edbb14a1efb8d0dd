//! The notifications that settled barriers must cost: the third of the three books. Each is derived in the recipe's own
//! documentation, from the moments at which watches stand.
//!
//! | recipe | ZooKeeper, N members | etcd |
//! |---|---|---|
//! | `barrier/single` | N − 1: all but the controller wait | the same |
//! | `barrier/double` | N to enter (the creator of `ready` is told too), N − 1 to leave | 2(N − 1) |
//! | `barrier/double-naive` | N(N − 1)/2 to enter, N(N − 1)/2 + N to leave: together N² | N(N − 1) |

use workloads::settings::{Mode, Recipe, Service, WorkerSettings};

/// What a complete trial of these settings must cost; `None` where there is no closed form.
pub fn notifications(service: Service, settings: &WorkerSettings) -> Option<u64> {
    let Mode::Barriers { barriers, settled: true } = settings.mode else { return None };
    let n = u64::from(settings.workers);
    let each = match (settings.recipe, service) {
        (Recipe::SingleBarrier, _) => n.saturating_sub(1),
        (Recipe::DoubleBarrier, Service::Zookeeper) => (2 * n).saturating_sub(1),
        (Recipe::DoubleBarrier, Service::Etcd) => 2 * n.saturating_sub(1),
        (Recipe::NaiveDoubleBarrier, Service::Zookeeper) => n * n,
        (Recipe::NaiveDoubleBarrier, Service::Etcd) => n * n.saturating_sub(1),
        _ => return None,
    };
    Some(u64::from(barriers) * each)
}
