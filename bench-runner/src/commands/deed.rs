//! Whose a root on external servers is, and whether whoever made it still runs.

use nix::unistd::{Uid, User};
use procfs::process::Process;
use workloads::claim::{Deed, Root};

/// This process's deed.
pub(super) fn ours() -> Deed {
    Deed { owner: owner(), process: process(Process::myself().ok().as_ref()) }
}

/// On whose behalf this process runs: `user@machine`.
pub(super) fn owner() -> String {
    let uid = Uid::effective();
    let user = User::from_uid(uid).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name);
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{user}@{}", machine.trim())
}

/// A process, told from all others that there ever were: its number, when it was started, since which boot, and in which
/// namespace.
fn process(process: Option<&Process>) -> String {
    let started = process.and_then(|process| process.stat().ok()).map_or(0, |stat| stat.starttime);
    format!("{} {started} {}", process.map_or(0, |process| process.pid), here())
}

/// Where processes are numbered as they are here.
fn here() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

/// Whether a root is of `owner`, and whoever holds it is gone: its process has ended, or where that cannot be seen from here,
/// its session.
pub(super) fn is_left(root: &Root, owner: &str) -> bool {
    let Some(deed) = root.deed.as_ref().filter(|deed| deed.owner == owner) else { return false };
    let mut parts = deed.process.splitn(3, ' ');
    let (pid, _, place) = (parts.next(), parts.next(), parts.next());
    if place != Some(here().as_str()) {
        return !root.is_held;
    }
    let running = pid.and_then(|pid| pid.parse().ok()).and_then(|pid| Process::new(pid).ok());
    // A number may have been given to another process meanwhile.
    running.is_none_or(|running| process(Some(&running)) != deed.process)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(deed: Deed, is_held: bool) -> Root {
        Root { path: "/bench-runner/x".into(), deed: Some(deed), is_held }
    }

    #[test]
    fn what_a_living_process_holds_is_not_left() {
        let ours = ours();
        assert!(!is_left(&root(ours.clone(), true), &ours.owner));
        // Its session may have been lost.
        assert!(!is_left(&root(ours.clone(), false), &ours.owner));
    }

    #[test]
    fn what_a_dead_process_of_ours_has_left_is_left() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let deed = Deed { process: process(Process::new(child.id().cast_signed()).ok().as_ref()), ..ours() };
        child.wait().unwrap();
        // Also as long as its session has not timed out.
        assert!(is_left(&root(deed.clone(), true), &deed.owner));
        assert!(is_left(&root(deed.clone(), false), &deed.owner));
        assert!(!is_left(&root(deed, false), "somebody@else"));
    }

    #[test]
    fn of_another_machine_the_session_tells() {
        let deed = Deed { process: "17 4711 another-boot pid:[1]".into(), ..ours() };
        assert!(!is_left(&root(deed.clone(), true), &deed.owner));
        assert!(is_left(&root(deed.clone(), false), &deed.owner));
    }

    #[test]
    fn what_has_no_deed_is_nobodys() {
        assert!(!is_left(&Root { path: "/bench-runner/x".into(), deed: None, is_held: false }, &owner()));
    }
}
