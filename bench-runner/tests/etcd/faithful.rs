//! The ensemble in memory answers and notifies as three real nodes do: the same random operations of several sessions are
//! carried out on both, one after the other, and what was answered and told is compared, operation by operation.
//!
//! Revisions are compared by how far they are from where the sequence began, and leases by whose they are.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bench_runner::ensemble::Ensemble;
use tokio::time::timeout;
use workloads::chaos::{self, Dice, Trace, Weather};
use workloads::etcd::memory;
use workloads::etcd::session::line::Carrier;
use workloads::etcd::session::{
    Awaited, Client, Connection, Key, Range, Session, SessionError, Then, Txn, TxnOutcome, Untapped, Watch,
};

use super::PATIENCE;
use super::support::*;

/// So long that no lease is renewed while a sequence runs: a session learns of its lease's end by what it asks alone.
const LONG: Duration = Duration::from_secs(600);
/// How many sessions take part.
const SESSIONS: usize = 3;
/// Below this are all keys.
const ROOT: &str = "/tests/faithful/";
/// Nobody else watches this one.
const BESIDE: &str = "/tests/beside";

/// One of a few keys, some of which begin with another.
fn key(dice: &mut Dice) -> &'static str {
    const KEYS: [&str; 5] = [
        "/tests/faithful/a",
        "/tests/faithful/a/b",
        "/tests/faithful/a/bc",
        "/tests/faithful/d/e",
        "/tests/faithful/d/f",
    ];
    KEYS[dice.below(KEYS.len())]
}

fn prefix(dice: &mut Dice) -> &'static str {
    const PREFIXES: [&str; 5] =
        ["/tests/faithful/", "/tests/faithful/a", "/tests/faithful/a/", "/tests/faithful/a/b", "/tests/faithful/d/"];
    PREFIXES[dice.below(PREFIXES.len())]
}

/// What the two have each in their own way.
trait Stage: Sized {
    type Way: Carrier;

    async fn open(&self, place: usize) -> Client<Self::Way>;
    async fn revoke(&self, lease: i64);
    /// Has the servers forget the history before this revision.
    async fn compact(&self, revision: i64);
    /// Which of these watches have fired, or failed: all that will without a further operation. `expected` are those that
    /// fired in memory.
    async fn fired(&self, watches: &mut BTreeMap<usize, Fires>, expected: Option<&[Firing]>) -> Vec<Firing>;
}

type Fires = Pin<Box<dyn Future<Output = Result<i64, SessionError>> + Send>>;

/// A watch, by its number, that fired, and with what.
type Firing = (usize, Result<i64, SessionError>);

impl Stage for memory::Ensemble {
    type Way = memory::Way;

    async fn open(&self, _: usize) -> Client<memory::Way> {
        self.connect().await.unwrap()
    }

    async fn revoke(&self, lease: i64) {
        self.expire(lease);
    }

    async fn compact(&self, revision: i64) {
        memory::Ensemble::compact(self, revision);
    }

    async fn fired(&self, watches: &mut BTreeMap<usize, Fires>, _: Option<&[Firing]>) -> Vec<Firing> {
        // By its own clock: everything that is under way arrives.
        tokio::time::sleep(Duration::from_secs(1)).await;
        ready(watches)
    }
}

impl Stage for Ensemble {
    type Way = Connection;

    async fn open(&self, place: usize) -> Client {
        let connection = Connection::new(&self.connect_string(), place).await.unwrap();
        Client::open(Arc::new(connection), LONG, Arc::new(Untapped)).await.unwrap()
    }

    async fn revoke(&self, lease: i64) {
        // One that is over already, and does not know, is over.
        let hexadecimal = format!("{lease:x}");
        let _ = etcdctl_command(self).args(["lease", "revoke", &hexadecimal]).output().unwrap();
    }

    async fn compact(&self, revision: i64) {
        // Where it was compacted to a later revision already that is an error, and changes nothing.
        let _ = etcdctl_command(self).args(["compact", "--physical", &revision.to_string()]).output().unwrap();
    }

