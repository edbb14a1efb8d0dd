//! The scenario stage through its public functions.

mod docker;
mod errors;
mod external;
mod faults;
mod files;
mod overrides;
mod properties;
mod schemas;
mod shipped;

use std::path::Path;

use bench_runner::scenario::{self, Scenario};

/// The smallest scenario.
const SMALLEST: &str = "version = 1\n[workers]\ncount = 2\n[[arm]]\nrecipe = \"lock/naive\"\n";

/// A file of the repository.
fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The scenario of a text that is valid.
fn valid(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    match scenario::parse("test", text, &overrides) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{}\n\n{text}", error.render(false)),
    }
}

/// The messages about a text that is not valid.
fn complaint(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    match scenario::parse("test", text, &overrides) {
        Ok(_) => panic!("this is valid:\n{text}"),
        Err(error) => error.render(false),
    }
}
