//! A TCP proxy between a session and one node. It knows ZooKeeper's frames well enough to count them and to cut the
//! connection between a request and its reply.
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::place::within;

/// ZooKeeper's numbers of its operations.
pub mod opcode {
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const SYNC: i32 = 9;
    pub const GET_CHILDREN: i32 = 8;
    pub const GET_CHILDREN2: i32 = 12;
    pub const CREATE2: i32 = 15;
    pub const REMOVE_WATCHES: i32 = 18;
    pub const CREATE_CONTAINER: i32 = 19;
}

/// Sent by the client when it likes; not counted, nor is its answer.
const PING: i32 = 11;
const XID_NOTIFICATION: i32 = -1;

/// What passed, by the operation's number, but for pings.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub requests: BTreeMap<i32, u64>,
    /// Bytes of the replies, their lengths included.
    pub response_bytes: BTreeMap<i32, u64>,
    pub notifications: u64,
    pub connects: u64,
}

struct Shared {
    traffic: Mutex<Traffic>,
    /// The operation before whose next reply the connection is cut.
    cut_reply_of: Mutex<Option<i32>>,
    severed: watch::Sender<bool>,
    /// Whether nothing is forwarded although the connections stand.
    silent: watch::Sender<bool>,
    /// Connections that are open now.
    open: watch::Sender<u32>,
}

/// The proxy; ends with all its connections when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    pub async fn start(node: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::new(Shared {
            traffic: Mutex::default(),
            cut_reply_of: Mutex::default(),
            severed: watch::Sender::new(false),
            silent: watch::Sender::new(false),
            open: watch::Sender::new(0),
        });
        Proxy {
            address: listener.local_addr().unwrap(),
            accepting: tokio::spawn(accept(listener, node, Arc::clone(&shared))),
            shared,
        }
    }

    /// Where the session is to connect.
    pub fn endpoint(&self) -> String {
        self.address.to_string()
    }

    pub fn traffic(&self) -> Traffic {
        self.shared.traffic.lock().unwrap().clone()
    }

    /// Cuts the connection once: when the next request of `opcode` has been carried out, before its reply.
    pub fn cut_reply_of(&self, opcode: i32) {
        *self.shared.cut_reply_of.lock().unwrap() = Some(opcode);
    }

    /// Whether the cut has been made.
    pub fn has_cut(&self) -> bool {
        self.shared.cut_reply_of.lock().unwrap().is_none()
    }

    /// Waits until the sessions behind have closed. A proxy that went before them would leave them to expire.
    pub async fn idle(&self) {
        let mut open = self.shared.open.subscribe();
        within(open.wait_for(|open| *open == 0)).await.unwrap();
    }

    /// Cuts all connections until it is mended, as a network does that fails: the sessions behind expire unless it is soon.
    pub fn sever(&self) {
        self.shared.severed.send_replace(true);
    }

    /// Lets the sessions behind come back.
    pub async fn mend(&self) {
        self.idle().await;
        self.shared.severed.send_replace(false);
    }

    /// Forwards nothing any more, as a network does that loses every packet: the connections stand, and nobody is told.
    pub fn fall_silent(&self) {
        self.shared.silent.send_replace(true);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.sever();
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, node: SocketAddr, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        if *shared.severed.borrow() {
            continue;
        }
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let Ok(server) = TcpStream::connect(node).await else { return };
            shared.open.send_modify(|open| *open += 1);
            let mut severed = shared.severed.subscribe();
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            let asked = Mutex::new(HashMap::new());
            // Whichever ends first ends both, and with them the two sockets.
            tokio::select! {
                _ = requests(from_client, to_server, &shared, &asked) => {}
                _ = responses(from_server, to_client, &shared, &asked) => {}
                _ = severed.wait_for(|severed| *severed) => {}
            }
            shared.open.send_modify(|open| *open -= 1);
        });
    }
}

/// The next frame with its length; `None` at the end.
async fn frame(from: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let length = from.read_u32().await.ok()?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.resize(4 + length as usize, 0);
    from.read_exact(&mut frame[4..]).await.ok()?;
    Some(frame)
}

fn number(frame: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(frame[at..at + 4].try_into().unwrap())
}

/// Sends a frame on, unless the proxy has fallen silent.
async fn forward(frame: &[u8], to: &mut OwnedWriteHalf, shared: &Shared) -> Option<()> {
    shared.silent.subscribe().wait_for(|silent| !silent).await.ok()?;
    to.write_all(frame).await.ok()
}

type Asked = Mutex<HashMap<i32, i32>>;

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, asked: &Asked) -> Option<()> {
    let connect = frame(&mut from).await?;
    shared.traffic.lock().unwrap().connects += 1;
    forward(&connect, &mut to, shared).await?;
    loop {
        let request = frame(&mut from).await?;
        let (xid, opcode) = (number(&request, 4), number(&request, 8));
        if opcode != PING {
            asked.lock().unwrap().insert(xid, opcode);
            *shared.traffic.lock().unwrap().requests.entry(opcode).or_default() += 1;
        }
        forward(&request, &mut to, shared).await?;
    }
}

async fn responses(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, asked: &Asked) -> Option<()> {
    let connected = frame(&mut from).await?;
    forward(&connected, &mut to, shared).await?;
    loop {
        let response = frame(&mut from).await?;
        let xid = number(&response, 4);
        if xid == XID_NOTIFICATION {
            shared.traffic.lock().unwrap().notifications += 1;
        } else if let Some(opcode) = asked.lock().unwrap().remove(&xid) {
            if shared.cut_reply_of.lock().unwrap().take_if(|cut| *cut == opcode).is_some() {
                return None;
            }
            *shared.traffic.lock().unwrap().response_bytes.entry(opcode).or_default() += response.len() as u64;
        }
        forward(&response, &mut to, shared).await?;
    }
}
