//! etcd: the session that a worker talks through, and the recipes, one a file.
//!
//! | module | what it is |
//! |---|---|
//! | [`session`] | the small trait that recipes are written against, and the real, counted client behind it |
//! | [`naive_lock`] | `lock/naive`: one key, everybody watches it |
//! | [`sequential_lock`] | `lock/sequential`: a queue, everybody watches the predecessor alone |
//! | [`naive_election`] | `election/naive`: one leader's key, everybody watches it |
//! | [`leader_latch`] | `election/leader-latch`: campaigns, and leads until it is closed or lost |
//! | [`leader_selector`] | `election/leader-selector`: campaigns, leads, resigns, and campaigns again |
//! | [`election`] | what the two stand on: etcd's own election |
//! | [`unlocked`] | `control/unlocked`: tickets, and no lock |
//! | [`Contender`] | any of them, by name |
//! | [`single_barrier`] | `barrier/single`: one key, all wait for its deletion |
//! | [`double_barrier`] | `barrier/double`: a ready key on the way in, the lowest and the highest on the way out |
//! | [`naive_double_barrier`] | `barrier/double-naive`: everybody watches the members' prefix and counts |
//! | [`keys`] | the keys: those of etcd's own concurrency package |
//! | `members` | what the barriers have in common |
//! | `queue` | a queue of keys, as the sequential lock and the elections have it |
//! | `entry` | a worker's own key, which goes when the attempt does |
//! | `memory` | feature `memory`: an ensemble in memory, for tests |

mod contender;
pub mod double_barrier;
pub mod election;
mod entry;
pub mod keys;
pub mod leader_latch;
pub mod leader_selector;
mod members;
#[cfg(feature = "memory")]
pub mod memory;
pub mod naive_double_barrier;
pub mod naive_election;
pub mod naive_lock;
mod queue;
pub mod sequential_lock;
pub mod session;
pub mod single_barrier;
pub mod unlocked;

pub use contender::Contender;
pub use double_barrier::DoubleBarrier;
pub use election::Election;
pub use leader_latch::LeaderLatch;
pub use leader_selector::LeaderSelector;
pub use naive_double_barrier::NaiveDoubleBarrier;
pub use naive_election::NaiveElection;
pub use naive_lock::NaiveLock;
pub use sequential_lock::SequentialLock;
pub use single_barrier::SingleBarrier;
pub use unlocked::Unlocked;

use crate::recipe::{Loss, RecipeError};
use session::SessionError;

impl From<SessionError> for RecipeError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Lost(why) => RecipeError::SessionLost(why),
            other => RecipeError::Service(other.to_string()),
        }
    }
}

impl From<SessionError> for Loss {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Lost(why) => Loss::Session(why),
            other => Loss::Suspended(other.to_string()),
        }
    }
}
