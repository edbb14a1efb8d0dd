//! Where the services are looked for on this machine.
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where to look. Empty variables count as unset, as shells have it.
#[derive(Debug, Clone)]
pub struct Search {
    /// `ZOOKEEPER_HOME`: an unpacked Apache release. When set, nothing else is looked at.
    pub zookeeper_home: Option<PathBuf>,
    /// Where distributions put jars: `/usr/share/java`.
    pub jars: PathBuf,
    /// `JAVA_HOME`. When set, `path` is not looked at.
    pub java_home: Option<PathBuf>,
    /// `ETCD_BIN`: the program `etcd`. When set, `path` is not looked at.
    pub etcd_bin: Option<PathBuf>,
    /// `PATH`.
    pub path: OsString,
}

impl Search {
    /// The places that this process's environment names.
    pub fn from_env() -> Search {
        let place = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Search {
            zookeeper_home: place("ZOOKEEPER_HOME"),
            jars: PathBuf::from("/usr/share/java"),
            java_home: place("JAVA_HOME"),
            etcd_bin: place("ETCD_BIN"),
            path: env::var_os("PATH").unwrap_or_default(),
        }
    }

    /// The first program of this name on `PATH`.
    pub(crate) fn on_path(&self, name: &str) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|folder| folder.join(name)).find(|program| is_program(program))
    }
}

/// Whether it is a file that may be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
