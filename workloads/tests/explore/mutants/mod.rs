//! Recipes that are broken on purpose: the exploration must find each of them.

use crate::subject::Subject;

/// All of them.
pub fn all() -> Vec<Subject> {
    Vec::new()
}
