//! ZooKeeper: the session that a worker talks through, and the recipes, one a file.
//!
//! | module | what it is |
//! |---|---|
//! | [`session`] | the small trait that recipes are written against, the real client behind it, and the meter around it |
//! | [`naive_lock`] | `lock/naive`: one znode, everybody watches it |
//! | [`sequential_lock`] | `lock/sequential`: a queue, everybody watches the predecessor alone |
//! | [`naive_election`] | `election/naive`: a queue, everybody watches the leader |
//! | [`leader_latch`] | `election/leader-latch`: a queue, and a leader that leads until it is closed or lost |
//! | [`leader_selector`] | `election/leader-selector`: the sequential lock, and leadership that goes round |
//! | `entry` | an entry in such a queue |
//! | [`unlocked`] | `control/unlocked`: tickets, and no lock |
//! | [`Contender`] | any of them, by name |
//! | [`single_barrier`] | `barrier/single`: one znode, all wait for its removal |
//! | [`double_barrier`] | `barrier/double`: a ready znode on the way in, the lowest and the highest on the way out |
//! | [`naive_double_barrier`] | `barrier/double-naive`: everybody watches the list of members and counts |
//! | `member` | a member's own znode, which goes when the attempt does |
//! | [`names`] | the names of znodes: Curator's layout |
//! | [`parents`] | container nodes above a recipe's znodes |
//! | `memory` | feature `memory`: an ensemble in memory, for tests |

mod contender;
pub mod double_barrier;
mod entry;
pub mod leader_latch;
pub mod leader_selector;
mod member;
#[cfg(feature = "memory")]
pub mod memory;
pub mod naive_double_barrier;
pub mod naive_election;
pub mod naive_lock;
pub mod names;
pub mod parents;
pub mod sequential_lock;
pub mod session;
pub mod single_barrier;
pub mod unlocked;

pub use contender::Contender;
pub use double_barrier::DoubleBarrier;
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
