//! The bytes of the file that a path stands for.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::path::{KeyPath, Step};

/// The document with the place of everything in it.
pub struct Places<'text> {
    text: &'text str,
    root: DeTable<'text>,
}

/// Something on the way through the document.
#[derive(Clone)]
struct Stop {
    key: Range<usize>,
    value: Range<usize>,
}

impl<'text> Places<'text> {
    /// Reads the places of a text; of one that is no TOML, those that could be read.
    pub fn new(text: &'text str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        Places { text, root: root.into_inner() }
    }

    /// Where the key at the path stands; `None` if the document does not have it.
    pub fn key(&self, path: &KeyPath) -> Option<Range<usize>> {
        let (stop, complete) = self.walk(path)?;
        complete.then(|| self.on_one_line(stop.key))
    }

    /// Where the value at the path stands, or the nearest thing around it; `None` if that is the document itself.
    pub fn value(&self, path: &KeyPath) -> Option<Range<usize>> {
        let (stop, _) = self.walk(path)?;
        Some(self.on_one_line(stop.value))
    }

    /// Where the value at the path stands; `None` if the document does not have it.
    pub fn exact_value(&self, path: &KeyPath) -> Option<Range<usize>> {
        let (stop, complete) = self.walk(path)?;
        complete.then(|| self.on_one_line(stop.value))
    }

    /// Follows the path as far as the document has it; whether that was all of it.
    fn walk(&self, path: &KeyPath) -> Option<(Stop, bool)> {
        let mut steps = path.0.iter();
        let Some(Step::Key(first)) = steps.next() else { return None };
        let (mut stop, mut value) = entry(&self.root, first)?;
        for step in steps {
            let next = match (step, value.get_ref()) {
                (Step::Key(key), DeValue::Table(table)) => entry(table, key),
                (Step::Index(index), DeValue::Array(array)) => {
                    array.get(*index).map(|value| (Stop { key: value.span(), value: value.span() }, value))
                }
                _ => None,
            };
            match next {
                Some(next) => (stop, value) = next,
                None => return Some((stop, false)),
            }
        }
        Some((stop, true))
    }

    /// The part on the first line: carets below many lines hide them.
    fn on_one_line(&self, range: Range<usize>) -> Range<usize> {
        let length = self.text.get(range.clone()).and_then(|text| text.find(['\n', '\r']));
        match length {
            Some(length) => range.start..range.start + length,
            None => range,
        }
    }
}

/// A key of a table with its value.
fn entry<'a, 'text>(table: &'a DeTable<'text>, key: &str) -> Option<(Stop, &'a Spanned<DeValue<'text>>)> {
    let (name, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    Some((Stop { key: name.span(), value: value.span() }, value))
}
