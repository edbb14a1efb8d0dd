//! What a ZooKeeper image is told: the variables of the official one, which this project's takes too.
use crate::ensemble::zookeeper::ZookeeperSettings;
use crate::ensemble::zookeeper::config::{jvm_flags, zoo_cfg};

/// Where a server waits for clients, inside its container.
pub(super) const PORT: u16 = 2181;

/// Settings that have a variable of their own. All others go into `ZOO_CFG_EXTRA`.
const OWN: [(&str, &str); 7] = [
    ("tickTime", "ZOO_TICK_TIME"),
    ("initLimit", "ZOO_INIT_LIMIT"),
    ("syncLimit", "ZOO_SYNC_LIMIT"),
    ("maxClientCnxns", "ZOO_MAX_CLIENT_CNXNS"),
    ("standaloneEnabled", "ZOO_STANDALONE_ENABLED"),
    ("admin.enableServer", "ZOO_ADMINSERVER_ENABLED"),
    ("4lw.commands.whitelist", "ZOO_4LW_COMMANDS_WHITELIST"),
];

/// The variables of node `id`, from 1.
pub(super) fn variables(settings: &ZookeeperSettings, id: u32) -> Vec<(String, String)> {
    let mut variables = vec![("ZOO_MY_ID".to_owned(), id.to_string())];
    let mut extra = Vec::new();
    for (key, value) in zoo_cfg(settings) {
        match OWN.iter().find(|(own, _)| *own == key) {
            Some((_, variable)) => variables.push(((*variable).to_owned(), value)),
            // The only address that a container's clients do not come to.
            None if key == "clientPortAddress" => {}
            None => extra.push(format!("{key}={value}")),
        }
    }
    if settings.nodes > 1 {
        // A node that is connected again may have another address than it had.
        extra.push("quorumListenOnAllIPs=true".into());
        let servers = (1..=settings.nodes).map(|id| format!("server.{id}=zookeeper-{id}:2888:3888;{PORT}"));
        variables.push(("ZOO_SERVERS".into(), servers.collect::<Vec<_>>().join(" ")));
    }
    variables.push(("ZOO_CFG_EXTRA".into(), extra.join(" ")));
    variables.push(("JVMFLAGS".into(), jvm_flags(settings).join(" ")));
    variables
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;

    fn of(settings: &ZookeeperSettings, id: u32) -> BTreeMap<String, String> {
        variables(settings, id).into_iter().collect()
    }

    #[test]
    fn settings_become_the_variables_of_the_official_image() {
        let settings = ZookeeperSettings {
            tick: Duration::from_millis(250),
            heap: "1g".into(),
            fsync: false,
            jvm_flags: vec!["-Xss512k".into()],
            ..ZookeeperSettings::default()
        };
        let told = of(&settings, 2);
        assert_eq!((told["ZOO_MY_ID"].as_str(), told["ZOO_TICK_TIME"].as_str()), ("2", "250"));
        assert_eq!(told["ZOO_MAX_CLIENT_CNXNS"], "0");
        let servers = "server.1=zookeeper-1:2888:3888;2181 server.2=zookeeper-2:2888:3888;2181 server.3=zookeeper-3:2888:3888;2181";
        assert_eq!(told["ZOO_SERVERS"], servers);
        let extra: Vec<&str> = told["ZOO_CFG_EXTRA"].split(' ').collect();
        for setting in ["forceSync=no", "snapCount=10000000", "quorumListenOnAllIPs=true", "maxSessionTimeout=5000"] {
            assert!(extra.contains(&setting), "{extra:?}");
        }
        let flags = &told["JVMFLAGS"];
        assert!(flags.starts_with("-Xmx1g ") && flags.ends_with(" -Xss512k"), "{flags}");
    }

    #[test]
    fn no_setting_is_told_twice_and_none_binds_to_loopback() {
        for nodes in [1, 3, 5] {
            let told = of(&ZookeeperSettings { nodes, ..ZookeeperSettings::default() }, 1);
            let extra = &told["ZOO_CFG_EXTRA"];
            assert!(OWN.iter().all(|(key, _)| !extra.contains(&format!("{key}="))), "{extra}");
            assert!(!extra.contains("clientPort="), "{extra}");
            assert!(!told.values().any(|value| value.contains("127.0.0.1")), "{told:?}");
        }
    }

    #[test]
    fn a_single_node_lists_no_servers_and_stands_alone() {
        let told = of(&ZookeeperSettings { nodes: 1, ..ZookeeperSettings::default() }, 1);
        assert!(!told.contains_key("ZOO_SERVERS"), "{told:?}");
        assert_eq!(told["ZOO_STANDALONE_ENABLED"], "true");
    }
}
