//! All that is on a server, to compare before and after.
use std::collections::BTreeMap;
use std::time::Duration;

use workloads::access::Access;
use workloads::zookeeper::session::{AtDrop, Client, CreateMode, Session, SessionError};

use crate::block_on;
use crate::servers::{Server, etcdctl};

/// A session with ZooKeeper.
pub async fn session(server: &Server) -> Client {
    Client::open(&server.endpoint(), Duration::from_secs(5), AtDrop::Close, &Access::default()).await.unwrap()
}

/// All znodes with their data, ZooKeeper's own left out.
pub fn of_zookeeper(server: &Server) -> BTreeMap<String, Vec<u8>> {
    block_on(async {
        let client = session(server).await;
        let mut tree = BTreeMap::new();
        let mut open = vec![String::new()];
        while let Some(path) = open.pop() {
            let at = if path.is_empty() { "/" } else { &path };
            let children = match client.children(at).await {
                Ok(children) => children,
                Err(SessionError::NoNode) => continue,
                Err(error) => panic!("{at}: {error}"),
            };
            if let Ok((data, _)) = client.data(at).await {
                tree.insert(at.to_owned(), data);
            }
            open.extend(children.iter().map(|child| format!("{path}/{child}")).filter(|child| child != "/zookeeper"));
        }
        tree
    })
}

/// All keys of etcd with their values.
pub fn of_etcd(server: &Server) -> String {
    etcdctl(server, None, &["get", "", "--prefix"])
}

/// Puts something of somebody else's on a server of ZooKeeper.
pub fn furnish_zookeeper(server: &Server) {
    block_on(async {
        let client = session(server).await;
        for path in ["/app", "/app/config", "/bench-runner-of-somebody-else"] {
            client.create(path, CreateMode::Persistent, path.as_bytes()).await.unwrap();
        }
    });
}

/// The same in etcd.
pub fn furnish_etcd(server: &Server) {
    for key in ["/app/config", "/bench-runner-of-somebody-else", "/bench-runne"] {
        etcdctl(server, None, &["put", key, key]);
    }
}
