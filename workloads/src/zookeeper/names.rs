//! Names of znodes, kept exactly as Apache Curator has them, so that a Java client can stand in the same queue.
//!
//! A queue entry is `_c_<uuid>-lock-<ten digits>`: Curator's *protected* prefix with a fresh UUID, by which a create whose
//! reply was lost is found again, the recipe's own name, and the sequence number that the server appends.

use crate::fresh;

/// A fresh protected name, without the sequence number: `_c_<uuid>-<name>`.
pub fn protected(name: &str) -> String {
    format!("_c_{}-{name}", fresh::uuid())
}

/// The sequence number of a queue entry: what follows the last `name` in it. `None` for a znode that is no entry of the queue.
pub fn sequence(entry: &str, name: &str) -> Option<i64> {
    let at = entry.rfind(name)?;
    entry[at + name.len()..].parse().ok()
}

/// The path above the last `/` of `path`.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// What follows the last `/` of `path`.
pub fn last_segment(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, segment)| segment)
}

/// Where an entry stands in its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Nobody is before it.
    First,
    /// Behind this entry, which the recipe watches: the one just before it, or the first of all.
    Behind(String),
    /// It is not in the queue.
    Missing,
}

/// The position of `own` among `children`, behind its predecessor: entries are ordered by sequence number, whatever their
/// prefix.
pub fn position(children: Vec<String>, own: &str, name: &str) -> Position {
    position_by(children, own, name, i64::gt)
}

/// As [`position`], behind the first of all instead of behind the predecessor.
pub fn position_by_smallest(children: Vec<String>, own: &str, name: &str) -> Position {
    position_by(children, own, name, i64::lt)
}

/// Of the entries before `own`, the one whose sequence number is `better` than that of each other.
///
/// One pass and no sorting: of a thousand names only one matters.
fn position_by(children: Vec<String>, own: &str, name: &str, better: fn(&i64, &i64) -> bool) -> Position {
    let Some(own_sequence) = sequence(own, name) else { return Position::Missing };
    let mut present = false;
    let mut best: Option<(i64, String)> = None;
    for child in children {
        if child == own {
            present = true;
            continue;
        }
        let Some(sequence) = sequence(&child, name) else { continue };
        if sequence < own_sequence && best.as_ref().is_none_or(|(best, _)| better(&sequence, best)) {
            best = Some((sequence, child));
        }
    }
    match (present, best) {
        (false, _) => Position::Missing,
        (true, None) => Position::First,
        (true, Some((_, child))) => Position::Behind(child),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_protected_name_has_curators_form() {
        let name = protected("lock-");
        assert!(name.starts_with("_c_") && name.ends_with("-lock-"), "{name}");
        assert_eq!(name.len(), "_c_".len() + 36 + "-lock-".len());
    }

    #[test]
    fn the_sequence_follows_the_last_occurrence_of_the_name() {
        assert_eq!(sequence("_c_lock-lock-lock-0000000012", "lock-"), Some(12));
        assert_eq!(sequence("lock-0000000003", "lock-"), Some(3));
        assert_eq!(sequence("_c_5e2e-latch-0000000003", "lock-"), None);
        assert_eq!(sequence("lock-", "lock-"), None);
    }

    #[test]
    fn strangers_are_not_in_the_queue() {
        let children = vec!["leases".to_owned(), "x-lock-0000000007".to_owned(), "own-lock-0000000009".to_owned()];
        let behind = Position::Behind("x-lock-0000000007".to_owned());
        assert_eq!(position(children.clone(), "own-lock-0000000009", "lock-"), behind);
        assert_eq!(position(children, "gone-lock-0000000001", "lock-"), Position::Missing);
    }

    proptest! {
        /// ZOOKEEPER-3162: the strict predecessor, whatever the order of the list and of the prefixes.
        #[test]
        fn the_predecessor_is_the_next_smaller(sequences in prop::collection::hash_set(0i64..10_000, 1..50), pick in any::<prop::sample::Index>()) {
            let sequences: Vec<i64> = sequences.into_iter().collect();
            let own = sequences[pick.index(sequences.len())];
            let entry = |sequence: i64| format!("_c_{:x}-lock-{sequence:010}", sequence.wrapping_mul(7919) % 97);
            let expected = sequences.iter().copied().filter(|sequence| *sequence < own).max();
            let position_of = |sequence: Option<i64>| sequence.map_or(Position::First, |sequence| Position::Behind(entry(sequence)));
            let entries: Vec<String> = sequences.iter().copied().map(entry).collect();
            prop_assert_eq!(position(entries.clone(), &entry(own), "lock-"), position_of(expected));
            // The naive election looks for the first of all instead.
            let smallest = sequences.iter().copied().min().filter(|smallest| *smallest < own);
            prop_assert_eq!(position_by_smallest(entries, &entry(own), "lock-"), position_of(smallest));
        }
    }
}
