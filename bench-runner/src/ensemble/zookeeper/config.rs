//! What each node is started with: `zoo.cfg`, logging, the JVM's flags.
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::find::Installation;
use super::settings::ZookeeperSettings;
use crate::ensemble::local::{NodeFolder, NodePorts};

/// Variables out of which a JVM takes flags or a class path. They are kept from the servers: what ran is what the
/// settings say, and an agent that opens a port would do so in every node.
pub(crate) const JVM_VARIABLES: [&str; 4] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

const MAIN_CLASS: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

// In each of the three, the logger that is quieter is `NIOServerCnxn`: it writes a stack trace for every client that
// goes without a goodbye, so that the end of a few thousand workers buries what else a log has to tell.

/// For slf4j's simple back end, which Debian's package brings.
const SIMPLE_LOGGER: &str = "org.slf4j.simpleLogger.defaultLogLevel=info\n\
    org.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=error\n\
    org.slf4j.simpleLogger.showDateTime=true\n\
    org.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS\n\
    org.slf4j.simpleLogger.logFile=System.err\n";

/// For logback, which Apache's releases since 3.8 bring.
const LOGBACK: &str = r#"<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{yyyy-MM-dd HH:mm:ss.SSS} [%thread] %level %logger - %msg%n</pattern></encoder>
  </appender>
  <logger name="org.apache.zookeeper.server.NIOServerCnxn" level="ERROR"/>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"#;

/// For log4j 1 and reload4j, which Apache's releases before brought.
const LOG4J: &str = "log4j.rootLogger=INFO, out\n\
    log4j.logger.org.apache.zookeeper.server.NIOServerCnxn=ERROR\n\
    log4j.appender.out=org.apache.log4j.ConsoleAppender\n\
    log4j.appender.out.layout=org.apache.log4j.PatternLayout\n\
    log4j.appender.out.layout.ConversionPattern=%d{yyyy-MM-dd HH:mm:ss,SSS} [%t] %p %c - %m%n\n";

/// The files of one ZooKeeper server, all in its node's folder.
pub(super) struct NodeFiles<'a> {
    folder: &'a NodeFolder,
}