    async fn fired(&self, watches: &mut BTreeMap<usize, Fires>, expected: Option<&[Firing]>) -> Vec<Firing> {
        let mut fired = Vec::new();
        for (number, _) in expected.into_iter().flatten() {
            let Some(watch) = watches.remove(number) else { continue };
            match timeout(PATIENCE, watch).await {
                Ok(outcome) => fired.push((*number, outcome)),
                Err(_) => panic!("watch {number} fires in memory and not here"),
            }
        }
        fired
    }
}

/// The watches that have fired by now.
fn ready(watches: &mut BTreeMap<usize, Fires>) -> Vec<Firing> {
    let mut fired = Vec::new();
    for (number, watch) in watches.iter_mut() {
        if let Poll::Ready(outcome) = poll_once(Pin::new(watch)) {
            fired.push((*number, outcome));
        }
    }
    fired.iter().for_each(|(number, _)| drop(watches.remove(number)));
    fired
}

/// What came of one operation: what was asked, what was answered, and which watches fired.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    asked: String,
    answered: String,
    fired: Vec<Firing>,
}

/// A sequence as it is carried out on a stage.
struct Play<'a, S: Stage> {
    stage: &'a S,
    sessions: Vec<Client<S::Way>>,
    /// Whose lease each is: the session's place, and how many it had before.
    leases: BTreeMap<i64, String>,
    watches: BTreeMap<usize, Fires>,
    set: usize,
    base: i64,
    /// The latest revision that an answer told of.
    latest: i64,
    /// Up to where the history was compacted, or the beginning.
    compacted: i64,
}

