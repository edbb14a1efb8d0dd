//! What is explored: a recipe of a service, or a mutant of one.
use crate::story::Story;

/// Runs one seed; `true`: with its trace.
pub type Run = fn(u64, bool) -> Story;

#[derive(Clone)]
pub struct Subject {
    pub service: &'static str,
    /// The recipe's name, or the mutant's.
    pub recipe: &'static str,
    run: Run,
    /// What is broken on purpose; `None` for a recipe as it is.
    pub mutation: Option<&'static str>,
}

impl Subject {
    /// A recipe.
    pub fn new(service: &'static str, recipe: &'static str, run: Run) -> Self {
        Subject { service, recipe, run, mutation: None }
    }

    /// A recipe that is broken on purpose, in the way that `mutation` says.
    pub fn mutant(service: &'static str, recipe: &'static str, mutation: &'static str, run: Run) -> Self {
        Subject { service, recipe, run, mutation: Some(mutation) }
    }

    pub fn story(&self, seed: u64, traced: bool) -> Story {
        (self.run)(seed, traced)
    }

    /// How it is called in what is printed.
    pub fn name(&self) -> String {
        format!("{} {}", self.service, self.recipe)
    }
}
