//! The random choices of a run.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};

/// A source of random choices. Those of one seed and purpose are always the same, whatever else draws meanwhile.
#[derive(Clone, Debug)]
pub struct Dice(SmallRng);

impl Dice {
    /// The choices of this seed for this purpose.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a, so that two purposes share nothing.
        let mixed = purpose
            .bytes()
            .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Dice(SmallRng::seed_from_u64(mixed))
    }

    /// One of `0..below`; 0 where that is empty.
    pub fn below(&mut self, below: usize) -> usize {
        if below < 2 { 0 } else { self.0.random_range(0..below) }
    }

    /// One of `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        if low >= high { low } else { self.0.random_range(low..=high) }
    }

    /// Whether something happens that does so this often in a thousand times. Draws nothing where it never does.
    pub fn happens(&mut self, per_mille: u32) -> bool {
        per_mille > 0 && self.0.random_range(0..1000) < per_mille
    }

    /// Whole milliseconds, as many as `most` has at most. Short ones are drawn more often, and 0 most often of all, so that
    /// things happen at once as well as one after the other.
    pub fn delay(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        if most == 0 {
            return Duration::ZERO;
        }
        let longest = if self.0.random_range(0..4) == 0 { most } else { most / 8 };
        Duration::from_millis(self.between(0, longest))
    }

    /// Any bits.
    pub fn bits(&mut self) -> u128 {
        (u128::from(self.0.next_u64()) << 64) | u128::from(self.0.next_u64())
    }

    /// Puts these in any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
