//! One thing that is wrong with a scenario, before its line is known.

use std::ops::Range;

use super::path::KeyPath;

/// What the carets point at.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// The name of a key.
    Key(KeyPath),
    /// A value. If the document has none there, what would contain it.
    Value(KeyPath),
    /// These bytes of the file.
    Bytes(Range<usize>),
    /// This text after `--set`.
    Override(String),
    /// The file as a whole.
    File,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where.
    pub at: At,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it, each a line of its own.
    pub remedies: Vec<String>,
    /// Other places that belong to it, each with a few words.
    pub related: Vec<(KeyPath, String)>,
}

impl Problem {
    /// A problem without a remedy yet.
    pub fn new(at: At, message: impl Into<String>) -> Self {
        Problem { at, message: message.into(), remedies: Vec::new(), related: Vec::new() }
    }

    /// A problem of the value at `path`.
    pub fn value(path: &KeyPath, message: impl Into<String>) -> Self {
        Problem::new(At::Value(path.clone()), message)
    }

    /// The same with a remedy.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedies.push(remedy.into());
        self
    }

    /// The same with another place that belongs to it.
    pub fn related(mut self, path: &KeyPath, words: impl Into<String>) -> Self {
        self.related.push((path.clone(), words.into()));
        self
    }
}

/// The problems found so far, and the paths about which something was said already: what follows from them is not said
/// again.
#[derive(Debug, Default)]
pub struct Problems {
    /// In the order in which they were found.
    pub found: Vec<Problem>,
    /// Values that were left out or are known to be wrong.
    spoiled: Vec<KeyPath>,
}

impl Problems {
    /// Keeps the problem, and that everything at `path` is not to be judged any more.
    pub fn spoil(&mut self, path: &KeyPath, problem: Problem) {
        self.add(&[path], problem);
        self.silence(path);
    }

    /// Judges nothing at `path` any more.
    pub fn silence(&mut self, path: &KeyPath) {
        self.spoiled.push(path.clone());
    }

    /// Keeps the problem unless a value that it depends on is known to be wrong, or the very same was said already.
    pub fn add(&mut self, depends_on: &[&KeyPath], problem: Problem) {
        let follows = depends_on.iter().any(|path| self.is_spoiled(path));
        // Arms share `[workers]`: a fault there would be found once for each arm.
        if !follows && !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// Whether something was said about this value, its container, or a value within.
    pub fn is_spoiled(&self, path: &KeyPath) -> bool {
        self.spoiled.iter().any(|spoiled| spoiled.touches(path))
    }
}