impl<S: Stage> Play<'_, S> {
    async fn replace(&mut self, place: usize) {
        let session = self.stage.open(place).await;
        let number = self.leases.len();
        self.leases.insert(session.lease(), format!("lease {number}"));
        match self.sessions.get_mut(place) {
            Some(old) => *old = session,
            None => self.sessions.push(session),
        }
    }

    fn relative(&self, revision: i64) -> i64 {
        if revision == 0 { 0 } else { revision - self.base }
    }

    fn key(&self, key: Option<Key>) -> String {
        key.map_or("none".to_owned(), |key| {
            let lease = self.leases.get(&key.lease).map_or("no lease", String::as_str);
            let [created, put] = [key.create_revision, key.mod_revision].map(|revision| self.relative(revision));
            format!("{} {created} {put} {lease} {:?}", key.key, String::from_utf8_lossy(&key.value))
        })
    }

    fn txn(&mut self, outcome: Result<TxnOutcome, SessionError>) -> String {
        match outcome {
            Ok(TxnOutcome { succeeded, revision, found }) => {
                self.latest = self.latest.max(revision);
                format!("{succeeded} at {}, {}", self.relative(revision), self.key(found))
            }
            Err(error) => told(error),
        }
    }

    async fn range(&mut self, place: usize, range: Range<'_>) -> (String, i64) {
        match self.sessions[place].range(range).await {
            Ok(found) => {
                self.latest = self.latest.max(found.revision);
                let created = found.first.as_ref().map_or(0, |key| key.create_revision);
                let at = self.relative(found.revision);
                (format!("{} of {} at {at}", self.key(found.first), found.count), created)
            }
            Err(error) => (told(error), 0),
        }
    }

    /// A revision of the sequence, now and then one that is to come, often just where the history begins; seldom 0, where that
    /// means any.
    fn revision(&self, dice: &mut Dice, or_any: bool) -> i64 {
        if or_any && dice.below(3) == 0 {
            return 0;
        }
        if dice.below(4) == 0 {
            return self.compacted;
        }
        self.base + dice.between(0, (self.latest - self.base).unsigned_abs() + 2) as i64
    }

    /// Waits until the servers have gone through the history for all watches that stand: one that begins in the past and has
    /// not fired yet would fail with a compaction that comes before. A server does that for all of them together, and so also
    /// for a watch that begins in the past and has something to tell.
    async fn settled(&mut self) -> String {
        let mut seen = Vec::new();
        for place in 0..SESSIONS {
            let probe = async {
                let session = &self.sessions[place];
                session.put(BESIDE, b"settled").await?;
                let from = session.range(Range::Key(BESIDE)).await?.revision;
                Ok::<_, SessionError>((
                    from,
                    session.watch(Awaited::Put { prefix: BESIDE }, from).await?.fired().await?,
                ))
            };
            seen.push(match probe.await {
                Ok((from, fired)) => {
                    self.latest = self.latest.max(from);
                    format!("{} {}", self.relative(from), self.relative(fired))
                }
                Err(error) => told(error),
            });
        }
        seen.join(", ")
    }

    /// Carries one operation out that the dice choose.
    async fn step(&mut self, dice: &mut Dice) -> (String, String) {
        let place = dice.below(SESSIONS);
        let name = key(dice);
        match dice.below(13) {
            0 | 1 => {
                let value = format!("value {}", dice.below(100));
                let outcome = self.sessions[place].txn(Txn::create(name, value.as_bytes())).await;
                (format!("{place} creates {name}"), self.txn(outcome))
            }
            // Guarded by the revision that the key has, or by another one.
            kind @ 2..=5 => {
                let (found, created) = self.range(place, Range::Key(name)).await;
                let (choice, guards) = (dice.below(5), [created, created, created, created + 1, 0]);
                let guard = guards[choice];
                let lasting = key(dice);
                let txn = match kind {
                    2 => Txn::update(name, guard, b"another"),
                    3 => Txn::put_while(name, guard, lasting),
                    _ => Txn::delete(name, guard),
                };
                let asked = match txn.then {
                    Then::Put(_) => format!("{place} updates {name}"),
                    Then::PutLasting(lasting) => format!("{place} puts {lasting} while {name} stands"),
                    Then::Delete => format!("{place} deletes {name}"),
                };
                let outcome = self.sessions[place].txn(txn).await;
                (asked, format!("{found}; guard {choice}: {}", self.txn(outcome)))
            }
            6 | 7 => {
                let prefix = prefix(dice);
                let range = match dice.below(4) {
                    0 => Range::Key(name),
                    1 => Range::NewestBelow { prefix, own: self.revision(dice, false) },
                    2 => Range::Oldest { prefix, at: self.revision(dice, true) },
                    _ => Range::Count { prefix, at: self.revision(dice, true) },
                };
                // Without the revisions, which differ.
                let asked = format!("{place} reads {range:?}").split("own:").next().unwrap().to_owned();
                let asked = asked.split("at:").next().unwrap().to_owned();
                (asked, self.range(place, range).await.0)
            }
            8 | 9 => {
                let from = self.revision(dice, false);
                let prefix = prefix(dice);
                let awaited = match dice.below(4) {
                    0 => Awaited::Deletion { key: name, instance: 1 },
                    1 => Awaited::Change { key: name, instance: 1 },
                    2 => Awaited::Put { prefix },
                    _ => Awaited::AnyDeletion { prefix },
                };
                let answered = match self.sessions[place].watch(awaited, from).await {
                    Ok(watch) => {
                        self.watches.insert(self.set, Box::pin(watch.fired()));
                        "it stands".to_owned()
                    }
                    Err(error) => told(error),
                };
                self.set += 1;
                (format!("{place} watches {awaited:?} from {}", self.relative(from)), answered)
            }
            10 => match dice.below(4) {
                0 => {
                    let outcome = self.sessions[place].delete_all(prefix(dice)).await;
                    (format!("{place} deletes several"), format!("{:?}", outcome.map_err(told)))
                }
                _ => {
                    let outcome = self.sessions[place].put(name, b"put").await;
                    (format!("{place} puts {name}"), format!("{:?}", outcome.map_err(told)))
                }
            },
            11 => {
                let revision = self.base + dice.between(0, (self.latest - self.base).unsigned_abs()) as i64;
                let seen = self.settled().await;
                self.stage.compact(revision).await;
                self.compacted = self.compacted.max(revision);
                // Each server has carried it out.
                for place in 0..SESSIONS {
                    drop(self.range(place, Range::Key(BESIDE)).await);
                }
                (format!("the history before {} is compacted away", self.relative(revision)), seen)
            }
            _ => {
                let lease = self.sessions[place].lease();
                if self.sessions[place].check().is_ok() && dice.below(3) == 0 {
                    self.stage.revoke(lease).await;
                    return (format!("the lease of {place} ends"), String::new());
                }
                // One that knows its loss comes back.
                if self.sessions[place].check().is_err() {
                    self.replace(place).await;
                    return (format!("{place} comes back"), String::new());
                }
                let all = self.range(place, Range::Oldest { prefix: ROOT, at: 0 }).await;
                (format!("{place} looks at all"), all.0)
            }
        }
    }
}

