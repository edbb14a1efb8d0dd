//! Members of a double barrier, of whichever service: how they are let in and out in a test, and what must hold meanwhile.
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use workloads::recipe::RecipeError;
use workloads::recipe::barrier::{DoubleBarrier, Entered, Seat, SingleBarrier, Witness};

use super::{PATIENCE, eventually};

/// Counts what several members tell; clones count together.
#[derive(Clone, Default)]
pub struct Told {
    armed: Arc<AtomicU64>,
    woken: Arc<AtomicU64>,
}

impl Witness for Told {
    fn armed(&mut self) {
        self.armed.fetch_add(1, SeqCst);
    }

    fn woken(&mut self) {
        self.woken.fetch_add(1, SeqCst);
    }
}

impl Told {
    /// How many have been woken.
    pub fn woken(&self) -> u64 {
        self.woken.load(SeqCst)
    }

    /// Waits until so many have been woken in all, and so many wait now.
    pub async fn settled(&self, woken: u64, waiting: u64) {
        eventually(&format!("{waiting} wait after {woken} wake-ups"), async || {
            self.woken() == woken && self.armed.load(SeqCst) == woken + waiting
        })
        .await;
    }
}

/// Looks again so much later than it is woken.
pub struct Late(pub Duration);

impl Witness for Late {
    fn armed(&mut self) {}

    fn woken(&mut self) {
        tokio::task::block_in_place(|| std::thread::sleep(self.0));
    }
}

/// Is held back by each wake-up until the test lets it look again.
pub struct Held {
    told: Told,
    go_on: mpsc::Receiver<()>,
}

impl Held {
    pub fn new(told: &Told) -> (mpsc::Sender<()>, Held) {
        let (sender, go_on) = mpsc::channel();
        (sender, Held { told: told.clone(), go_on })
    }
}

impl Witness for Held {
    fn armed(&mut self) {
        self.told.armed();
    }

    fn woken(&mut self) {
        self.told.woken.fetch_add(1, SeqCst);
        // An error means that the test is over.
        let _ = tokio::task::block_in_place(|| self.go_on.recv());
    }
}

/// A member whose verb runs in a task of its own, and is dropped with it.
pub struct Underway<B, T> {
    task: JoinHandle<(B, Result<T, RecipeError>)>,
}

impl<B, T> Underway<B, T> {
    fn spawn(task: impl Future<Output = (B, Result<T, RecipeError>)> + Send + 'static) -> Self
    where
        B: Send + 'static,
        T: Send + 'static,
    {
        Underway { task: tokio::spawn(task) }
    }

    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// The member and what became of it, which must not take for ever.
    pub async fn outcome(mut self) -> (B, Result<T, RecipeError>) {
        tokio::time::timeout(PATIENCE, &mut self.task).await.expect("it comes to an end").unwrap()
    }

    /// The member, once it went well.
    pub async fn done(self) -> B {
        let (member, outcome) = self.outcome().await;
        assert!(outcome.is_ok(), "{:?}", outcome.err());
        member
    }
}

impl<B, T> Drop for Underway<B, T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn entering<B: DoubleBarrier + 'static>(member: B, told: &Told) -> Underway<B, Entered> {
    entering_as(member, told.clone())
}

pub fn entering_as<B: DoubleBarrier + 'static>(
    mut member: B,
    mut witness: impl Witness + 'static,
) -> Underway<B, Entered> {
    Underway::spawn(async move {
        let outcome = member.enter(&mut witness).await;
        (member, outcome)
    })
}

pub fn leaving<B: DoubleBarrier + 'static>(mut member: B, told: &Told) -> Underway<B, ()> {
    let mut told = told.clone();
    Underway::spawn(async move {
        let outcome = member.leave(&mut told).await;
        (member, outcome)
    })
}

pub fn waiting<B: SingleBarrier + 'static>(barrier: B, told: &Told) -> Underway<B, ()> {
    waiting_as(barrier, told.clone())
}

pub fn waiting_as<B: SingleBarrier + 'static>(mut barrier: B, mut witness: impl Witness + 'static) -> Underway<B, ()> {
    Underway::spawn(async move {
        let outcome = barrier.wait(&mut witness).await;
        (barrier, outcome)
    })
}

