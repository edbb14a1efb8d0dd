//! What serde could not read, in the words of the scenario's author.
//!
//! serde says `invalid type: string "fifty", expected u32`. The part behind `expected` comes from this program's own types
//! and is safe to take apart; what was found is looked up in the document.
//!
//! The types' own errors carry the remedy behind the first line break.

use super::path::{KeyPath, Step};
use super::problem::{At, Problem};
use super::similar::{list, similar};
use super::{delay, duration};

/// A problem, and which key was meant where another one was written.
pub struct Explained {
    /// What to tell.
    pub problem: Problem,
    /// The key that was probably meant: that it is missing is no second problem.
    pub meant: Option<KeyPath>,
}

/// Explains serde's `message` about the value `found` at `path`.
pub fn explain(path: &KeyPath, found: Option<&toml::Value>, message: &str) -> Explained {
    let key = path.last_key();
    if let Some(rest) = message.strip_prefix(&format!("unknown field `{key}`, ")) {
        return unknown_key(path, &names_in(rest));
    }
    let word = found.and_then(toml::Value::as_str).unwrap_or_default();
    let problem = if let Some(rest) = message.strip_prefix(&format!("unknown variant `{word}`, ")) {
        unknown_word(path, word, &names_in(rest))
    } else if let Some((_, expected)) = message.rsplit_once(", expected ") {
        wrong_type(path, found, expected)
    } else {
        let (wrong, remedy) = message.split_once('\n').unwrap_or((message, ""));
        let problem = Problem::value(path, format!("{}: {wrong}", place(path)));
        if remedy.is_empty() { problem } else { problem.remedy(remedy) }
    };
    Explained { problem, meant: None }
}

/// The value's name in a message: the element too where it is one of a list.
fn place(path: &KeyPath) -> String {
    match path.0.last() {
        Some(Step::Index(_)) => format!("an element of `{}`", path.last_key()),
        _ => format!("`{}`", path.last_key()),
    }
}

/// The words between backticks.
fn names_in(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

fn unknown_key(path: &KeyPath, allowed: &[&str]) -> Explained {
    let key = path.last_key();
    let parent = path.parent();
    let within = match parent.last_key() {
        "" => String::new(),
        table => format!(" in `{table}`"),
    };
    let mut problem = Problem::new(At::Key(path.clone()), format!("unknown key `{key}`{within}"));
    let meant = similar(key, allowed.iter().copied());
    if let Some(name) = meant {
        problem = problem.remedy(format!("did you mean `{name}`?"));
    }
    problem = problem.remedy(format!("allowed here: {}", list(allowed.iter().copied())));
    Explained { problem, meant: meant.map(|name| parent.key(name)) }
}

fn unknown_word(path: &KeyPath, word: &str, allowed: &[&str]) -> Problem {
    let key = path.last_key();
    let mut problem = Problem::value(path, format!("unknown {key} `{word}`"));
    if let Some(name) = similar(word, allowed.iter().copied()) {
        problem = problem.remedy(format!("did you mean `{name}`?"));
    }
    problem.remedy(format!("one of {}", list(allowed.iter().copied())))
}

fn wrong_type(path: &KeyPath, found: Option<&toml::Value>, expected: &str) -> Problem {
    let wanted = match expected {
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 on",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" if is_list_of_tables(path) => "a list of tables",
        "a sequence" => "a list",
        // Structs name themselves (`struct WorkersFile`), enums say what they are to serde.
        _ if expected.starts_with("struct ") => "a table",
        _ if expected.contains("string only") || expected.contains("enum") => "a word in quotes",
        other => other,
    };
    let problem = Problem::value(path, format!("{} must be {wanted}, not {}", place(path), kind(found)));
    let remedy = match (found, expected) {
        (Some(toml::Value::Table(_)), "a sequence") if is_list_of_tables(path) => {
            let key = path.last_key();
            Some(format!("write `[[{key}]]`, with two brackets, above each {key}"))
        }
        (Some(toml::Value::String(text)), "u16" | "u32" | "u64" | "f64") if text.trim().parse::<f64>().is_ok() => {
            Some(format!("write it without quotes: {}", text.trim()))
        }
        (Some(toml::Value::String(text)), "a boolean") if text == "true" || text == "false" => {
            Some(format!("write it without quotes: {text}"))
        }
        (Some(value), "a string") if !value.is_table() && !value.is_array() => {
            Some(format!("write it in quotes: \"{value}\""))
        }
        (_, "a duration") => Some(duration::REMEDY.to_owned()),
        (_, "a duration or a distribution") => Some(delay::REMEDY.to_owned()),
        _ => None,
    };
    match remedy {
        Some(remedy) => problem.remedy(remedy),
        None => problem,
    }
}

/// Whether the value is written as `[[arm]]` or `[[fault]]`.
fn is_list_of_tables(path: &KeyPath) -> bool {
    matches!(path.last_key(), "arm" | "fault")
}

/// What was found, in words.
fn kind(found: Option<&toml::Value>) -> String {
    match found {
        Some(toml::Value::String(_)) => "a text".to_owned(),
        Some(toml::Value::Integer(number)) => number.to_string(),
        Some(toml::Value::Float(number)) => format!("{number:?}"),
        Some(toml::Value::Boolean(truth)) => truth.to_string(),
        Some(toml::Value::Datetime(_)) => "a date".to_owned(),
        Some(toml::Value::Array(_)) => "a list".to_owned(),
        Some(toml::Value::Table(_)) => "a table".to_owned(),
        None => "this".to_owned(),
    }
}
