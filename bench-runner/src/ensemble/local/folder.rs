//! The ensemble's folder: where it is, whose it is, and that it goes.
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use procfs::process::Process;

use crate::ensemble::error::EnsembleError;
use crate::ensemble::keeper::FOLDER_PREFIX;

/// Folders made by this process so far: one process may run several ensembles.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The folder of one ensemble. It is removed by [`EnsembleFolder::remove`], and by the keepers of the nodes.
#[derive(Debug)]
pub(crate) struct EnsembleFolder {
    path: PathBuf,
    needed_mib: u64,
}

impl EnsembleFolder {
    /// Makes a folder below `parent`, for this user alone, and sees that it has room for `needed_mib` MiB.
    pub fn create(parent: &Path, needed_mib: u64) -> Result<EnsembleFolder, EnsembleError> {
        let owner =
            Owner::this_process().ok_or_else(|| Self::refuse(Path::new("/proc/self"), needed_mib, no_proc()))?;
        let path = parent.join(owner.folder_name(MADE.fetch_add(1, Ordering::Relaxed)));
        DirBuilder::new().mode(0o700).create(&path).map_err(|source| Self::refuse(&path, needed_mib, source))?;
        let folder = EnsembleFolder { path, needed_mib };
        let probe = folder.path.join("room");
        let has_room = fill(&probe, needed_mib);
        let _ = fs::remove_file(&probe);
        has_room.map_err(|source| {
            let _ = folder.remove();
            folder.error(&folder.path, source)
        })?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error for a file in this folder.
    pub fn error(&self, path: &Path, source: io::Error) -> EnsembleError {
        Self::refuse(path, self.needed_mib, source)
    }

    /// Removes what is left of it. For a second it is tried again: a server that was killed a moment ago may still be
    /// making a file.
    pub fn remove(&self) -> io::Result<()> {
        for _ in 0..20 {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(Duration::from_millis(50)),
                _ => return Ok(()),
            }
        }
        fs::remove_dir_all(&self.path)
    }

    fn refuse(path: &Path, needed_mib: u64, source: io::Error) -> EnsembleError {
        EnsembleError::Folder { path: path.into(), needed_mib, source }
    }
}

/// The folder of one node, inside its ensemble's. Its keeper removes it.
#[derive(Debug, Clone)]
pub(crate) struct NodeFolder {
    path: PathBuf,
}

impl NodeFolder {
    pub fn new(path: PathBuf) -> NodeFolder {
        NodeFolder { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything the server writes on its outputs: its own log, and what its runtime says when it dies.
    pub fn log(&self) -> PathBuf {
        self.path.join("node.log")
    }

    /// Makes the folder, and an empty log, so that there is one to read whatever happens. Errors: the path that could not
    /// be written, and why.
    pub fn make(&self) -> Result<(), (PathBuf, io::Error)> {
        fs::create_dir_all(&self.path).map_err(|error| (self.path.clone(), error))?;
        fs::write(self.log(), "").map_err(|error| (self.log(), error))
    }
}

/// Writes `mib` MiB. Written and not asked for by `statvfs`, which knows nothing of quotas.
fn fill(path: &Path, mib: u64) -> io::Result<()> {
    let block = vec![0x5a; 1 << 20];
    let mut file = fs::File::create(path)?;
    (0..mib).try_for_each(|_| io::Write::write_all(&mut file, &block))
}

fn no_proc() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "this process is not in /proc; is /proc mounted?")
}

/// Removes the folders of runners that no longer exist. They stay when a runner and its keepers were killed at once.
/// Folders of other users and of runners elsewhere (in a container that shares the folder) are left alone.
pub(crate) fn sweep(parent: &Path) {
    let Some(this) = Owner::this_process() else { return };
    let Ok(this_user) = fs::metadata("/proc/self").map(|data| data.uid()) else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(Owner::of_folder) else { continue };
        // Of the entry itself, not of what a link may point to.
        let mine = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == this_user);
        if mine && owner.namespace == this.namespace && !owner.is_alive() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: i32,
    /// When it started, in clock ticks since the machine did.
    started: u64,
    /// Where its id is valid.
    namespace: u64,
}

