//! Puts the git revision of the tree into the binary, so that a result says what measured it.

use std::process::Command;

fn main() {
    // Rebuild when another commit is checked out or something is staged; where these are missing, git is not asked anyway.
    println!("cargo:rerun-if-changed=../.git/HEAD");
    println!("cargo:rerun-if-changed=../.git/index");
    println!("cargo:rerun-if-changed=../.git/logs/HEAD");
    let describe = Command::new("git").args(["describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]).output();
    if let Ok(output) = describe
        && output.status.success()
        && let Ok(revision) = String::from_utf8(output.stdout)
    {
        println!("cargo:rustc-env=GIT_REVISION={}", revision.trim());
    }
}