/// An error, without what differs.
fn told(error: SessionError) -> String {
    match error {
        SessionError::Lost(_) => "lost".to_owned(),
        SessionError::Unknown(_) => "unknown".to_owned(),
        SessionError::Refused(why) => format!("refused: {why}"),
    }
}

/// Carries the sequence of a seed out.
async fn play<S: Stage>(stage: &S, seed: u64, expected: Option<&[Step]>) -> Vec<Step> {
    let (sessions, leases, watches) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut play = Play { stage, sessions, leases, watches, set: 0, base: 0, latest: 0, compacted: 0 };
    for place in 0..SESSIONS {
        play.replace(place).await;
    }
    // Not at the very first revision, below which a limit would be none.
    play.sessions[0].put(&format!("{ROOT}a"), b"before").await.unwrap();
    play.sessions[0].delete_all(ROOT).await.unwrap();
    // A sequence may look at where it begins: not at the deletion of what an earlier one has left.
    play.sessions[0].put(BESIDE, b"begin").await.unwrap();
    play.base = play.sessions[0].range(Range::Key(ROOT)).await.unwrap().revision;
    (play.latest, play.compacted) = (play.base, play.base);
    let mut dice = Dice::new(seed, "faithful");
    let mut steps = Vec::new();
    for number in 0..STEPS {
        let (asked, answered) = play.step(&mut dice).await;
        let fired = stage.fired(&mut play.watches, expected.map(|steps| &*steps[number].fired)).await;
        let base = play.base;
        let normal = |(number, outcome): Firing| {
            let plain = |_| SessionError::Lost("without what differs".to_owned());
            (
                number,
                outcome.map(|revision| revision - base).map_err(|error| match error {
                    SessionError::Lost(_) => plain(()),
                    SessionError::Unknown(_) => SessionError::Unknown(String::new()),
                    refused @ SessionError::Refused(_) => refused,
                }),
            )
        };
        let fired = fired.into_iter().map(normal).collect();
        steps.push(Step { asked, answered, fired });
    }
    // None has fired that did not in memory.
    let left = ready(&mut play.watches);
    assert_eq!(left, [], "seed {seed}: these fire here alone");
    steps
}

/// How many operations a sequence has.
const STEPS: usize = 60;
/// How many sequences there are.
const SEEDS: u64 = 16;

#[tokio::test(flavor = "multi_thread")]
async fn the_ensemble_in_memory_answers_and_notifies_as_three_real_nodes_do() {
    let ensemble = three_nodes().await;
    let (mut fired, mut lost, mut compacted, mut unwatchable) = (0, 0, 0, 0);
    for seed in 0..SEEDS {
        let in_memory = move || {
            chaos::run(seed, || async move {
                let settings = memory::Settings { ttl: LONG, ..memory::Settings::new(Weather::STILL) };
                play(&memory::Ensemble::start(seed, settings, Trace::off()), seed, None).await
            })
        };
        let expected = tokio::task::spawn_blocking(in_memory).await.unwrap();
        let real = play(&ensemble, seed, Some(&expected)).await;
        for (number, (real, expected)) in real.iter().zip(&expected).enumerate() {
            assert_eq!(real, expected, "seed {seed}, operation {number}");
        }
        fired += expected.iter().map(|step| step.fired.len()).sum::<usize>();
        let refused = |step: &&Step| step.answered.contains("has been compacted");
        let over = |step: &Step| {
            step.fired.iter().filter(|(_, outcome)| matches!(outcome, Err(SessionError::Unknown(_)))).count()
        };
        compacted += expected.iter().filter(refused).count();
        unwatchable += expected.iter().map(over).sum::<usize>();
        lost += expected.iter().filter(|step| step.answered.contains("lost")).count();
    }
    // The sequences have shown something.
    let shown = [fired, lost, compacted, unwatchable];
    assert!(fired > 20 && lost > 5 && compacted > 2 && unwatchable > 5, "{shown:?}");
    ensemble.stop().await.unwrap();
}
