//! "did you mean …?"

/// The known name that was most probably meant by `written`, if one is near enough to be worth saying.
pub fn similar<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let scored = known.into_iter().filter_map(|name| {
        let edits = strsim::damerau_levenshtein(&written, &name.to_lowercase());
        // A third of the letters may be wrong: `cout` finds `count`, `zzz` finds nothing. A part of the name counts as one
        // edit: `naive` finds `lock/naive`.
        let allowed = written.chars().count().max(name.chars().count()) / 3;
        let part = written.len() >= 4 && name.contains(&written);
        let score = if part { edits.min(1) } else { edits };
        (part || score <= allowed.max(1) && written.chars().count() > 1).then_some((score, name))
    });
    scored.min_by_key(|(score, _)| *score).map(|(_, name)| name)
}

/// Names in backticks with commas between, for "one of …".
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let keys = ["count", "locks", "mode", "session_timeout"];
        assert_eq!(similar("cout", keys), Some("count"));
        assert_eq!(similar("Count", keys), Some("count"));
        assert_eq!(similar("session-timeout", keys), Some("session_timeout"));
        assert_eq!(similar("timeout", keys), Some("session_timeout"));
        assert_eq!(similar("clients", keys), None);
        assert_eq!(similar("", keys), None);
        assert_eq!(similar("x", keys), None);
        assert_eq!(similar("naive", ["lock/sequential", "lock/naive"]), Some("lock/naive"));
        assert_eq!(similar("lock/sequental", ["lock/sequential", "lock/naive"]), Some("lock/sequential"));
    }
}
