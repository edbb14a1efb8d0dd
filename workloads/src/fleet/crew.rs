//! What the workers run on: tasks of the runtime, or a thread for each of them.
//!
//! Tasks are the rule: thousands of workers on one thread. A worker that is to be paused needs a thread of its own, with a
//! runtime of its own on which everything runs that belongs to it: its session's upkeep stands still when it does, as in
//! a long collection of garbage.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Stack of a worker's thread: address space, of which only what is touched is memory.
const STACK_BYTES: usize = 2 << 20;
/// How long a worker's own runtime goes on after the worker, for what was begun in the background: entries to remove, a
/// session to close.
const FAREWELL: Duration = Duration::from_millis(200);

/// All workers of a fleet at work.
pub(super) enum Crew {
    /// Each is a task.
    Tasks(JoinSet<()>),
    /// Each is a thread.
    Threads {
        /// Those that run.
        threads: Vec<JoinHandle<()>>,
        /// Tells them to end.
        leave: CancellationToken,
    },
}

impl Crew {
    /// Nobody yet.
    pub fn new(own_threads: bool) -> Self {
        match own_threads {
            false => Crew::Tasks(JoinSet::new()),
            true => Crew::Threads { threads: Vec::new(), leave: CancellationToken::new() },
        }
    }

    /// Puts one to work.
    ///
    /// # Errors
    ///
    /// Where the system refuses a thread.
    pub fn employ(&mut self, work: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        match self {
            Crew::Tasks(tasks) => {
                tasks.spawn(work);
            }
            Crew::Threads { threads, leave } => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let leave = leave.clone();
                let thread = thread::Builder::new().name("worker".to_owned()).stack_size(STACK_BYTES);
                threads.push(thread.spawn(move || {
                    runtime.block_on(async {
                        tokio::select! {
                            biased;
                            () = leave.cancelled() => {}
                            () = work => {}
                        }
                        tokio::time::sleep(FAREWELL).await;
                    });
                })?);
            }
        }
        Ok(())
    }

    /// Ends all of them, whatever they are doing, and waits for that. One that is paused ends when the pause does.
    pub async fn shutdown(&mut self) {
        match self {
            Crew::Tasks(tasks) => tasks.shutdown().await,
            Crew::Threads { threads, leave } => {
                leave.cancel();
                let threads = std::mem::take(threads);
                let joined = tokio::task::spawn_blocking(move || {
                    for thread in threads {
                        // A panic in there has been told by the thread itself.
                        let _ = thread.join();
                    }
                });
                let _ = joined.await;
            }
        }
    }
}

impl Drop for Crew {
    /// Threads do not end by themselves, as tasks in a set do.
    fn drop(&mut self) {
        if let Crew::Threads { leave, .. } = self {
            leave.cancel();
        }
    }
}