/// Polls a verb until it tells that it waits, and drops it, as a time-out does. Between two looks it may have been woken and wait
/// for the next one, so that it has told so more than once.
pub async fn cut_off<T>(verb: impl Future<Output = T>, told: &Told) {
    let waits = told.armed.load(SeqCst) + 1;
    tokio::select! {
        biased;
        _ = verb => panic!("it was to wait"),
        () = eventually("it waits", async || told.armed.load(SeqCst) >= waits) => {}
    }
}

/// How many wake-ups there have been when so many members have come and wait.
pub type WakeUps = fn(u64) -> u64;

/// With a herd: each that comes wakes all who wait.
pub fn herd(come: u64) -> u64 {
    come * (come - 1) / 2
}

/// Without: nobody is woken before the last one has come.
pub fn none(_: u64) -> u64 {
    0
}

/// Lets all members in, each when all who came before wait.
pub async fn enter_settled<B: DoubleBarrier + 'static>(members: Vec<B>, woken: WakeUps) -> Vec<(B, Seat)> {
    let told = Told::default();
    let quantity = members.len() as u64;
    let mut underway = Vec::new();
    for (come, member) in (1..).zip(members) {
        underway.push(entering(member, &told));
        if come < quantity {
            told.settled(woken(come), come).await;
            assert!(underway.iter().all(|member| !member.is_over()), "somebody is in, with {come} of {quantity}");
        }
    }
    let mut inside = Vec::new();
    for member in underway {
        match member.outcome().await {
            (member, Ok(Entered::Inside(seat))) => inside.push((member, seat)),
            (_, outcome) => panic!("{outcome:?}"),
        }
    }
    inside
}

/// Lets all members out, each when all who went before wait; the lowest goes last.
pub async fn leave_settled<B: DoubleBarrier + 'static>(mut inside: Vec<(B, Seat)>, woken: WakeUps) -> Vec<B> {
    let told = Told::default();
    let quantity = inside.len() as u64;
    inside.sort_by_key(|(_, seat)| std::cmp::Reverse(seat.rank));
    let mut underway = Vec::new();
    for (gone, (member, _)) in (1..).zip(inside) {
        underway.push(leaving(member, &told));
        if gone < quantity {
            told.settled(woken(gone), gone).await;
            assert!(underway.iter().all(|member| !member.is_over()), "somebody is out, with {gone} of {quantity}");
        }
    }
    let mut out = Vec::new();
    for member in underway {
        out.push(member.done().await);
    }
    out
}

/// Lets the members in and out so often, the first of them looking late after each wake-up: nobody sticks, nobody passes
/// before all have come, nobody leaves before all have finished.
pub async fn rounds_with_a_late_waker<B: DoubleBarrier + 'static>(members: Vec<B>, rounds: usize) {
    let quantity = members.len();
    let counts = || -> Arc<[AtomicUsize]> { (0..rounds).map(|_| AtomicUsize::new(0)).collect() };
    let (come, finished) = (counts(), counts());
    let mut underway = JoinSet::new();
    for (number, mut member) in members.into_iter().enumerate() {
        let (come, finished) = (Arc::clone(&come), Arc::clone(&finished));
        underway.spawn(async move {
            let mut witness = Late(Duration::from_millis(if number == 0 { 300 } else { 0 }));
            for round in 0..rounds {
                come[round].fetch_add(1, SeqCst);
                let entered = member.enter(&mut witness).await.unwrap();
                assert!(matches!(entered, Entered::Inside(_)), "{entered:?}");
                assert_eq!(come[round].load(SeqCst), quantity, "member {number} is in early, in round {round}");
                finished[round].fetch_add(1, SeqCst);
                member.leave(&mut witness).await.unwrap();
                assert_eq!(finished[round].load(SeqCst), quantity, "member {number} is out early, in round {round}");
            }
        });
    }
    let all = async {
        while let Some(member) = underway.join_next().await {
            member.unwrap();
        }
    };
    // Each round takes 600 ms at the least.
    let patience = PATIENCE + Duration::from_secs(2) * u32::try_from(rounds).unwrap();
    tokio::time::timeout(patience, all).await.expect("nobody sticks");
}
