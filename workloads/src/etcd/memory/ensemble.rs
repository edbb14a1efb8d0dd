//! The ensemble as tests see it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::frozen::Frozen;
use super::way::{Way, lock};
use super::world::World;
use crate::chaos::{self, Trace, Weather};
use crate::etcd::session::{Client, SessionError, Untapped};

/// A session with an ensemble in memory: the product's own, over another way.
pub type MemorySession = Client<Way>;

/// What an ensemble is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The ttl of leases, in whole seconds.
    pub ttl: Duration,
    /// The shortest ttl that the servers grant: etcd's are 2 s with its usual election time-out.
    pub shortest_ttl: Duration,
    /// What goes wrong.
    pub weather: Weather,
}

impl Settings {
    /// Leases of four seconds, and this weather.
    pub fn new(weather: Weather) -> Self {
        Settings { ttl: Duration::from_secs(4), shortest_ttl: Duration::from_secs(2), weather }
    }
}

/// What the servers have counted since they started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that clients have sent, whether they arrived or not.
    pub requests: u64,
    /// Events that were sent on watch streams.
    pub notifications: u64,
    /// Watches that stand.
    pub watches: usize,
    /// Leases that have not ended.
    pub leases: usize,
    /// Leases that have run out.
    pub expired: u64,
}

/// An ensemble in memory. Clones are the same one.
#[derive(Clone)]
pub struct Ensemble {
    world: Arc<Mutex<World>>,
}

impl Ensemble {
    /// Starts one on the runtime of this [run](chaos::run), which is to live as long.
    pub fn start(seed: u64, settings: Settings, trace: Trace) -> Self {
        let world = Arc::new(Mutex::new(World::new(seed, settings, trace)));
        tokio::spawn(chaos::drive(Arc::clone(&world)));
        Ensemble { world }
    }

    /// A new session, over a connection of its own.
    ///
    /// # Errors
    ///
    /// [`SessionError`], as the weather is.
    pub async fn connect(&self) -> Result<MemorySession, SessionError> {
        let ttl = lock(&self.world).settings.ttl;
        MemorySession::open(Arc::new(self.way()), ttl, Arc::new(Untapped)).await
    }

    /// A new client's way, on which no session is open.
    pub fn way(&self) -> Way {
        Way::new(&self.world)
    }

    /// The client of this lease stands still for so long: nothing of its session runs. Its worker's own futures are to be
    /// [frozen](Ensemble::frozen) with it.
    pub fn pause(&self, lease: i64, length: Duration) {
        let world = lock(&self.world);
        if let Some(way) = world.way_of(lease) {
            world.trace.note(|| format!("c{way} stands still for {length:?}"));
            world.pause_of(way).begin(length);
        }
    }

    /// Stands still whenever the client of this lease does.
    ///
    /// # Panics
    ///
    /// Where no client has asked for this lease.
    #[expect(clippy::expect_used, reason = "a test's own mistake")]
    pub fn frozen<F: Future>(&self, lease: i64, future: F) -> Frozen<F> {
        let world = lock(&self.world);
        let way = world.way_of(lease).expect("the lease of a client");
        Frozen::new(world.pause_of(way), future)
    }

    /// Resolves when the client of this lease does not stand still.
    pub async fn awake(&self, lease: i64) {
        let pause = {
            let world = lock(&self.world);
            world.way_of(lease).map(|way| world.pause_of(way))
        };
        if let Some(pause) = pause {
            pause.over().await;
        }
    }

    /// The worker of this lease dies: nothing is sent any more, and the lease runs out by itself.
    pub fn crash(&self, lease: i64) {
        let mut world = lock(&self.world);
        if let Some(way) = world.way_of(lease) {
            world.trace.note(|| format!("c{way} dies"));
            world.crash(way);
        }
    }

    /// The connection of this lease's client breaks, and none can be made for so long. In silence, neither side is told.
    pub fn cut(&self, lease: i64, outage: Duration, silent: bool) {
        let mut world = lock(&self.world);
        if let Some(way) = world.way_of(lease) {
            world.break_for(way, outage, silent);
        }
    }

    /// The servers revoke this lease, as they do when it has run out.
    pub fn expire(&self, lease: i64) {
        lock(&self.world).revoke(lease);
    }

    /// Whether the servers have ended this lease.
    pub fn is_over(&self, lease: i64) -> bool {
        !lock(&self.world).store.leases.contains_key(&lease)
    }

    /// The servers forget the history before this revision; 0: before the latest.
    pub fn compact(&self, revision: i64) {
        let mut world = lock(&self.world);
        let revision = if revision == 0 { world.store.revision } else { revision };
        world.store.compact(revision);
    }

    /// What has been counted.
    pub fn counters(&self) -> Counters {
        let world = lock(&self.world);
        Counters { watches: world.watches(), leases: world.store.leases.len(), ..world.counters }
    }

    /// All keys that begin with `prefix`.
    pub fn below(&self, prefix: &str) -> Vec<String> {
        lock(&self.world).store.with_prefix(prefix).map(|(key, _)| key.to_string()).collect()
    }
}
