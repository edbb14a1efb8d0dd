//! A member of a double barrier: an ephemeral znode of its own.

use super::session::{CreateMode, Session, SessionError, insist, repeat};
use super::{names, parents};
use crate::fresh;
use crate::recipe::RecipeError;
use crate::recipe::barrier::Seat;
use crate::removals::Removals;

/// A member's znode, `<parent>/<uuid>` as Curator names it. The name is new with each enter, so that whatever becomes of an
/// earlier one, no reply that was lost and no removal that is late concerns this one. Dropping it removes the znode in the
/// background, also where the create is still under way.
pub(super) struct Member<S: Session> {
    session: S,
    path: String,
    rank: u64,
    /// Whether there is, or may be, something to remove.
    stands: bool,
    removals: Removals,
}

impl<S: Session> Member<S> {
    /// A member below `parent`; nothing is sent yet.
    pub fn new(session: &S, parent: &str, removals: &Removals) -> Self {
        let uuid = fresh::uuid();
        // Names are compared as text, which for lower-case UUIDs is the order of their numbers.
        let (rank, _) = uuid.as_u64_pair();
        let (session, removals) = (session.clone(), removals.clone());
        Member { session, path: format!("{parent}/{uuid}"), rank, stands: false, removals }
    }

    /// The znode's name below the parent.
    pub fn name(&self) -> &str {
        names::last_segment(&self.path)
    }

    /// Whether the znode has been created and not yet removed.
    pub fn stands(&self) -> bool {
        self.stands
    }

    /// Creates the znode, and what is above it where that is missing.
    pub async fn create(&mut self) -> Result<Seat, SessionError> {
        let seat = |token, rank| Seat { token, rank };
        loop {
            self.stands = true;
            match self.session.create(&self.path, CreateMode::Ephemeral, b"").await {
                Ok(created) => return Ok(seat(created.stat.czxid, self.rank)),
                // Nobody else makes one of this name: it is a create of this loop whose reply was lost.
                Err(SessionError::NodeExists) => {
                    let (_, stat) = repeat(|| self.session.data(&self.path)).await?;
                    return Ok(seat(stat.czxid, self.rank));
                }
                Err(SessionError::NoNode) => parents::make(&self.session, names::parent(&self.path)).await?,
                Err(SessionError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the znode, which may be gone already.
    pub async fn remove(&mut self) -> Result<(), SessionError> {
        match insist(|| self.session.delete(&self.path)).await {
            Ok(()) | Err(SessionError::NoNode) => {
                self.stands = false;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// That somebody removed the znode although the session lives.
    pub fn vanished(&self) -> RecipeError {
        RecipeError::EntryVanished(self.path.clone())
    }
}

impl<S: Session> Drop for Member<S> {
    fn drop(&mut self) {
        if !self.stands {
            return;
        }
        let (session, path) = (self.session.clone(), std::mem::take(&mut self.path));
        self.removals.begin(async move {
            // A create that was under way is decided then. An error in here means that the session is over, and the znode
            // with it.
            if insist(|| session.sync(&path)).await.is_ok() {
                let _ = insist(|| session.delete(&path)).await;
            }
        });
    }
}
