//! Where in a document something is: `arm.0.workers.count`, the notation of `--set`.

use std::fmt;

/// One step from a value to one inside it.
#[derive(Clone, Debug)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into an array, from 0.
    Index(usize),
}

/// A path from the command line cannot tell the key `0` from the first element: they are the same step.
impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Step::Key(a), Step::Key(b)) => a == b,
            (Step::Index(a), Step::Index(b)) => a == b,
            (Step::Key(key), Step::Index(index)) | (Step::Index(index), Step::Key(key)) => *key == index.to_string(),
        }
    }
}

/// The way from the document's root to a value; empty for the root itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyPath(pub Vec<Step>);

impl KeyPath {
    /// The path of a key of this table.
    pub fn key(&self, key: &str) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        KeyPath(steps)
    }

    /// The path of an element of this array.
    pub fn index(&self, index: usize) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        KeyPath(steps)
    }

    /// What contains the value; the root contains itself.
    pub fn parent(&self) -> KeyPath {
        KeyPath(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }

    /// The last key on the way, without its table: what the author reads in the line.
    pub fn last_key(&self) -> &str {
        let key = self.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        });
        key.unwrap_or_default()
    }

    /// Whether the value lies within `outer`, or is `outer` itself.
    pub fn is_within(&self, outer: &KeyPath) -> bool {
        self.0.starts_with(&outer.0)
    }

    /// Whether one of the two contains the other.
    pub fn touches(&self, other: &KeyPath) -> bool {
        self.is_within(other) || other.is_within(self)
    }
}

/// For paths that the code names: dots between the steps, numbers are indices.
impl From<&str> for KeyPath {
    fn from(dotted: &str) -> Self {
        let step = |part: &str| match part.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Key(part.to_owned()),
        };
        KeyPath(dotted.split('.').filter(|part| !part.is_empty()).map(step).collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Key(key) => f.write_str(key)?,
                Step::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}
