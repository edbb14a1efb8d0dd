//! Faults that others had, where no other test cites them; and that the table of all of them is true.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.
use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use workloads::chaos::{self, Trace, Weather};
use workloads::recipe::{Grant, Lock, Loss, Observer, RecipeError};
use workloads::zookeeper::memory::{Ensemble, MemorySession, Settings};
use workloads::zookeeper::session::{Session, SessionError, insist};
use workloads::zookeeper::{NaiveElection, SequentialLock};

const BASE: &str = "/test/it";

fn ensemble() -> Ensemble {
    let weather = Weather { delay: Duration::from_millis(5), lag: Duration::from_millis(20), ..Weather::STILL };
    Ensemble::start(7, Settings::new(weather), Trace::off())
}

#[derive(Clone, Default)]
struct Notes {
    enqueued: Arc<AtomicUsize>,
    woken: Arc<AtomicUsize>,
}

impl Observer for Notes {
    fn enqueued(&mut self) {
        self.enqueued.fetch_add(1, Relaxed);
    }

    fn woken(&mut self) {
        self.woken.fetch_add(1, Relaxed);
    }
}

/// Wake-ups and notifications of `count` workers in one process, who each have the lock once; none releases before all wait.
fn drain<L: Lock + 'static>(count: usize, make: impl Fn(MemorySession) -> L) -> (usize, u64) {
    chaos::run(0, || async move {
        let (ensemble, notes) = (ensemble(), Notes::default());
        let before = ensemble.counters().notifications;
        let workers: Vec<_> = (0..count)
            .map(|_| {
                let (mut lock, mut notes) = (make(ensemble.connect()), notes.clone());
                tokio::spawn(async move {
                    let grant = lock.acquire(&mut notes).await.unwrap();
                    while notes.enqueued.load(Relaxed) < count {
                        sleep(Duration::from_millis(10)).await;
                    }
                    // Whoever is in the queue has its watch by then.
                    sleep(Duration::from_secs(1)).await;
                    lock.release(grant).await.unwrap();
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
        (notes.woken.load(Relaxed), ensemble.counters().notifications - before)
    })
}

/// curator #1231: a thousand threads on one mutex object woke each other inside of the process. Workers share nothing here:
/// those who wait are woken by the servers alone, one for each release. An election that herds is counted in the same way,
/// so that more wake-ups would be seen.
#[test]
fn nobody_in_the_process_is_woken_but_by_a_notification() {
    const COUNT: usize = 100;
    let sequential = drain(COUNT, |session| SequentialLock::new(session, BASE));
    assert_eq!(sequential, (COUNT - 1, COUNT as u64 - 1));
    let naive = drain(COUNT, |session| NaiveElection::new(session, BASE));
    let pairs = COUNT * (COUNT - 1) / 2;
    assert_eq!(naive, (pairs, pairs as u64));
    // Broken on purpose: the threads of one object wake each other, of which the servers know nothing.
    let object = Object::default();
    let herding = drain(COUNT, |session| OneOf { object: object.clone(), lock: SequentialLock::new(session, BASE) });
    assert_eq!(herding, (pairs, 0));
}

/// A mutex object that all threads of a process share: who is at the servers' lock, and who waits for that one.
#[derive(Clone, Default)]
struct Object {
    taken: Arc<AtomicBool>,
    released: Arc<Notify>,
}

/// A thread's lock by way of the object.
struct OneOf<L> {
    object: Object,
    lock: L,
}

impl<L: Lock> Lock for OneOf<L> {
    async fn acquire(&mut self, observer: &mut impl Observer) -> Result<Grant, RecipeError> {
        let mut waits = false;
        loop {
            let released = self.object.released.notified();
            if !self.object.taken.swap(true, Relaxed) {
                return self.lock.acquire(observer).await;
            }
            if !std::mem::replace(&mut waits, true) {
                observer.enqueued();
            }
            released.await;
            observer.woken();
        }
    }

    async fn release(&mut self, grant: Grant) -> Result<(), RecipeError> {
        let outcome = self.lock.release(grant).await;
        self.object.taken.store(false, Relaxed);
        self.object.released.notify_waiters();
        outcome
    }

    async fn lost(&self, grant: &Grant) -> Loss {
        self.lock.lost(grant).await
    }
}

/// Whether a waiter is granted a lock that is released while an operation of its session is tried again and again. Broken on
/// purpose (`one_thread`), the thread that tries is the one on which the waiter hears of events.
fn is_granted_beside_an_operation_without_end(one_thread: bool) -> bool {
    chaos::run(0, || async move {
        let ensemble = ensemble();
        let (holder, waiter) = (ensemble.connect(), ensemble.connect());
        let mut held = SequentialLock::new(holder, BASE);
        let grant = held.acquire(&mut Notes::default()).await.unwrap();
        let (busy, is_busy) = (waiter.clone(), Arc::new(AtomicBool::new(false)));
        let mut lock = SequentialLock::new(waiter, BASE);
        let thread = Arc::clone(&is_busy);
        let waiting = tokio::spawn(async move {
            let mut notes = Notes::default();
            let mut waiting = pin!(lock.acquire(&mut notes));
            poll_fn(|context| match one_thread && thread.load(Relaxed) {
                true => Poll::Pending,
                false => waiting.as_mut().poll(context),
            })
            .await
        });
        // It is in the queue, and has its watch.
        sleep(Duration::from_secs(1)).await;
        let repeated = tokio::spawn(async move {
            is_busy.store(true, Relaxed);
            let outcome = insist(|| async {
                busy.exists("/").await?;
                Err::<(), _>(SessionError::Unknown("as the test wants it".to_owned()))
            });
            let outcome = outcome.await;
            is_busy.store(false, Relaxed);
            outcome
        });
        sleep(Duration::from_secs(1)).await;
        held.release(grant).await.unwrap();
        let granted = timeout(Duration::from_secs(60), waiting).await;
        assert!(!repeated.is_finished());
        granted.is_ok_and(|granted| granted.unwrap().is_ok())
    })
}

/// CURATOR-495: an operation that was tried again and again blocked the thread of the events, and the connection with it.
#[test]
fn an_operation_that_is_repeated_for_ever_holds_up_no_notification() {
    assert!(is_granted_beside_an_operation_without_end(false));
    assert!(!is_granted_beside_an_operation_without_end(true));
}

/// What became of the innocent when many sessions expired at once.
#[derive(Debug, Default, PartialEq, Eq)]
struct Innocent {
    /// How many had the lock in the end.
    granted: usize,
    /// How many sessions of theirs are over.
    over: usize,
}

/// Lets hundreds of sessions with watches expire at once, beside a few that do not. Broken on purpose (`stall`), the servers
/// hear of nobody for so long meanwhile.
fn many_expire(stall: Duration) -> Innocent {
    const COUNT: usize = 300;
    chaos::run(0, || async move {
        let ensemble = ensemble();
        let inside = Arc::new(AtomicUsize::new(0));
        let (mut tasks, mut innocent, mut dead) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..COUNT {
            let session = ensemble.connect();
            let is_innocent = number % 100 == 99;
            let (key, inside) = (session.id(), Arc::clone(&inside));
            let mut lock = SequentialLock::new(session, BASE);
            let task = tokio::spawn(async move {
                let grant = lock.acquire(&mut Notes::default()).await?;
                assert_eq!(inside.fetch_add(1, Relaxed), 0);
                sleep(Duration::from_secs(2)).await;
                inside.fetch_sub(1, Relaxed);
                lock.release(grant).await?;
                Ok::<_, RecipeError>(lock)
            });
            // One after the other, so that those who are to die are before those who are not.
            sleep(Duration::from_millis(50)).await;
            if is_innocent {
                tasks.push(task);
                innocent.push(key);
            } else {
                dead.push((key, task));
            }
        }
        // The first has the lock by now, or had it: it must not seem to have it still.
        for (key, task) in &dead {
            ensemble.crash(*key);
            task.abort();
        }
        inside.store(0, Relaxed);
        innocent.iter().for_each(|key| ensemble.pause(*key, stall));
        let mut locks = Vec::new();
        for task in tasks {
            locks.extend(timeout(Duration::from_secs(600), task).await.expect("it is told something").unwrap());
        }
        assert!(dead.iter().all(|(key, _)| ensemble.is_over(*key)));
        assert_eq!((ensemble.below(BASE), ensemble.counters().watches), (Vec::new(), 0));
        let over = innocent.iter().filter(|key| ensemble.is_over(**key)).count();
        Innocent { granted: locks.len(), over }
    })
}

/// ZOOKEEPER-1049, ZOOKEEPER-1669: hundreds of sessions with watches expire at once. No session of the innocent goes with
/// them, and nobody who waits behind the dead is forgotten, or takes the lock before its turn.
#[test]
fn the_innocent_outlive_hundreds_of_sessions_that_expire_at_once() {
    assert_eq!(many_expire(Duration::ZERO), Innocent { granted: 3, over: 0 });
    // The eight seconds of ZOOKEEPER-1049.
    assert_eq!(many_expire(Duration::from_secs(8)), Innocent { granted: 0, over: 3 });
}

/// Each row of the table names a test that exists and cites the fault, and a mutant that exists or how the test breaks it.
#[test]
fn the_table_of_faults_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("docs/faults.md")).unwrap();
    let mutants = ["mutants/mod.rs", "etcd/mutants/mod.rs"]
        .map(|file| std::fs::read_to_string(root.join("workloads/tests/explore").join(file)).unwrap())
        .concat();
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [fault, test, file, mutation] = cells[..] else { panic!("four cells: {row}") };
        let source = std::fs::read_to_string(root.join(file.trim_matches('`'))).unwrap_or_else(|_| panic!("{row}"));
        let name = test.trim_matches('`');
        assert!(source.contains(&format!("fn {name}(")), "no test {name} in {file}");
        for number in fault.split([' ', ',']).filter(|word| word.contains(|char: char| char.is_ascii_digit())) {
            assert!(source.contains(number.trim_start_matches('#')), "{file} does not cite {number}");
        }
        assert!(mutation.contains("`mutant/") || mutation.starts_with("in the test: "), "not broken on purpose: {row}");
        for mutant in mutation.split('`').filter(|part| part.starts_with("mutant/")) {
            assert!(mutants.contains(mutant), "no mutant {mutant}");
        }
        rows += 1;
    }
    assert!(rows >= 20, "{rows} rows");
}
