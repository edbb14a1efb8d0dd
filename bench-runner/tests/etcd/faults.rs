//! What breaks between the worker and the servers, and among the servers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use workloads::recipe::Lock;

use super::support::*;

/// Hands bytes on to a server, until it is told to cut: then it drops every connection, and refuses new ones until it is
/// told to mend.
struct Proxy {
    address: SocketAddr,
    cuts: watch::Sender<u32>,
    down: Arc<AtomicBool>,
}

impl Proxy {
    async fn before(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cuts, cut) = watch::channel(0);
        let down = Arc::new(AtomicBool::new(false));
        let is_down = Arc::clone(&down);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                if is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let mut cut = cut.clone();
                cut.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(server).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Proxy { address, cuts, down }
    }

    fn cut(&self) {
        self.down.store(true, Ordering::SeqCst);
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    fn mend(&self) {
        self.down.store(false, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_is_made_again_where_its_stream_breaks_and_misses_nothing() {
    let ensemble = three_nodes().await;
    let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
    for missed in [false, true] {
        let (mut lock, grant) = sequential(session_at(&ensemble.connect_string(), 1).await).granted().await;
        // Its only way to the servers is the proxy.
        let waiting = sequential(session_at(&proxy.address.to_string(), 0).await).enqueued().await;
        let watches = async |count| ensemble.counters().await.is_ok_and(|counters| counters.watches == count);
        eventually("it watches", async || watches(1).await).await;
        proxy.cut();
        eventually("the server has noticed", async || watches(0).await).await;
        if missed {
            // The deletion happens while nobody watches: it is delivered out of the history.
            lock.release(grant).await.unwrap();
            proxy.mend();
        } else {
            proxy.mend();
            eventually("it watches again", async || watches(1).await).await;
            lock.release(grant).await.unwrap();
        }
        let (mut lock, grant) = waiting.granted().await;
        lock.release(grant).await.unwrap();
    }
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_goes_on_with_another_server_when_its_own_is_gone() {
    let ensemble = three_nodes().await;
    let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
    let endpoints = format!("{},{}", proxy.address, ensemble.nodes()[1].endpoint());
    let (mut lock, grant) = sequential(session_at(&ensemble.connect_string(), 2).await).granted().await;
    let waiting = sequential(session_at(&endpoints, 0).await).enqueued().await;
    proxy.cut();
    lock.release(grant).await.unwrap();
    let (mut lock, grant) = waiting.granted().await;
    lock.release(grant).await.unwrap();
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_cut_off_for_longer_than_its_ttl_gives_up() {
    let ensemble = three_nodes().await;
    let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
    let (mut lock, grant) = sequential(session_at(&ensemble.connect_string(), 1).await).granted().await;
    let waiting = sequential(session_at(&proxy.address.to_string(), 0).await).enqueued().await;
    proxy.cut();
    let (_, outcome) = waiting.outcome().await;
    assert!(matches!(outcome, Err(workloads::recipe::RecipeError::SessionLost(_))), "{outcome:?}");
    lock.release(grant).await.unwrap();
    ensemble.stop().await.unwrap();
}
