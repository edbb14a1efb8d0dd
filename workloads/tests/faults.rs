//! Faults that others had, where no other test cites them; and that the table of all of them is true.
#![allow(clippy::unwrap_used)] // Helpers of tests; clippy knows only the tests themselves.
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::sleep;
use workloads::chaos::{self, Trace, Weather};
use workloads::recipe::{Lock, Observer};
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
}

/// CURATOR-495: an operation that was tried again and again blocked the thread of the events, and the connection with it.
#[test]
fn an_operation_that_is_repeated_for_ever_holds_up_no_notification() {
    let granted = chaos::run(0, || async {
        let ensemble = ensemble();
        let (holder, waiter) = (ensemble.connect(), ensemble.connect());
        let mut held = SequentialLock::new(holder, BASE);
        let grant = held.acquire(&mut Notes::default()).await.unwrap();
        let busy = waiter.clone();
        let repeated = tokio::spawn(async move {
            insist(|| async {
                busy.exists("/").await?;
                Err::<(), _>(SessionError::Unknown("as the test wants it".to_owned()))
            })
            .await
        });
        let mut lock = SequentialLock::new(waiter, BASE);
        let waiting = tokio::spawn(async move { lock.acquire(&mut Notes::default()).await });
        sleep(Duration::from_secs(1)).await;
        held.release(grant).await.unwrap();
        let granted = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        assert!(!repeated.is_finished());
        granted
    });
    granted.expect("it is notified").unwrap().unwrap();
}

/// ZOOKEEPER-1049, ZOOKEEPER-1669: hundreds of sessions with watches expire at once. No session of the innocent goes with
/// them, and nobody who waits behind the dead is forgotten, or takes the lock before its turn.
#[test]
fn the_innocent_outlive_hundreds_of_sessions_that_expire_at_once() {
    const COUNT: usize = 300;
    chaos::run(0, || async {
        let ensemble = ensemble();
        let inside = Arc::new(AtomicUsize::new(0));
        let (mut tasks, mut innocent, mut dead) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..COUNT {
            let session = ensemble.connect();
            let is_innocent = number % 100 == 99;
            let (key, inside) = (session.id(), Arc::clone(&inside));
            let mut lock = SequentialLock::new(session, BASE);
            let task = tokio::spawn(async move {
                let grant = lock.acquire(&mut Notes::default()).await.unwrap();
                assert_eq!(inside.fetch_add(1, Relaxed), 0);
                sleep(Duration::from_secs(2)).await;
                inside.fetch_sub(1, Relaxed);
                lock.release(grant).await.unwrap();
                lock
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
        let mut locks = Vec::new();
        for task in tasks {
            locks.push(tokio::time::timeout(Duration::from_secs(600), task).await.expect("it is granted").unwrap());
        }
        assert!(dead.iter().all(|(key, _)| ensemble.is_over(*key)));
        assert!(innocent.iter().all(|key| !ensemble.is_over(*key)));
        assert_eq!((ensemble.below(BASE), ensemble.counters().watches), (Vec::new(), 0));
        drop(locks);
    });
}

/// Each row of the table names a test that exists and cites the fault, and a mutant that exists.
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
        for mutant in mutation.split('`').filter(|part| part.starts_with("mutant/")) {
            assert!(mutants.contains(mutant), "no mutant {mutant}");
        }
        rows += 1;
    }
    assert!(rows >= 20, "{rows} rows");
}
