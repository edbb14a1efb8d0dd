//! Credentials that do not do, and secrets that must not be told.
use std::fs;
use std::path::Path;

use bench_runner::exit;

use crate::SMALL;
use crate::place::Place;
use crate::running::{Finished, finished};

/// The right one. No other text has it in it.
pub const PASSWORD: &str = "swordfish-4711-of-the-test";

/// A wrong one.
pub const WRONG: &str = "herring-0815-of-the-test";

/// A scenario with everything that is right, on this server of `service`.
pub fn scenario(service: &str, endpoint: &str) -> String {
    format!(
        "service = \"{service}\"\n{SMALL}[ensemble]\nprovider = \"external\"\n[ensemble.{service}]\nendpoints = [\"{endpoint}\"]\n\
         tls = {{ ca = \"pki/ca.pem\", certificate = \"pki/client.pem\", key = \"pki/client.key\" }}\n\
         auth = {{ user = \"bench\", password_env = \"BENCH_PASSWORD\" }}\n"
    )
}

/// Credentials that do not do.
pub struct Refused<'a> {
    pub password: &'a str,
    pub scenario: String,
    pub told: &'a [&'a str],
}

impl Refused<'_> {
    /// Sees that they end the run with the exit code for servers that cannot be used, and a word about why.
    pub fn is_told(&self, place: &Place) {
        let _ = fs::remove_dir_all(place.path("results"));
        // A trailing comma that a replacement has left.
        place.write("theirs.toml", &self.scenario.replace(", }", " }").replace(",  }", " }"));
        let run = ["run", "theirs.toml", "--allow-external"];
        let done = finished(place.command(&run).env("BENCH_PASSWORD", self.password));
        let done = done.expect(exit::ENSEMBLE).tells(self.told);
        assert_no_secret(place, &done);
        place.assert_no_results();
    }
}

/// Sees that no password and no key is in what a run has told and written.
pub fn assert_no_secret(place: &Place, done: &Finished) {
    let key = fs::read_to_string(place.path("pki/client.key")).unwrap();
    let line_of_key = key.lines().nth(1).unwrap();
    let look = |text: &str, at: &str| {
        for secret in [PASSWORD, WRONG, line_of_key] {
            assert!(!text.contains(secret), "{at} tells a secret");
        }
    };
    look(&done.stdout, "stdout");
    look(&done.stderr, "stderr");
    let mut seen = 0;
    walk(&place.path("results"), &mut |path| {
        seen += 1;
        look(&String::from_utf8_lossy(&fs::read(path).unwrap()), &path.display().to_string());
    });
    assert!(seen > 5 || done.code != Some(0), "{seen} files");
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}
