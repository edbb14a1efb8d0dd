//! What is to happen in a service, in the order in which it is due.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Events by the time at which they are due; of those that are due at once, the one that was set down first comes first.
#[derive(Debug)]
pub struct Agenda<E> {
    due: BTreeMap<(Instant, u64), E>,
    numbered: u64,
    /// Told when something is due earlier than all else.
    earlier: Arc<Notify>,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Agenda { due: BTreeMap::new(), numbered: 0, earlier: Arc::default() }
    }
}

impl<E> Agenda<E> {
    /// Sets an event down.
    pub fn at(&mut self, when: Instant, event: E) {
        let is_earliest = self.due.first_key_value().is_none_or(|((first, _), _)| when < *first);
        self.numbered += 1;
        self.due.insert((when, self.numbered), event);
        if is_earliest {
            self.earlier.notify_one();
        }
    }

    /// Takes the next event off that is due by `now`.
    fn next_by(&mut self, now: Instant) -> Option<E> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// When the next one is due.
    fn next_due(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((when, _), _)| *when)
    }
}

/// A service in memory: a state, and events that change it.
pub trait World: Send + 'static {
    /// What can happen.
    type Event: Send;

    /// What is to happen.
    fn agenda(&mut self) -> &mut Agenda<Self::Event>;

    /// It happens.
    fn happen(&mut self, event: Self::Event);
}

/// Lets everything on the world's agenda happen when it is due; never returns. To be spawned on the runtime of the [run](super::run).
pub async fn drive<W: World>(world: Arc<Mutex<W>>) {
    let earlier = Arc::clone(&world.lock().unwrap_or_else(PoisonError::into_inner).agenda().earlier);
    loop {
        let next = {
            let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            while let Some(event) = world.agenda().next_by(now) {
                world.happen(event);
            }
            world.agenda().next_due()
        };
        match next {
            Some(next) => tokio::select! {
                biased;
                () = earlier.notified() => {}
                () = sleep_until(next) => {}
            },
            None => earlier.notified().await,
        }
    }
}
