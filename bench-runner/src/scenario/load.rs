//! From a path to a scenario.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toml::de::DeTable;
use toml_edit::DocumentMut;

use super::error::ScenarioError;
use super::overrides::Override;
use super::problem::{At, Problem, Problems};
use super::read::read;
use super::resolve::resolve;
use super::settings::Scenario;
use super::similar::{list, similar};
use super::validate::validate;

/// Longer files are no scenarios.
const LARGEST: u64 = 1 << 20;

/// The folder of the shipped scenarios, where a name alone is looked for when it is not found where it points.
const SHELF: &str = "scenarios";

/// Loads the scenario at `path` and applies `overrides` (`key=value`, the key with dots) to it.
///
/// # Errors
///
/// Everything that is wrong, at once where that is possible.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let text = read_text(path)?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    parse_as(&path.display().to_string(), &name, &text, overrides)
}

/// Reads a scenario from a text, as [`load`] does from a file: for the text that a run keeps. `name` is the scenario's.
///
/// # Errors
///
/// As [`load`].
pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    parse_as(&format!("{name}.toml"), name, text, overrides)
}

fn parse_as(file: &str, name: &str, text: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    // A byte order mark is no part of the text: places are counted without it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut problems = Problems::default();
    let fail = |problems: Problems, overrides: &[Override]| {
        ScenarioError::new(file.to_owned(), text.to_owned(), problems.found, overrides)
    };

    let (_, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(At::File, At::Bytes);
        problems.add(&[], Problem::new(at, format!("not valid TOML: {}", error.message())));
    }
    if !problems.found.is_empty() {
        return Err(fail(problems, &[]));
    }

    let mut applied = Vec::new();
    let effective = apply(text, overrides, &mut applied, &mut problems);
    let document = match effective.parse::<toml::Table>() {
        Ok(document) => document,
        Err(why) => {
            let message = format!("not valid TOML after the overrides: {}", why.message());
            problems.add(&[], Problem::new(At::File, message));
            return Err(fail(problems, &applied));
        }
    };
    let read = read(document, &mut problems);
    if let Some(file) = &read {
        validate(file, &mut problems);
    }
    match read.as_ref().and_then(resolve) {
        Some(parts) if problems.found.is_empty() => {
            let sha256 = Sha256::digest(effective.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(Scenario { name: name.to_owned(), text: effective, sha256, ..parts })
        }
        _ => {
            // Whatever is wrong was said by now; this is for a rule that a later change forgets to word.
            if problems.found.is_empty() {
                problems.add(&[], Problem::new(At::File, "the scenario is not complete"));
            }
            Err(fail(problems, &applied))
        }
    }
}

/// The text after the overrides: the very same without any.
fn apply(text: &str, overrides: &[String], applied: &mut Vec<Override>, problems: &mut Problems) -> String {
    if overrides.is_empty() {
        return text.to_owned();
    }
    let mut document = match text.parse::<DocumentMut>() {
        Ok(document) => document,
        Err(why) => {
            problems.add(&[], Problem::new(At::File, format!("not valid TOML: {}", why.message())));
            return text.to_owned();
        }
    };
    for one in overrides {
        let done = Override::parse(one).and_then(|one| one.apply(&mut document).map(|()| one));
        match done {
            Ok(one) => applied.push(one),
            Err(problem) => problems.add(&[], *problem),
        }
    }
    document.to_string()
}

/// The file's text.
fn read_text(path: &Path) -> Result<String, ScenarioError> {
    let fail = |problem| Err(ScenarioError::of_file(path, problem));
    let unreadable = |why: std::io::Error| Problem::new(At::File, format!("the scenario cannot be read: {why}"));
    if path.is_dir() {
        let problem = Problem::new(At::File, "the scenario is a folder, not a file");
        return fail(with_scenarios_of(problem, path));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == ErrorKind::NotFound => return fail(missing(path, Path::new(SHELF))),
        Err(why) => return fail(unreadable(why).remedy("check the permissions of the file and its folder")),
    };
    let mut bytes = Vec::new();
    if let Err(why) = file.take(LARGEST + 1).read_to_end(&mut bytes) {
        return fail(unreadable(why));
    }
    if bytes.len() as u64 > LARGEST {
        return fail(Problem::new(At::File, "the file is larger than 1 MiB: that is no scenario"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(why) => {
            let valid = &why.as_bytes()[..why.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            fail(
                Problem::new(At::File, format!("line {line} is not UTF-8 text"))
                    .remedy("a scenario is a TOML file in UTF-8: save it in that encoding"),
            )
        }
    }
}

/// The problem of a scenario that does not exist, with those that do.
fn missing(path: &Path, shelf: &Path) -> Problem {
    let mut problem = Problem::new(At::File, "there is no such scenario");
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let near = [folder, shelf].into_iter().flat_map(scenarios_in).collect::<Vec<_>>();
    let stems = near.iter().map(|(stem, _)| stem.as_str());
    if let Some((_, meant)) = similar(&stem, stems).and_then(|meant| near.iter().find(|(stem, _)| stem == meant)) {
        problem = problem.remedy(format!("did you mean `{}`?", meant.display()));
    }
    if !folder.is_dir() {
        problem = problem.remedy(format!("there is no folder `{}`", folder.display()));
    } else {
        problem = with_scenarios_of(problem, folder);
    }
    if folder != shelf && shelf.is_dir() {
        problem = with_scenarios_of(problem, shelf);
    }
    problem
}

/// The problem, with the scenarios of a folder as a remedy.
fn with_scenarios_of(problem: Problem, folder: &Path) -> Problem {
    let names = scenarios_in(folder).into_iter().map(|(stem, _)| format!("{stem}.toml")).collect::<Vec<_>>();
    let place = if folder == Path::new(".") { "this folder".to_owned() } else { format!("`{}`", folder.display()) };
    match names.len() {
        0 => problem.remedy(format!("there are no scenarios in {place}")),
        1..=20 => problem.remedy(format!("in {place}: {}", list(names.iter().map(String::as_str)))),
        more => problem.remedy(format!("in {place}: {more} files, the first is `{}`", names[0])),
    }
}

/// The scenarios of a folder by name, with their paths; none if it cannot be read.
fn scenarios_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut scenarios: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml") && path.is_file())
        .filter_map(|path| Some((path.file_stem()?.to_string_lossy().into_owned(), path)))
        .map(|(stem, path)| (stem, path.strip_prefix(".").map_or(path.clone(), Path::to_owned)))
        .collect();
    scenarios.sort();
    scenarios
}
