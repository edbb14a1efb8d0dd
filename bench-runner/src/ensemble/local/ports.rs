//! Loopback ports for the nodes.
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use procfs::net::TcpState;
use procfs::process::FDTarget;
use rand::RngExt;

use crate::ensemble::error::EnsembleError;

/// The ports of one node, all on 127.0.0.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodePorts {
    /// For clients.
    pub client: u16,
    /// For the other nodes: as many as the service needs.
    pub between: Vec<u16>,
}

impl NodePorts {
    pub fn all(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::once(self.client).chain(self.between.iter().copied())
    }
}

/// Sees whether `each` ports for each node fit after `base`. Errors: [`EnsembleError::Settings`].
pub(crate) fn check_base(base: Option<u16>, nodes: u32, each: u32) -> Result<(), EnsembleError> {
    let Some(base) = base else { return Ok(()) };
    let last = u32::from(base) + each * nodes - 1;
    if base < 1024 || last > u32::from(u16::MAX) {
        let what =
            format!("the ports {base} to {last} are not all between 1024 and 65535; choose another base port, or none");
        return Err(EnsembleError::Settings { what });
    }
    Ok(())
}

/// Ports that follow `base`: clients' ports first, so that they are easy to tell, then `between` for each node. Settings
/// were checked, so the sum does not overflow. Errors: [`EnsembleError::PortTaken`].
pub(crate) fn fixed(nodes: u32, base: u16, between: usize) -> Result<Vec<NodePorts>, EnsembleError> {
    // At most 255 nodes and a few ports each, by the settings' check.
    let nodes = u16::try_from(nodes).unwrap_or(u16::MAX);
    let rounds = u16::try_from(between).unwrap_or(u16::MAX);
    let ports: Vec<NodePorts> = (0..nodes)
        .map(|index| NodePorts {
            client: base + index,
            between: (1..=rounds).map(|round| base + round * nodes + index).collect(),
        })
        .collect();
    let occupied = ports.iter().flat_map(NodePorts::all).find(|port| !is_free(*port));
    match occupied {
        Some(port) => Err(taken(port)),
        None => Ok(ports),
    }
}

/// Ports that nobody uses now. Somebody may take one before the node does; the caller tries again then.
pub(crate) fn free(nodes: u32, between: usize) -> io::Result<Vec<NodePorts>> {
    let mut ports = pick(nodes as usize * (1 + between))?.into_iter();
    let mut next = || ports.next().ok_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable));
    (0..nodes)
        .map(|_| Ok(NodePorts { client: next()?, between: (0..between).map(|_| next()).collect::<io::Result<_>>()? }))
        .collect()
}

/// `count` different free ports. They are taken from below the range out of which the kernel gives ports to outgoing
/// connections: the runner opens thousands of those, and one of them could sit on the port of a node that is down for a
/// moment.
fn pick(count: usize) -> io::Result<Vec<u16>> {
    let below = lowest_outgoing_port();
    let mut picked = BTreeSet::new();
    let mut random = rand::rng();
    let mut tries = 0;
    while picked.len() < count && below > 20_000 && tries < 100 * count {
        tries += 1;
        let port = random.random_range(10_240..below);
        if !picked.contains(&port) && is_free(port) {
            picked.insert(port);
        }
    }
    // A machine whose outgoing ports begin low: let the kernel choose, and hold all of them until the last is chosen.
    let mut held = Vec::new();
    while picked.len() < count {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        picked.insert(listener.local_addr()?.port());
        held.push(listener);
    }
    Ok(picked.into_iter().collect())
}

fn lowest_outgoing_port() -> u16 {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|low| low.parse().ok()).unwrap_or(32_768)
}

/// Whether a server could listen on the port now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The error for a port that is taken, with who holds it.
pub(crate) fn taken(port: u16) -> EnsembleError {
    EnsembleError::PortTaken { port, holder: holder(port) }
}

/// Who listens on the port, as far as this user may know.
fn holder(port: u16) -> String {
    let unknown = || format!("a process that this user may not see (as root, `ss -ltnp 'sport = :{port}'` tells)");
    let Some(inode) = listening_socket(port) else { return unknown() };
    let Ok(processes) = procfs::process::all_processes() else { return unknown() };
    for process in processes.flatten() {
        let Ok(descriptors) = process.fd() else { continue };
        if descriptors.flatten().any(|descriptor| matches!(descriptor.target, FDTarget::Socket(at) if at == inode)) {
            let name = process.stat().map(|stat| stat.comm).unwrap_or_default();
            return format!("process {} ({name})", process.pid());
        }
    }
    unknown()
}

/// The inode of the socket that listens on the port, on any address, of either version of IP.
fn listening_socket(port: u16) -> Option<u64> {
    let entries = [procfs::net::tcp(), procfs::net::tcp6()].into_iter().flatten().flatten();
    let listens = |state: &TcpState, address: &SocketAddr| *state == TcpState::Listen && address.port() == port;
    entries.into_iter().find(|entry| listens(&entry.state, &entry.local_address)).map(|entry| entry.inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_free_and_different() {
        let ports = free(5, 2).unwrap();
        let all: BTreeSet<u16> = ports.iter().flat_map(NodePorts::all).collect();
        assert_eq!(all.len(), 15);
    }

    #[test]
    fn a_taken_port_is_named_with_its_holder() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = fixed(1, port, 0).unwrap_err().to_string();
        assert!(text.contains(&format!("port {port} ")), "{text}");
        assert!(text.contains(&format!("process {} (", std::process::id())), "{text}");
    }

    #[test]
    fn a_base_port_gives_clients_the_first_ports() {
        let base = pick(1).unwrap()[0];
        if let Ok(ports) = fixed(3, base, 2) {
            let clients: Vec<u16> = ports.iter().map(|ports| ports.client).collect();
            assert_eq!(clients, [base, base + 1, base + 2]);
            let all: BTreeSet<u16> = ports.iter().flat_map(NodePorts::all).collect();
            assert_eq!(all.into_iter().collect::<Vec<u16>>(), (base..base + 9).collect::<Vec<u16>>());
        }
    }
}
