//! What goes wrong in a service in memory, and when: everything follows from one seed.
//!
//! A run lives on one thread, under tokio's paused clock, which jumps to the next thing that is due whenever nobody has
//! anything to do. Nothing else decides an order: there is no other thread, no wall clock, no map whose order is random, and
//! even the UUIDs in names come from the seed. The same seed therefore gives the same run, event for event.
//!
//! | item | what it is |
//! |---|---|
//! | [`run`] | a run under the paused clock |
//! | [`Dice`] | the random choices of a run, from its seed |
//! | [`Weather`] | how rough it gets: how often what goes wrong, and until when |
//! | [`Agenda`], [`World`], [`drive`] | what happens in a service, in the order in which it is due |
//! | [`Trace`] | what happened, line by line, for whoever replays a seed |

mod agenda;
mod dice;
mod trace;
mod weather;

use std::cell::RefCell;
use std::future::Future;

pub use agenda::{Agenda, World, drive};
pub use dice::Dice;
pub use trace::Trace;
use uuid::Uuid;
pub use weather::{Fate, Weather};

thread_local! {
    /// Where the UUIDs of this thread's run come from; `None` outside of a run.
    static NAMES: RefCell<Option<Dice>> = const { RefCell::new(None) };
}

/// The next UUID of this thread's run.
pub(crate) fn uuid() -> Option<Uuid> {
    NAMES.with_borrow_mut(|names| {
        let bits = names.as_mut()?.bits();
        Some(uuid::Builder::from_random_bytes(bits.to_le_bytes()).into_uuid())
    })
}

/// Runs `what` under a paused clock on this thread, and tells its outcome. Whatever it has spawned ends with it.
///
/// # Panics
///
/// Where `what` does, and where the system refuses the little that a runtime without I/O needs.
pub fn run<F: Future>(seed: u64, what: impl FnOnce() -> F) -> F::Output {
    struct Unnamed;
    impl Drop for Unnamed {
        fn drop(&mut self) {
            NAMES.set(None);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    #[expect(clippy::expect_used, reason = "tests alone come here, and end then")]
    let runtime = runtime.expect("a runtime without I/O can be made");
    NAMES.set(Some(Dice::new(seed, "names")));
    // In this order: what ends with the runtime may still make names.
    let unnamed = Unnamed;
    let outcome = runtime.block_on(async { what().await });
    drop(runtime);
    drop(unnamed);
    outcome
}
