//! The ceiling on requests, for servers that are not the runner's own.
//!
//! A bucket of tokens, filled at the ceiling's rate by the time that really passed and never beyond 10 ms' worth: in any
//! window there are at most that many requests more than the rate allows, also after the process stood still for a while.
//! Whoever finds the bucket empty waits in the order of arrival. What waited is counted, since a run that was held back says
//! nothing of how fast the servers are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How much of the rate may come at once.
const BURST: Duration = Duration::from_millis(10);

/// A ceiling on requests, shared by all sessions that it is for.
#[derive(Debug)]
pub struct Throttle {
    /// Requests a second.
    rate: f64,
    bucket: Mutex<Bucket>,
    /// Held by whoever waits for the bucket; the others queue for it.
    turn: tokio::sync::Mutex<()>,
    held_back: AtomicU64,
}

#[derive(Debug)]
struct Bucket {
    /// Below nought after requests that could not wait.
    tokens: f64,
    filled: Instant,
}

impl Throttle {
    /// A ceiling of so many requests a second, more than 0.
    pub fn new(rate: f64) -> Self {
        let bucket = Mutex::new(Bucket { tokens: 0.0, filled: Instant::now() });
        Throttle { rate, bucket, turn: tokio::sync::Mutex::default(), held_back: AtomicU64::new(0) }
    }

    /// The ceiling, in requests a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Requests that had to wait so far.
    pub fn held_back(&self) -> u64 {
        self.held_back.load(Ordering::Relaxed)
    }

    /// Waits until one more request may be sent. Dropped meanwhile, it takes nothing.
    pub async fn pass(&self) {
        if let Ok(_turn) = self.turn.try_lock()
            && self.take().is_none()
        {
            return;
        }
        self.held_back.fetch_add(1, Ordering::Relaxed);
        let _turn = self.turn.lock().await;
        while let Some(missing) = self.take() {
            sleep(missing).await;
        }
    }

    /// Counts a request that cannot wait.
    pub fn debit(&self) {
        let mut bucket = self.bucket();
        bucket.tokens -= 1.0;
    }

    /// Takes a token, or tells how long it takes until there is one.
    fn take(&self) -> Option<Duration> {
        let mut bucket = self.bucket();
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return None;
        }
        Some(Duration::from_secs_f64((1.0 - bucket.tokens) / self.rate))
    }

    /// The bucket, filled up to now.
    fn bucket(&self) -> std::sync::MutexGuard<'_, Bucket> {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.saturating_duration_since(bucket.filled).as_secs_f64();
        // One at the least, or nobody would ever pass under a low ceiling.
        let most = (self.rate * BURST.as_secs_f64()).max(1.0);
        bucket.tokens = (bucket.tokens + passed * self.rate).min(most);
        bucket.filled = now;
        bucket
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::task::JoinSet;

    use super::*;

    /// The moments at which `count` requests pass, in seconds.
    async fn moments(throttle: Arc<Throttle>, count: u32) -> Vec<f64> {
        let begun = Instant::now();
        let mut requests = JoinSet::new();
        for _ in 0..count {
            let throttle = Arc::clone(&throttle);
            requests.spawn(async move {
                throttle.pass().await;
                begun.elapsed().as_secs_f64()
            });
        }
        let mut moments = requests.join_all().await;
        moments.sort_by(f64::total_cmp);
        moments
    }

    fn holds(moments: &[f64], rate: f64) {
        for (first, from) in moments.iter().enumerate() {
            for (last, to) in moments.iter().enumerate().skip(first) {
                let allowed = rate * (to - from) + (rate * BURST.as_secs_f64()).max(1.0);
                assert!((last - first + 1) as f64 <= allowed + 1.0 + 1e-6, "{first}..={last}: {from} to {to}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_window_has_more_than_the_ceiling() {
        for rate in [7.0, 250.0, 5_000.0] {
            let throttle = Arc::new(Throttle::new(rate));
            let moments = moments(Arc::clone(&throttle), 300).await;
            holds(&moments, rate);
            // And not far fewer: timers have a resolution of a millisecond, which the burst makes up for.
            assert!(*moments.last().unwrap() <= 300.0 / rate * 1.05 + 0.01, "{rate}: {moments:?}");
            assert!(throttle.held_back() > 200, "{}", throttle.held_back());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_is_lost_but_for_a_burst() {
        let throttle = Arc::new(Throttle::new(1_000.0));
        sleep(Duration::from_secs(60)).await;
        let moments = moments(Arc::clone(&throttle), 100).await;
        assert_eq!(moments.iter().filter(|moment| **moment == 0.0).count(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn below_the_ceiling_nobody_waits() {
        let throttle = Throttle::new(100.0);
        for _ in 0..50 {
            sleep(Duration::from_millis(11)).await;
            throttle.pass().await;
        }
        assert_eq!(throttle.held_back(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn others_wait_for_what_could_not() {
        let throttle = Throttle::new(100.0);
        sleep(Duration::from_secs(1)).await;
        (0..50).for_each(|_| throttle.debit());
        let begun = Instant::now();
        throttle.pass().await;
        // One token was there, so 49 were owed and one more is taken.
        assert!(begun.elapsed() >= Duration::from_millis(499), "{:?}", begun.elapsed());
    }
}
