//! What breaks between the worker and the servers, and among the servers.

use workloads::recipe::Lock;

use super::proxy::Proxy;
use super::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_is_made_again_where_its_stream_breaks_and_misses_nothing() {
    let ensemble = three_nodes().await;
    let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
    for missed in [false, true] {
        let (mut lock, grant) = sequential(session_at(&ensemble.connect_string(), 1).await).granted().await;
        // Its only way to the servers is the proxy.
        let waiting = sequential(session_at(&proxy.endpoint(), 0).await).enqueued().await;
        watched(&ensemble, 1).await;
        proxy.cut();
        // The server has noticed.
        watched(&ensemble, 0).await;
        if missed {
            // The deletion happens while nobody watches: it is delivered out of the history.
            lock.release(grant).await.unwrap();
            proxy.mend();
        } else {
            proxy.mend();
            watched(&ensemble, 1).await;
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
    let endpoints = format!("{},{}", proxy.endpoint(), ensemble.nodes()[1].endpoint());
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
    let waiting = sequential(session_at(&proxy.endpoint(), 0).await).enqueued().await;
    proxy.cut();
    let (_, outcome) = waiting.outcome().await;
    assert!(matches!(outcome, Err(workloads::recipe::RecipeError::SessionLost(_))), "{outcome:?}");
    lock.release(grant).await.unwrap();
    ensemble.stop().await.unwrap();
}
