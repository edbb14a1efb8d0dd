//! The line between one worker and the servers, where it is to be cut: a relay on a loopback port.
//!
//! Every connection that comes in is passed on to the servers in turn. Cut by breaking it, the connections are reset and
//! new ones refused; cut as by a black hole, nothing passes either way until it is mended, and then what was sent meanwhile
//! arrives, as TCP does after a short outage.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::settings::CutHow;

/// How long after a failure to accept the next try is made; it is short of descriptors then.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// What is read at once.
const CHUNK_BYTES: usize = 8 << 10;

/// A worker's line. Dropping it breaks it for good.
pub(super) struct Relay {
    address: SocketAddr,
    cut: watch::Sender<Option<CutHow>>,
    serving: AbortHandle,
}

impl Relay {
    /// Opens a line to `servers` (`host:port`), of which the one at place `first` serves the first connection.
    ///
    /// # Errors
    ///
    /// Where no port is to be had.
    pub async fn open(servers: Vec<String>, first: usize) -> io::Result<Relay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (cut, state) = watch::channel(None);
        let serving = tokio::spawn(serve(listener, servers, first, state)).abort_handle();
        Ok(Relay { address, cut, serving })
    }

    /// Where the worker connects: `host:port`.
    pub fn endpoint(&self) -> String {
        self.address.to_string()
    }

    /// Cuts the line.
    pub fn cut(&self, how: CutHow) {
        self.cut.send_replace(Some(how));
    }

    /// Mends it.
    pub fn mend(&self) {
        self.cut.send_replace(None);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, servers: Vec<String>, first: usize, state: watch::Receiver<Option<CutHow>>) {
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    let mut next = first;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((worker, _)) if *state.borrow() == Some(CutHow::Sever) => reset(worker),
                Ok((worker, _)) => {
                    let server = servers[next % servers.len().max(1)].clone();
                    next += 1;
                    connections.spawn(connection(worker, server, state.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Closes a connection as one that broke, and not in good order.
fn reset(stream: TcpStream) {
    let _ = stream.set_zero_linger();
}

async fn connection(worker: TcpStream, server: String, mut state: watch::Receiver<Option<CutHow>>) {
    let mut passing = state.clone();
    let passes = async {
        let _ = passing.wait_for(|cut| *cut != Some(CutHow::Blackhole)).await;
        TcpStream::connect(server).await
    };
    let Ok(server) = passes.await else { return reset(worker) };
    for stream in [&worker, &server] {
        let _ = stream.set_nodelay(true);
    }
    let (from_worker, to_worker) = worker.into_split();
    let (from_server, to_server) = server.into_split();
    let severed = async { state.wait_for(|cut| *cut == Some(CutHow::Sever)).await.map(drop) };
    tokio::select! {
        _ = severed => {}
        () = pass(from_worker, to_server, passing.clone()) => {}
        () = pass(from_server, to_worker, passing) => {}
    }
}

/// Passes on what comes, one way, until either end closes.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<Option<CutHow>>) {
    let mut chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
    loop {
        let Ok(length @ 1..) = from.read(&mut chunk).await else { return };
        if state.wait_for(|cut| *cut != Some(CutHow::Blackhole)).await.is_err() {
            return;
        }
        if to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
    }
}
