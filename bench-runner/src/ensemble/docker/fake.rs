//! A `docker` for tests: a script that writes down what it is asked.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::Engine;
use crate::ensemble::search::Search;

/// It, in a folder of its own.
pub(super) struct Fake {
    place: tempfile::TempDir,
}

impl Fake {
    /// One that answers as these lines of a shell have it.
    pub fn new(script: &str) -> Fake {
        let fake = Fake { place: tempfile::tempdir().unwrap() };
        let text = format!("#!/bin/sh\n[ $# -gt 0 ] || exit 0\necho \"$*\" >> '{}'\n{script}\n", fake.at("asked"));
        fs::write(fake.at("docker"), text).unwrap();
        fs::set_permissions(fake.at("docker"), fs::Permissions::from_mode(0o755)).unwrap();
        // Another thread of the test may just have forked, with our descriptor that could write it still open.
        while Command::new(fake.at("docker")).status().is_err() {
            std::thread::yield_now();
        }
        fake
    }

    fn at(&self, name: &str) -> String {
        self.place.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn engine(&self) -> Engine {
        Engine::at(&self.at("docker"))
    }

    /// Where nothing else is found.
    pub fn search(&self) -> Search {
        Search { path: self.place.path().into(), ..Search::from_env() }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<String> {
        fs::read_to_string(self.at("asked")).unwrap_or_default().lines().map(String::from).collect()
    }
}
