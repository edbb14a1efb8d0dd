//! Finds the installed ZooKeeper and Java.
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::ensemble::error::EnsembleError;
use crate::ensemble::search::{Search, is_program};

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Installation {
    /// The server's class path, without the node's own folder of logging settings, which comes first.
    pub class_path: OsString,
    /// Where the server was found, for the record.
    pub origin: String,
    /// The program `java`.
    pub java: PathBuf,
}

impl Search {
    /// Finds both. Errors: [`EnsembleError::NotInstalled`] with what is missing.
    pub(crate) fn zookeeper_and_java(&self) -> Result<Installation, EnsembleError> {
        let (class_path, origin) = self.zookeeper()?;
        Ok(Installation { class_path, origin, java: self.java()? })
    }

    fn zookeeper(&self) -> Result<(OsString, String), EnsembleError> {
        if let Some(home) = &self.zookeeper_home {
            let lib = home.join("lib");
            if !has_server_jar(&lib) {
                return Err(missing(format!(
                    "ZOOKEEPER_HOME, or `home` in the scenario, is {}, and there is no lib/zookeeper-<version>.jar in it (a source release has \
                     none: take the one whose name ends with `-bin`)",
                    home.display()
                )));
            }
            // The JVM expands the star to all jars.
            return Ok((lib.join("*").into(), home.display().to_string()));
        }
        let jar = self.jars.join("zookeeper.jar");
        if !jar.is_file() {
            return Err(missing(format!("ZooKeeper is not installed: no {}", jar.display())));
        }
        // Debian's jar names the libraries it needs in its manifest. Among them is slf4j without a back end: the server
        // would log nothing. The simple one is in the same package as slf4j itself and writes to stderr.
        let mut class_path = jar.clone().into_os_string();
        class_path.push(":");
        class_path.push(self.jars.join("slf4j-simple.jar"));
        Ok((class_path, jar.display().to_string()))
    }

    fn java(&self) -> Result<PathBuf, EnsembleError> {
        if let Some(home) = &self.java_home {
            let java = home.join("bin/java");
            return if is_program(&java) {
                Ok(java)
            } else {
                Err(missing(format!("JAVA_HOME is {}, and there is no program bin/java in it", home.display())))
            };
        }
        self.on_path("java")
            .ok_or_else(|| missing("Java is not installed: JAVA_HOME is not set and there is no `java` on PATH".into()))
    }
}

fn missing(missing: String) -> EnsembleError {
    EnsembleError::NotInstalled { missing }
}

/// Whether `lib` holds the server's own jar: `zookeeper-3.8.0.jar`, and not only `zookeeper-jute-3.8.0.jar`.
fn has_server_jar(lib: &Path) -> bool {
    let Ok(entries) = fs::read_dir(lib) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let version = name.to_str().and_then(|name| name.strip_prefix("zookeeper-")?.strip_suffix(".jar"));
        version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A place with an Apache release, a distribution's jar and a `java`, none of which works.
    fn place() -> (tempfile::TempDir, Search) {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["zk/lib", "jars", "jre/bin", "empty"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("zk/lib/zookeeper-3.9.2.jar"), "").unwrap();
        fs::write(at("jars/zookeeper.jar"), "").unwrap();
        fs::write(at("jre/bin/java"), "").unwrap();
        fs::set_permissions(at("jre/bin/java"), fs::Permissions::from_mode(0o755)).unwrap();
        let search = Search {
            zookeeper_home: None,
            jars: at("jars"),
            java_home: None,
            etcd_bin: None,
            path: at("jre/bin").into_os_string(),
        };
        (place, search)
    }

    #[test]
    fn a_distributions_jar_and_a_java_on_the_path_are_found() {
        let (place, search) = place();
        let found = search.zookeeper_and_java().unwrap();
        assert_eq!(found.java, place.path().join("jre/bin/java"));
        let jars = place.path().join("jars");
        let expected = format!("{0}/zookeeper.jar:{0}/slf4j-simple.jar", jars.display());
        assert_eq!(found.class_path.to_str().unwrap(), expected);
    }

    #[test]
    fn the_variables_win() {
        let (place, mut search) = place();
        search.zookeeper_home = Some(place.path().join("zk"));
        search.java_home = Some(place.path().join("jre"));
        search.path = OsString::new();
        let found = search.zookeeper_and_java().unwrap();
        assert_eq!(PathBuf::from(found.class_path), place.path().join("zk/lib/*"));
    }

    #[test]
    fn what_is_missing_is_named_with_the_remedy() {
        let (place, search) = place();
        let empty = place.path().join("empty");
        for (search, what) in [
            (Search { jars: empty.clone(), ..search.clone() }, "ZooKeeper is not installed"),
            (
                Search { zookeeper_home: Some(empty.clone()), ..search.clone() },
                "ZOOKEEPER_HOME, or `home` in the scenario, is",
            ),
            (Search { java_home: Some(empty.clone()), ..search.clone() }, "JAVA_HOME is"),
            (Search { path: empty.into(), ..search }, "Java is not installed"),
        ] {
            let text = search.zookeeper_and_java().unwrap_err().to_string();
            assert!(text.starts_with(what), "{text}");
            assert!(text.contains("scripts/setup") && text.contains("default-jre-headless"), "{text}");
        }
    }

    #[test]
    fn a_release_without_the_servers_jar_is_no_release() {
        let (place, mut search) = place();
        fs::rename(
            place.path().join("zk/lib/zookeeper-3.9.2.jar"),
            place.path().join("zk/lib/zookeeper-jute-3.9.2.jar"),
        )
        .unwrap();
        search.zookeeper_home = Some(place.path().join("zk"));
        assert!(matches!(search.zookeeper_and_java(), Err(EnsembleError::NotInstalled { .. })));
    }
}
