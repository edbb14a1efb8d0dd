//! `etcdctl lock` and `etcdctl elect` in one queue with ours: each waits for the other, in the order in which they came.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;

use bench_runner::ensemble::Ensemble;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::timeout;
use workloads::etcd::Election;
use workloads::recipe::Lock;
use workloads::settings::Recipe;

use super::PATIENCE;
use super::support::*;

/// `etcdctl lock` or `etcdctl elect`, which prints its key when it has the lock or leads, and holds until it is interrupted.
struct Stranger {
    process: Child,
    lines: mpsc::Receiver<String>,
}

impl Stranger {
    fn begin(ensemble: &Ensemble, arguments: &[&str]) -> Stranger {
        let mut process =
            etcdctl_command(ensemble).args(arguments).stdout(Stdio::piped()).spawn().expect("etcdctl is installed");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        Stranger { process, lines: told }
    }

    /// What it prints next, if it has printed it by now.
    fn has_printed(&self) -> Option<String> {
        self.lines.try_recv().ok()
    }

    /// What it prints next.
    fn prints(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the stranger prints something")
    }

    /// Interrupts it: it gives back what it holds and ends.
    fn end(&mut self) {
        kill(Pid::from_raw(self.process.id().cast_signed()), Signal::SIGINT).unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ours, then a stranger, then ours again, then another stranger.
async fn each_waits_for_the_other(recipe: Recipe, stranger: &[&str]) {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();

    let (mut holder, grant) = contending(recipe, session_at(&endpoints, 0).await).granted().await;
    let mut first = Stranger::begin(&ensemble, stranger);
    eventually("the stranger is in the queue", async || queue(&ensemble).len() == 2).await;
    let ours = contending(recipe, session_at(&endpoints, 1).await).enqueued().await;
    let mut second = Stranger::begin(&ensemble, stranger);
    eventually("the other stranger is in the queue", async || queue(&ensemble).len() == 4).await;
    let order = queue(&ensemble);
    assert_eq!(order[0], grant.path);
    assert_eq!(order[2], format!("{BASE}/{:x}", ours.lease));
    assert!(first.has_printed().is_none() && second.has_printed().is_none() && !ours.task.is_finished());

    holder.release(grant).await.unwrap();
    assert_eq!(first.prints(), order[1]);
    assert!(second.has_printed().is_none() && !ours.task.is_finished());

    first.end();
    let (mut holder, grant) = ours.granted().await;
    assert_eq!(grant.path, order[2]);
    assert!(second.has_printed().is_none());

    holder.release(grant).await.unwrap();
    assert_eq!(second.prints(), order[3]);
    second.end();
    eventually("the queue is empty", async || queue(&ensemble).is_empty()).await;
    ensemble.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn etcdctl_lock_stands_in_our_queue_and_we_in_its() {
    each_waits_for_the_other(Recipe::SequentialLock, &["lock", "--ttl", "30", BASE]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn etcdctl_elect_campaigns_against_us_and_we_against_it() {
    each_waits_for_the_other(Recipe::LeaderLatch, &["elect", BASE, "a stranger"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn etcdctl_hears_of_our_leader_and_we_of_its() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();
    let mut election = Election::new(session_at(&endpoints, 0).await, BASE);
    let mut observation = election.observe();
    assert_eq!(observation.next().await.unwrap(), None);

    let leadership = election.campaign(b"ours", &mut Seen::default()).await.unwrap();
    let mut listener = Stranger::begin(&ensemble, &["elect", "--listen", BASE]);
    assert_eq!((listener.prints(), listener.prints()), (leadership.path.clone(), "ours".to_owned()));
    election.proclaim(&leadership, b"ours, still").await.unwrap();
    assert_eq!((listener.prints(), listener.prints()), (leadership.path.clone(), "ours, still".to_owned()));
    election.resign(leadership).await.unwrap();

    let mut stranger = Stranger::begin(&ensemble, &["elect", BASE, "a stranger"]);
    assert_eq!((listener.prints(), listener.prints()), (stranger.prints(), "a stranger".to_owned()));
    let mut told = Vec::new();
    for _ in 0..4 {
        let leader = timeout(PATIENCE, observation.next()).await.unwrap().unwrap();
        told.push(leader.map_or("nobody".to_owned(), |leader| String::from_utf8(leader.value).unwrap()));
    }
    assert_eq!(told, ["ours", "ours, still", "nobody", "a stranger"]);
    stranger.end();
    assert_eq!(timeout(PATIENCE, observation.next()).await.unwrap().unwrap(), None);
    listener.end();
    ensemble.stop().await.unwrap();
}
