//! Why a scenario cannot be run, with the lines that say so.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::overrides::Override;
use super::path::KeyPath;
use super::places::Places;
use super::problem::{At, Problem};

/// Problems shown at most: a file of another format would fill the screen.
const SHOWN: usize = 20;

/// Everything that is wrong with a scenario. A user error: the scenario or the command line has to change, nothing was
/// started.
///
/// [`Display`](fmt::Display) is the text of [`render`](Self::render) without the first `error: `, for callers that write
/// that word themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioError {
    /// The file as the user named it.
    file: String,
    /// Its text, as far as it could be read.
    text: String,
    /// At least one, in the order of the lines.
    problems: Vec<Located>,
}

/// A problem with its place.
#[derive(Clone, Debug, PartialEq)]
struct Located {
    message: String,
    remedies: Vec<String>,
    /// The bytes that the carets point at; none for what has no line.
    at: Option<Range<usize>>,
    /// Further bytes with a few words each.
    related: Vec<(Range<usize>, String)>,
}

impl ScenarioError {
    /// An error of the file as a whole.
    pub(super) fn of_file(file: &Path, problem: Problem) -> Self {
        ScenarioError::new(file.display().to_string(), String::new(), vec![problem], &[])
    }

    /// Problems of a text, after `overrides` were applied to it.
    pub(super) fn new(file: String, text: String, problems: Vec<Problem>, overrides: &[Override]) -> Self {
        let mut problems = {
            let places = Places::new(&text);
            problems.into_iter().map(|problem| locate(problem, &places, overrides)).collect::<Vec<_>>()
        };
        problems.sort_by_key(|problem| problem.at.as_ref().map(|range| range.start));
        ScenarioError { file, text, problems }
    }

    /// What is wrong, one line for each problem, without places and remedies.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.message.as_str())
    }

    /// The problems as the terminal shows them: each begins with `error: `, then the file, the line with carets and the
    /// remedies. `styled` adds colours by ANSI escapes.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        let mut parts: Vec<String> =
            self.problems.iter().take(SHOWN).map(|problem| renderer.render(&[self.group(problem)])).collect();
        if self.problems.len() > SHOWN {
            parts.push(format!("and {} more problems", self.problems.len() - SHOWN));
        }
        parts.join("\n\n")
    }

    fn group<'a>(&'a self, problem: &'a Located) -> Group<'a> {
        let title = Level::ERROR.primary_title(problem.message.as_str());
        let group = match &problem.at {
            None => Group::with_title(title).element(Origin::path(self.file.as_str())),
            Some(at) => {
                let snippet =
                    Snippet::source(self.text.as_str())
                        .path(self.file.as_str())
                        .annotation(AnnotationKind::Primary.span(self.fitting(at)))
                        .annotations(problem.related.iter().map(|(range, words)| {
                            AnnotationKind::Context.span(self.fitting(range)).label(words.as_str())
                        }));
                title.element(snippet)
            }
        };
        group.elements(problem.remedies.iter().map(|remedy| Level::HELP.message(remedy.as_str())))
    }

    /// The range cut to the text and to whole characters: a syntax error may point behind the end.
    fn fitting(&self, range: &Range<usize>) -> Range<usize> {
        let boundary = |at: usize| {
            // Byte 0 is a boundary of every text.
            (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
        };
        let start = boundary(range.start);
        start..boundary(range.end).max(start)
    }
}

/// Finds the bytes of a problem, or the override that caused it.
fn locate(problem: Problem, places: &Places<'_>, overrides: &[Override]) -> Located {
    let Problem { at, mut message, remedies, related } = problem;
    // The last override of a key is the one in force.
    let culprit = |path: &KeyPath| {
        let around = overrides.iter().rev().find(|one| path.is_within(&one.path));
        // A table that only an override brought into being.
        around.or_else(|| overrides.iter().rev().find(|one| one.path.is_within(path) && places.key(path).is_none()))
    };
    let blame = match &at {
        At::Key(path) | At::Value(path) => culprit(path).map(|one| one.text.clone()),
        At::Override(text) => Some(text.clone()),
        At::Bytes(_) | At::File => None,
    };
    let range = match (&blame, at) {
        (Some(_), _) | (None, At::File | At::Override(_)) => None,
        (None, At::Bytes(range)) => Some(range),
        (None, At::Key(path)) => places.key(&path).or_else(|| places.value(&path)),
        (None, At::Value(path)) => places.value(&path),
    };
    if let Some(text) = blame {
        message = format!("in `--set {text}`: {message}");
    }
    let mut located = Located { message, remedies, at: range, related: Vec::new() };
    for (path, words) in related {
        match (culprit(&path), places.exact_value(&path)) {
            (Some(one), _) => located.remedies.push(format!("`--set {}` sets {words}", one.text)),
            (None, Some(range)) => located.related.push((range, words)),
            // A default: no line to point at.
            (None, None) => {}
        }
    }
    located
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.render(false);
        f.write_str(text.strip_prefix("error: ").unwrap_or(&text))
    }
}

impl std::error::Error for ScenarioError {}
