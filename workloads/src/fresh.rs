//! Names that nobody else has.

use uuid::Uuid;

/// A fresh UUID. Members of a barrier leave in the order of theirs, so in an exploration they come from its seed as well.
pub(crate) fn uuid() -> Uuid {
    #[cfg(feature = "memory")]
    if let Some(uuid) = crate::chaos::uuid() {
        return uuid;
    }
    Uuid::new_v4()
}
