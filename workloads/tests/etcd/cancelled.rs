//! Attempts that are given up, one after the other.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use workloads::chaos::{self, Trace, Weather};
use workloads::etcd::Contender;
use workloads::etcd::memory::{Ensemble, Settings};
use workloads::recipe::{Lock, Observer};
use workloads::settings::Recipe;

const BASE: &str = "/cancelled";

struct Deaf;

impl Observer for Deaf {
    fn enqueued(&mut self) {}
    fn woken(&mut self) {}
}

/// An attempt is given up while its create is under way, and the next one while it waits for what the first left to be
/// removed: the third has to wait for that as well, or the removal takes the key that it was granted.
#[test]
fn an_attempt_waits_for_what_all_that_were_given_up_before_it_left() {
    const RECIPES: [Recipe; 5] =
        [Recipe::NaiveLock, Recipe::SequentialLock, Recipe::NaiveElection, Recipe::LeaderLatch, Recipe::LeaderSelector];
    for (recipe, seed) in RECIPES.into_iter().flat_map(|recipe| (0..100).map(move |seed| (recipe, seed))) {
        chaos::run(seed, || async move {
            let weather = Weather { delay: Duration::from_millis(40), ..Weather::STILL };
            let ensemble = Ensemble::start(seed, Settings::new(weather), Trace::off());
            let session = ensemble.connect().await.unwrap();
            let mut lock = Contender::new(recipe, session, BASE, false).unwrap();
            for given_up in 0..3 {
                let patience = Duration::from_millis(1 + (seed + given_up) % 7);
                drop(timeout(patience, lock.acquire(&mut Deaf)).await);
            }
            let grant = lock.acquire(&mut Deaf).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            assert_eq!(ensemble.below(BASE), [grant.path.as_str()], "{recipe}, seed {seed}");
            lock.release(grant).await.unwrap();
            assert!(ensemble.below(BASE).is_empty(), "{recipe}, seed {seed}");
        });
    }
}