impl<'a> NodeFiles<'a> {
    pub fn new(folder: &'a NodeFolder) -> Self {
        NodeFiles { folder }
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("conf")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// For libraries that unpack native code: it goes with the node's folder.
    fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Writes all of it for node `id` (from 1). Errors: the path that could not be written, and why.
    pub fn write(
        &self,
        settings: &ZookeeperSettings,
        id: u32,
        ports: &[NodePorts],
    ) -> Result<(), (PathBuf, io::Error)> {
        for folder in [self.conf(), self.data(), self.temporary()] {
            fs::create_dir_all(&folder).map_err(|error| (folder, error))?;
        }
        let mut zoo_cfg: String =
            zoo_cfg(settings).into_iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        zoo_cfg.push_str("dataDir=./data\n");
        zoo_cfg.push_str(&format!("clientPort={}\n", ports[id as usize - 1].client));
        if ports.len() > 1 {
            for (server, ports) in (1..).zip(ports) {
                zoo_cfg.push_str(&format!("server.{server}=127.0.0.1:{}:{}\n", ports.between[0], ports.between[1]));
            }
        }
        for (path, text) in [
            (self.conf().join("zoo.cfg"), zoo_cfg.as_str()),
            (self.conf().join("simplelogger.properties"), SIMPLE_LOGGER),
            (self.conf().join("logback.xml"), LOGBACK),
            (self.conf().join("log4j.properties"), LOG4J),
            (self.data().join("myid"), &format!("{id}\n")),
        ] {
            fs::write(&path, text).map_err(|error| (path, error))?;
        }
        Ok(())
    }

    /// The command that starts the server, in the node's folder. Its paths start from there: a class path cannot hold
    /// a colon, and `zoo.cfg` cannot hold every character that a temporary folder's name may have.
    pub fn command(&self, settings: &ZookeeperSettings, installation: &Installation, java: &Path) -> Vec<OsString> {
        let mut class_path = OsString::from("conf:");
        class_path.push(&installation.class_path);
        let mut temporary = OsString::from("-Djava.io.tmpdir=");
        temporary.push(self.temporary());
        let mut command: Vec<OsString> = vec![java.into(), temporary];
        command.extend(jvm_flags(settings).into_iter().map(OsString::from));
        command.extend(["-cp".into(), class_path, MAIN_CLASS.into(), "./conf/zoo.cfg".into()]);
        command
    }
}

/// The settings that all nodes share, in the order of `zoo.cfg`. What `zoo.cfg` does not know it hands to the server as
/// a system property `zookeeper.<key>`, so an older server passes over what it has not.
pub(crate) fn zoo_cfg(settings: &ZookeeperSettings) -> Vec<(&'static str, String)> {
    let tick = settings.tick_ms();
    // Given in ticks and meant in seconds: with short ticks the usual 10 and 5 would drop a follower for a hiccup.
    let ticks = |seconds: u64, at_least: u64| (seconds * 1000).div_ceil(tick).max(at_least).to_string();
    let mut pairs: Vec<(&'static str, String)> = vec![
        ("tickTime", tick.to_string()),
        // A follower may take so long to connect and to catch up, and later to answer.
        ("initLimit", ticks(20, 10)),
        ("syncLimit", ticks(5, 5)),
        ("minSessionTimeout", (2 * tick).to_string()),
        ("maxSessionTimeout", (20 * tick).to_string()),
        ("clientPortAddress", "127.0.0.1".into()),
        // All workers come from one address, and the default of 60 shows to a client as a time-out only.
        ("maxClientCnxns", "0".into()),
        // A ramp of thousands connects faster than the default queue of 50 is emptied; the kernel caps it at somaxconn.
        ("clientPortListenBacklog", "4096".into()),
        // Above so many requests in flight the server stops reading from clients that have one. At the default of 1,000,
        // divided among the nodes, a herd of a thousand would wait in socket buffers, where no counter sees it. Kept
        // finite: 10,000 small requests are a few MiB of heap, without a bound a herd of big ones ends in out of memory.
        ("globalOutstandingLimit", "10000".into()),
        // No snapshot in the middle of a trial; a run makes far fewer transactions than this.
        ("snapCount", "10000000".into()),
        // KiB of transaction log taken at once; the default of 64 MiB is a lot for several nodes on a tmpfs.
        ("preAllocSize", "8192".into()),
        ("forceSync", if settings.fsync { "yes" } else { "no" }.into()),
        ("4lw.commands.whitelist", "srvr,mntr,ruok,wchs,cons,conf,stat,isro".into()),
        // It would listen on 8080, on all addresses.
        ("admin.enableServer", "false".into()),
    ];
    // Without a list of servers it would be refused.
    if settings.nodes == 1 {
        pairs.push(("standaloneEnabled", "true".into()));
    }
    pairs
}

/// The flags of each server's JVM, the settings' own last.
pub(crate) fn jvm_flags(settings: &ZookeeperSettings) -> Vec<String> {
    let mut flags = vec![format!("-Xmx{}", settings.heap)];
    // Named, because a JVM chooses by the size of the machine: G1 from two CPUs and 2 GB on, which production has.
    let chosen = |flag: &String| flag.starts_with("-XX:+Use") && flag.ends_with("GC");
    if !settings.jvm_flags.iter().any(chosen) {
        flags.push("-XX:+UseG1GC".into());
    }
    flags.extend(
        [
            // A server without memory limps on and answers some; a dead one is noticed.
            "-XX:+ExitOnOutOfMemoryError",
            // Its file in the temporary folder would survive a kill.
            "-XX:-UsePerfData",
            "-Djava.net.preferIPv4Stack=true",
            "-Djava.awt.headless=true",
            "-Dzookeeper.jmx.log4j.disable=true",
        ]
        .map(String::from),
    );
    flags.extend(settings.jvm_flags.iter().cloned());
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn ports(nodes: usize) -> Vec<NodePorts> {
        vec![NodePorts { client: 2181, between: vec![2888, 3888] }; nodes]
    }

    fn value(settings: &ZookeeperSettings, key: &str) -> String {
        let pairs: BTreeMap<&str, String> = zoo_cfg(settings).into_iter().collect();
        pairs[key].clone()
    }

    #[test]
    fn limits_in_ticks_keep_their_seconds() {
        for tick in [50, 500, 2000, 60_000] {
            let settings = ZookeeperSettings { tick: Duration::from_millis(tick), ..ZookeeperSettings::default() };
            let seconds = |key| value(&settings, key).parse::<u64>().unwrap() * tick / 1000;
            assert!(seconds("initLimit") >= 20 && seconds("syncLimit") >= 5);
            assert_eq!(value(&settings, "maxSessionTimeout"), (20 * tick).to_string());
        }
    }

    #[test]
    fn a_single_node_lists_no_servers_and_three_list_three() {
        let place = tempfile::tempdir().unwrap();
        let folder = NodeFolder::new(place.path().join("zookeeper-1"));
        let files = NodeFiles::new(&folder);
        let zoo_cfg = || fs::read_to_string(files.conf().join("zoo.cfg")).unwrap();
        files.write(&ZookeeperSettings { nodes: 1, ..ZookeeperSettings::default() }, 1, &ports(1)).unwrap();
        assert!(zoo_cfg().contains("clientPort=2181\n") && !zoo_cfg().contains("server."), "{}", zoo_cfg());
        files.write(&ZookeeperSettings::default(), 1, &ports(3)).unwrap();
        assert_eq!(zoo_cfg().matches("=127.0.0.1:2888:3888\n").count(), 3);
    }

    #[test]
    fn a_collector_of_the_settings_replaces_ours() {
        let settings = ZookeeperSettings { jvm_flags: vec!["-XX:+UseSerialGC".into()], ..ZookeeperSettings::default() };
        let flags = jvm_flags(&settings);
        assert!(!flags.contains(&"-XX:+UseG1GC".to_string()));
        assert_eq!(flags.last().unwrap(), "-XX:+UseSerialGC");
    }
}
