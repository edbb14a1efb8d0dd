//! From a document to the types of the format, collecting everything that does not fit instead of stopping at the first.
//!
//! serde stops at the first error. So what it stumbled over is taken out and it reads again, until it gets through: each
//! round removes one key, and the format's own types stay the only list of what is allowed.

use super::explain::explain;
use super::file::{ScenarioFile, VERSION};
use super::path::{KeyPath, Step};
use super::problem::{Problem, Problems};

/// More problems than this in one file mean that it is no scenario; the rest would not help.
const MOST: usize = 100;

/// Reads the document. What could not be read is at its default in the result, and spoiled in `problems`. `None` if the
/// document is for another version, or beyond repair.
pub fn read(mut document: toml::Table, problems: &mut Problems) -> Option<ScenarioFile> {
    version(&document, problems)?;
    for _ in 0..MOST {
        let error = match serde_path_to_error::deserialize(toml::Value::Table(document.clone())) {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        let path = key_path(error.path());
        let found = find(&document, &path);
        let explained = explain(&path, found, error.inner().message());
        problems.spoil(&path, explained.problem);
        if let Some(meant) = explained.meant {
            problems.silence(&meant);
        }
        if !remove(&mut document, &path) {
            return None;
        }
    }
    None
}

/// Judges the version before anything else: in a newer format, every other complaint might be wrong. That it is missing can
/// wait, for it may only be misspelt.
fn version(document: &toml::Table, problems: &mut Problems) -> Option<()> {
    let path = KeyPath::from("version");
    let write_it = format!("write `version = {VERSION}`");
    match document.get("version") {
        Some(toml::Value::Integer(newer)) if *newer > i64::from(VERSION) => {
            let message = format!("the scenario is written for a newer bench-runner: version {newer} of the format");
            let remedy = format!("this bench-runner reads version {VERSION}; install a newer one");
            problems.spoil(&path, Problem::value(&path, message).remedy(remedy));
            return None;
        }
        Some(toml::Value::Integer(older)) if *older < i64::from(VERSION) => {
            let message = format!("there is no version {older} of the format");
            problems.spoil(&path, Problem::value(&path, message).remedy(write_it));
        }
        Some(_) | None => {}
    }
    Some(())
}

/// The path in our own steps. Steps into a serde enum have no counterpart in the document.
fn key_path(path: &serde_path_to_error::Path) -> KeyPath {
    use serde_path_to_error::Segment;
    let steps = path.iter().filter_map(|segment| match segment {
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    KeyPath(steps.collect())
}

/// The value at the path.
fn find<'a>(document: &'a toml::Table, path: &KeyPath) -> Option<&'a toml::Value> {
    let mut steps = path.0.iter();
    let Some(Step::Key(first)) = steps.next() else { return None };
    let first = document.get(first)?;
    steps.try_fold(first, |value, step| match step {
        Step::Key(key) => value.as_table()?.get(key),
        Step::Index(index) => value.as_array()?.get(*index),
    })
}

/// Takes out the key at the path, or the nearest key around it; whether there was one. Never an element of an array, for
/// the elements behind it would move and their problems would point at the wrong lines.
fn remove(document: &mut toml::Table, path: &KeyPath) -> bool {
    let mut path = path.clone();
    while !path.0.is_empty() {
        let parent = path.parent();
        if let Some(Step::Key(key)) = path.0.last() {
            if parent.0.is_empty() {
                return document.remove(key).is_some();
            }
            if let Some(table) = find_mut(document, &parent) {
                return table.remove(key).is_some();
            }
        }
        path = parent;
    }
    false
}

/// The table at the path, to change it.
fn find_mut<'a>(document: &'a mut toml::Table, path: &KeyPath) -> Option<&'a mut toml::Table> {
    let mut steps = path.0.iter();
    let Some(Step::Key(first)) = steps.next() else { return None };
    let first = document.get_mut(first)?;
    let value = steps.try_fold(first, |value, step| match step {
        Step::Key(key) => value.as_table_mut()?.get_mut(key),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index),
    })?;
    value.as_table_mut()
}