impl Owner {
    pub fn this_process() -> Option<Owner> {
        let stat = Process::myself().ok()?.stat().ok()?;
        let namespace = fs::metadata("/proc/self/ns/pid").ok()?.ino();
        Some(Owner { pid: stat.pid, started: stat.starttime, namespace })
    }

    /// Itself, in a place that other machines may see too.
    pub fn told(&self) -> String {
        format!("{}-{}-{}-{}", boot(), self.pid, self.started, self.namespace)
    }

    /// Whether another one, as it was told, was on this machine since it was started, where this one can see it, and is gone.
    pub fn survives(&self, told: &str) -> bool {
        let boot = boot();
        let Some(rest) = told.strip_prefix(&boot).filter(|_| !boot.is_empty()) else { return false };
        let owner = Owner::of_folder(&format!("{FOLDER_PREFIX}{}-0", rest.trim_start_matches('-')));
        owner.is_some_and(|owner| owner.namespace == self.namespace && !owner.is_alive())
    }

    fn folder_name(&self, count: u32) -> String {
        format!("{FOLDER_PREFIX}{}-{}-{}-{count}", self.pid, self.started, self.namespace)
    }

    fn of_folder(name: &str) -> Option<Owner> {
        let mut parts = name.strip_prefix(FOLDER_PREFIX)?.split('-');
        let owner = Owner {
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            namespace: parts.next()?.parse().ok()?,
        };
        parts.next()?.parse::<u32>().ok()?;
        parts.next().is_none().then_some(owner)
    }

    fn is_alive(&self) -> bool {
        let stat = Process::new(self.pid).and_then(|process| process.stat());
        // A zombie has ended; nobody has reaped it yet.
        stat.is_ok_and(|stat| stat.starttime == self.started && stat.state != 'Z')
    }
}

/// Tells this machine from all others, and from itself before it was started. Empty where nobody knows.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().replace('-', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_living_runners_folder_stays_and_a_dead_ones_goes() {
        let parent = tempfile::tempdir().unwrap();
        let this = Owner::this_process().unwrap();
        let alive = EnsembleFolder::create(parent.path(), 16).unwrap();
        // Its id is in use again, by a process that started at another time.
        let dead = parent.path().join(Owner { started: this.started + 1, ..this }.folder_name(0));
        let elsewhere = parent.path().join(Owner { namespace: 1, started: 0, ..this }.folder_name(0));
        let other = parent.path().join("bench-runner-notes");
        for folder in [&dead, &elsewhere, &other] {
            fs::create_dir_all(folder.join("zookeeper-1/data")).unwrap();
        }
        sweep(parent.path());
        assert!(alive.path().exists() && elsewhere.exists() && other.exists());
        assert!(!dead.exists());
        alive.remove().unwrap();
        assert!(!alive.path().exists());
    }

    #[test]
    fn one_that_is_gone_is_survived_here_and_nowhere_else() {
        let this = Owner::this_process().unwrap();
        let gone = Owner { started: this.started + 1, ..this };
        assert!(this.survives(&gone.told()) && !this.survives(&this.told()));
        assert!(!this.survives(&Owner { namespace: 1, ..gone }.told()));
        let elsewhere = gone.told().replace(&boot(), "0123456789abcdef0123456789abcdef");
        assert!(!this.survives(&elsewhere), "{elsewhere}");
        for nonsense in ["", "-", &boot(), &format!("{}-x-y-z", boot())] {
            assert!(!this.survives(nonsense), "{nonsense}");
        }
    }

    #[test]
    fn a_parent_that_cannot_be_written_is_named() {
        let error = EnsembleFolder::create(Path::new("/nonexistent"), 48).unwrap_err().to_string();
        assert!(error.starts_with("cannot write /nonexistent/bench-runner-"), "{error}");
        assert!(error.contains("48 MiB") && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn a_full_disk_is_told() {
        let error = fill(Path::new("/dev/full"), 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    proptest! {
        #[test]
        fn a_name_is_read_back(pid in 1..i32::MAX, started: u64, namespace: u64, count: u32) {
            let owner = Owner { pid, started, namespace };
            prop_assert_eq!(Owner::of_folder(&owner.folder_name(count)), Some(owner));
        }

        #[test]
        fn no_name_makes_it_panic(name in ".*") {
            let _ = Owner::of_folder(&name);
        }
    }
}
