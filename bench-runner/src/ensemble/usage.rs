//! What a node costs, as the kernel books it.
use procfs::process::Process;
use serde::Serialize;

use super::description::NodeState;

/// CPU and memory of one node since it was first started, over all lives of its server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeUsage {
    /// The node's name.
    pub name: String,
    /// CPU time since the node's first start, user and system, in seconds; the kernel counts in hundredths. `None` where its
    /// process cannot be seen.
    pub cpu_seconds: Option<f64>,
    /// The most memory that was ever resident, in bytes (`VmHWM`); `None` likewise.
    pub peak_rss_bytes: Option<u64>,
}

/// All nodes at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodesSample {
    /// One sample for each node, in the ensemble's order.
    pub nodes: Vec<NodeSample>,
    /// Sessions (etcd: leases) of the whole ensemble, or `None` when a node did not tell that is up.
    pub sessions: Option<u64>,
}

impl NodesSample {
    /// Watches over all nodes, or `None` when a node did not tell.
    pub fn watches(&self) -> Option<u64> {
        self.nodes.iter().map(|node| node.watches).sum()
    }

    /// CPU time over all nodes, in seconds, or `None` where a process cannot be seen.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.nodes.iter().map(|node| node.cpu_seconds).sum()
    }

    /// Bytes of data on the node that keeps most: each keeps all of it. `None` where none told.
    pub fn data_bytes(&self) -> Option<u64> {
        self.nodes.iter().filter_map(|node| node.data_bytes).max()
    }

    /// Resident memory over all nodes, in bytes, or `None` where a process cannot be seen.
    pub fn rss_bytes(&self) -> Option<u64> {
        self.nodes.iter().map(|node| node.rss_bytes).sum()
    }
}

/// One node at one moment. What a node did not tell in time, because it is overloaded or gone, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeSample {
    /// The node's name.
    pub name: String,
    /// What was made of it on purpose. A killed node holds no watches and no connections; a paused one does not tell.
    pub state: NodeState,
    /// CPU time since the node's first start, user and system, in seconds; `None` where its process cannot be seen.
    pub cpu_seconds: Option<f64>,
    /// Resident memory in bytes; 0 for a node that is gone, `None` where its process cannot be seen.
    pub rss_bytes: Option<u64>,
    /// Watches that clients of this node hold.
    pub watches: Option<u64>,
    /// ZooKeeper: client connections to this node, one per session, the one that asks not counted. etcd: watch streams; a
    /// worker opens one with its first watch.
    pub connections: Option<u64>,
    /// Bytes of the data that the node keeps. ZooKeeper: names and contents of its znodes, roughly. etcd: what of its file is in
    /// use.
    pub data_bytes: Option<u64>,
    /// Requests that the node has accepted and not answered; etcd: proposals that are not decided, and watchers that lag.
    pub outstanding: Option<u64>,
}

/// What /proc says of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ProcessUsage {
    pub cpu_seconds: f64,
    pub rss_bytes: u64,
    pub peak_rss_bytes: u64,
}

/// Reads the usage of process `pid`; `None` when it is gone.
pub(crate) fn of_process(pid: u32) -> Option<ProcessUsage> {
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    let stat = process.stat().ok()?;
    // A zombie has a line in /proc, and no memory.
    let status = process.status().ok()?;
    let bytes = |kibibytes: Option<u64>| kibibytes.unwrap_or(0) * 1024;
    Some(ProcessUsage {
        cpu_seconds: (stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64,
        rss_bytes: bytes(status.vmrss),
        peak_rss_bytes: bytes(status.vmhwm),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_at_most_its_peak() {
        let usage = of_process(std::process::id()).unwrap();
        assert!(usage.rss_bytes > 0);
        assert!(usage.peak_rss_bytes > 0);
    }

    #[test]
    fn a_process_that_is_not_there_uses_nothing() {
        // Process ids end at 2^22 on Linux.
        assert_eq!(of_process(u32::MAX), None);
        assert_eq!(of_process((1 << 22) + 1), None);
    }

    #[test]
    fn a_sum_is_only_given_when_every_node_told() {
        let node = |watches| NodeSample { watches, ..NodeSample::default() };
        assert_eq!(NodesSample { nodes: vec![node(Some(2)), node(Some(3))], sessions: None }.watches(), Some(5));
        assert_eq!(NodesSample { nodes: vec![node(Some(2)), node(None)], sessions: None }.watches(), None);
    }
}
