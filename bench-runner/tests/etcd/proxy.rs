//! A TCP proxy between sessions and one node, which cuts or goes silent as it is told.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What becomes of the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    /// They are handed on.
    Up,
    /// Every connection is dropped, and new ones are refused.
    Cut,
    /// Connections stand, and nothing passes either way, as behind a firewall that forgot them.
    Silent,
}

/// The proxy. It ends with its connections when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    network: watch::Sender<Network>,
    /// Connections that are open now.
    open: watch::Sender<u32>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// One before this server.
    pub async fn before(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (network, open) = (watch::Sender::new(Network::Up), watch::Sender::new(0));
        let accepting = tokio::spawn(accept(listener, server, network.clone(), open.clone()));
        Proxy { address, network, open, accepting }
    }

    /// Where the session is to connect.
    pub fn endpoint(&self) -> String {
        self.address.to_string()
    }

    /// Drops every connection, and refuses new ones until it is told to mend.
    pub fn cut(&self) {
        self.network.send_replace(Network::Cut);
    }

    /// Lets nothing pass any more, and leaves everybody to find out.
    pub fn silence(&self) {
        self.network.send_replace(Network::Silent);
    }

    /// Serves again.
    pub fn mend(&self) {
        self.network.send_replace(Network::Up);
    }

    /// How many connections are open.
    pub fn open(&self) -> u32 {
        *self.open.borrow()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, network: watch::Sender<Network>, open: watch::Sender<u32>) {
    while let Ok((client, _)) = listener.accept().await {
        if *network.borrow() == Network::Cut {
            continue;
        }
        let (network, open) = (network.subscribe(), open.clone());
        tokio::spawn(async move {
            open.send_modify(|open| *open += 1);
            forward(client, server, network).await;
            open.send_modify(|open| *open -= 1);
        });
    }
}

/// Hands bytes on until either side closes or the network is cut.
async fn forward(mut client: TcpStream, server: SocketAddr, mut network: watch::Receiver<Network>) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    loop {
        let now = *network.borrow_and_update();
        tokio::select! {
            biased;
            // The proxy is gone.
            changed = network.changed() => if changed.is_err() { return },
            _ = copy_bidirectional(&mut client, &mut server), if now == Network::Up => return,
            () = std::future::ready(()), if now == Network::Cut => return,
        }
    }
}
