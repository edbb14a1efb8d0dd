//! The ensemble as tests see it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::MemorySession;
use super::world::{LEADER, World};
use crate::chaos::{self, Trace, Weather};

/// What an ensemble is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many servers, at least one.
    pub servers: usize,
    /// How long a session lasts that the servers do not hear of.
    pub timeout: Duration,
    /// How often they look for such sessions.
    pub tick: Duration,
    /// How long a container stays at most that has lost its last child; zero: for ever.
    pub reap_after: Duration,
    /// What goes wrong.
    pub weather: Weather,
}

impl Settings {
    /// Three servers, sessions of four seconds, and this weather.
    pub fn new(weather: Weather) -> Self {
        let ms = Duration::from_millis;
        Settings { servers: 3, timeout: ms(4000), tick: ms(200), reap_after: ms(3000), weather }
    }
}

/// What the servers have counted since they started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that clients have sent, whether they arrived or not.
    pub requests: u64,
    /// Reads that were answered.
    pub reads: u64,
    /// Writes that were decided.
    pub writes: u64,
    /// Notifications that were sent.
    pub notifications: u64,
    /// Watches that stand.
    pub watches: usize,
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

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new session, with any of the servers.
    pub fn connect(&self) -> MemorySession {
        let session = self.world().open();
        MemorySession::new(Arc::clone(&self.world), session)
    }

    /// The client of this session stands still for so long, and with it, as far as the caller sees to it, its worker.
    pub fn pause(&self, session: i64, length: Duration) {
        self.world().pause(session, length);
    }

    /// Resolves when the client does not stand still.
    pub async fn awake(&self, session: i64) {
        loop {
            let until = self.world().member(session).client.paused_until;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// The worker of this session dies: its connection breaks, and whatever still asks on it is told that it is lost.
    pub fn crash(&self, session: i64) {
        self.world().crash(session);
    }

    /// The connection of this session breaks, for so long after its client has noticed. In silence, neither side is told.
    pub fn cut(&self, session: i64, outage: Duration, silent: bool) {
        self.world().break_for(session, outage, silent);
    }

    /// The servers end this session, as they do when they have not heard of it for too long.
    pub fn expire(&self, session: i64) {
        let mut world = self.world();
        let epoch = world.member(session).hold.epoch;
        world.expire(session, epoch);
    }

    /// Whether the servers have ended this session.
    pub fn is_over(&self, session: i64) -> bool {
        !self.world().member(session).hold.alive
    }

    /// What has been counted.
    pub fn counters(&self) -> Counters {
        let world = self.world();
        Counters { watches: world.servers.iter().map(|server| server.watches.count()).sum(), ..world.counters }
    }

    /// The paths of all znodes below `path`, as the leader has them; without the containers, which go by themselves.
    pub fn below(&self, path: &str) -> Vec<String> {
        self.world().servers[LEADER].tree.below(path)
    }
}
