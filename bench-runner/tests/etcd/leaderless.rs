//! Leaders that do not hear that they lead no more, and campaigns while the ensemble itself has no leader.

use std::time::Instant;

use bench_runner::ensemble::{Ensemble, Role};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::timeout;
use workloads::recipe::{Lock, Loss, RecipeError};
use workloads::settings::Recipe;

use super::PATIENCE;
use super::proxy::Proxy;
use super::support::*;

/// kubernetes #23731: the old leader is never told that another one leads. Its network lets nothing pass any more, and no
/// connection breaks: only its own clock can tell it, and does so before the servers let another lead.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_cut_off_is_told_before_another_one_leads() {
    let ensemble = three_nodes().await;
    for recipe in QUEUES.into_iter().chain(HERDS) {
        let proxy = Proxy::before(ensemble.nodes()[0].endpoint()).await;
        let (mut old, grant) = contending(recipe, session_at(&proxy.endpoint(), 0).await).granted().await;
        let next = contending(recipe, session_at(&ensemble.connect_string(), 1).await).enqueued().await;
        assert!(poll_once(std::pin::pin!(old.lost(&grant))).is_pending(), "{recipe}");
        proxy.silence();
        let told = async {
            let loss = timeout(PATIENCE, old.lost(&grant)).await.expect("the old leader is told");
            (loss, Instant::now())
        };
        let leads = async {
            let (holder, next_grant) = next.granted().await;
            (holder, next_grant, Instant::now())
        };
        let ((loss, told), (mut holder, next_grant, leads)) = tokio::join!(told, leads);
        assert!(matches!(loss, Loss::Session(_)), "{recipe}: {loss:?}");
        assert!(told < leads, "{recipe}: told {:?} too late", told - leads);
        assert!(grant.token < next_grant.token, "{recipe}");
        // It does not act on it any more, and says nothing: it could not be heard.
        let outcome = timeout(PATIENCE, old.release(grant)).await.unwrap();
        assert!(matches!(outcome, Err(RecipeError::SessionLost(_))), "{recipe}: {outcome:?}");
        holder.release(next_grant).await.unwrap();
    }
    ensemble.stop().await.unwrap();
}

/// The place of the node that leads the ensemble.
async fn place_of_the_leader(ensemble: &Ensemble) -> usize {
    let nodes = ensemble.describe().await.unwrap().nodes;
    nodes.iter().position(|node| node.role == Role::Leader).expect("somebody leads the ensemble")
}

/// Lets a node go on when it is dropped, so that the ensemble can be stopped.
struct Stopped(Pid);

impl Stopped {
    fn node(ensemble: &Ensemble, place: usize) -> Stopped {
        let pid = Pid::from_raw(ensemble.nodes()[place].pid().cast_signed());
        kill(pid, Signal::SIGSTOP).unwrap();
        Stopped(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

/// etcd #14641: a campaign hangs when the ensemble's leader is stopped. Both candidates talk to that one: the first waits by
/// then, the second begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_campaign_goes_on_elsewhere_when_the_ensembles_leader_stops() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    for recipe in [Recipe::LeaderLatch, Recipe::NaiveElection] {
        let place = place_of_the_leader(&ensemble).await;
        let (mut leader, grant) = contending(recipe, session_at(&endpoints, place + 1).await).granted().await;
        let waiting = contending(recipe, session_at(&endpoints, place).await).enqueued().await;
        watched(&ensemble, 1).await;
        let session = session_at(&endpoints, place).await;
        let stopped = Stopped::node(&ensemble, place);
        let mut candidates = vec![waiting, contending(recipe, session)];
        leader.release(grant).await.unwrap();
        while !candidates.is_empty() {
            let (mut leader, grant) = first_of(&mut candidates).await.granted().await;
            leader.release(grant).await.unwrap();
        }
        drop(stopped);
        eventually("all three serve", async || ensemble.describe().await.is_ok()).await;
    }
    ensemble.stop().await.unwrap();
}
