//! ZooKeeper: the session that a worker talks through, and the recipes, one a file.
//!
//! | module | what it is |
//! |---|---|
//! | [`session`] | the small trait that recipes are written against, the real client behind it, and the meter around it |
//! | [`naive_lock`] | `lock/naive`: one znode, everybody watches it |
//! | [`sequential_lock`] | `lock/sequential`: a queue, everybody watches the predecessor alone |
//! | [`Contender`] | any of them, by name |
//! | [`names`] | the names of znodes: Curator's layout |
//! | [`parents`] | container nodes above a recipe's znodes |

mod contender;
pub mod naive_lock;
pub mod names;
pub mod parents;
pub mod sequential_lock;
pub mod session;

pub use contender::Contender;
pub use naive_lock::NaiveLock;
pub use sequential_lock::SequentialLock;

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
