//! What leadership's going from one to the next costs, and to whom it goes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use workloads::etcd;
use workloads::recipe::{Lock, Observer};
use workloads::record::{Capacity, Recorder};
use workloads::settings::Recipe;

use super::support::*;
use super::{PATIENCE, settings, start};

const CANDIDATES: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn a_leaders_death_notifies_all_candidates_of_the_naive_election_and_one_of_the_others() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    for recipe in [Recipe::NaiveElection, Recipe::LeaderLatch, Recipe::LeaderSelector] {
        let recorder = Arc::new(Recorder::new(Capacity { length: Duration::from_secs(600), grants: 100 }, true));
        recorder.open();
        let mut candidates = Vec::new();
        for place in 0..CANDIDATES {
            let session = tapped_session_at(&endpoints, place, Arc::clone(&recorder) as _).await;
            candidates.push(contending(recipe, session).enqueued().await);
        }
        let mut leaders = Vec::new();
        for waiting in (0..CANDIDATES).rev() {
            eventually("everybody else waits", async || recorder.standing_watches() == waiting as i64).await;
            let candidate = first_of(&mut candidates).await;
            let lease = candidate.lease;
            let (leader, grant) = candidate.granted().await;
            // It dies: its lease ends, and it says nothing.
            revoke(&ensemble, lease);
            leaders.push((leader, grant.token, waiting as u32));
        }
        eventually("the last one's death is known", async || queue(&ensemble).is_empty()).await;
        let recording = recorder.finish(recorder.now());
        for (_, token, waiting) in &leaders {
            let caused = recording.fan_out.iter().find(|entry| entry.token == *token);
            let expected = if recipe == Recipe::NaiveElection { *waiting } else { 1.min(*waiting) };
            assert_eq!(caused.map_or(0, |entry| entry.notifications), expected, "{recipe}, {waiting} waiting");
        }
        assert!(leaders.is_sorted_by_key(|(_, token, _)| *token), "{recipe}: a token fell");
        drop(leaders);
    }
    ensemble.stop().await.unwrap();
}

/// Tells how often somebody has queued.
struct Queued(watch::Sender<usize>);

impl Observer for Queued {
    fn enqueued(&mut self) {
        self.0.send_modify(|times| *times += 1);
    }

    fn woken(&mut self) {}
}

/// Each leader resigns when the one before it is back in the queue, so that the order of queueing is known.
#[tokio::test(flavor = "multi_thread")]
async fn leadership_of_a_selector_goes_round_for_a_hundred_rounds_and_nobody_starves() {
    const WORKERS: usize = 5;
    const ROUNDS: usize = 100;
    let ensemble = start(settings(1)).await.unwrap();
    let endpoints = ensemble.connect_string();
    let (queued, turns) = (watch::Sender::new(0), Arc::new(std::sync::Mutex::new(Vec::new())));
    let mut workers = Vec::new();
    for worker in 0..WORKERS {
        let session = session_at(&endpoints, 0).await;
        let mut selector = etcd::Contender::new(Recipe::LeaderSelector, session, BASE, true).unwrap();
        let (mut observer, mut times, turns) = (Queued(queued.clone()), queued.subscribe(), Arc::clone(&turns));
        workers.push(tokio::spawn(async move {
            for _ in 0..ROUNDS {
                let grant = selector.acquire(&mut observer).await.unwrap();
                let turn = {
                    let mut turns = turns.lock().unwrap();
                    turns.push(worker);
                    turns.len()
                };
                // In the last round nobody comes back.
                let all = (WORKERS + turn - 1).min(WORKERS * ROUNDS);
                times.wait_for(|times| *times >= all).await.unwrap();
                selector.release(grant).await.unwrap();
            }
        }));
        // They queue one after the other: the order of the first round is known too.
        eventually("it has queued", async || *queued.borrow() > worker).await;
    }
    for worker in workers {
        timeout(PATIENCE * 2, worker).await.expect("everybody has a turn in each round").unwrap();
    }
    let turns = std::mem::take(&mut *turns.lock().unwrap());
    assert_eq!(turns.len(), WORKERS * ROUNDS);
    assert!(turns.iter().copied().eq((0..WORKERS).cycle().take(WORKERS * ROUNDS)), "out of turn: {turns:?}");
    ensemble.stop().await.unwrap();
}
