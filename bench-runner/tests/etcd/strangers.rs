//! `etcdctl lock` and our own in one queue: each waits for the other, in the order in which they came.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;

use bench_runner::ensemble::Ensemble;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workloads::recipe::Lock;

use super::PATIENCE;
use super::support::*;

/// `etcdctl lock`, which prints its key when it has the lock and holds it until it is interrupted.
struct Stranger {
    process: Child,
    key: mpsc::Receiver<String>,
}

impl Stranger {
    fn begin(ensemble: &Ensemble) -> Stranger {
        let mut process = etcdctl_command(ensemble)
            .args(["lock", "--ttl", "30", BASE])
            .stdout(Stdio::piped())
            .spawn()
            .expect("etcdctl is installed");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (tell, key) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
        Stranger { process, key }
    }

    fn has_the_lock(&self) -> Option<String> {
        self.key.try_recv().ok()
    }

    /// Interrupts it: it gives the lock back and ends.
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

#[tokio::test(flavor = "multi_thread")]
async fn etcdctl_stands_in_our_queue_and_we_in_its() {
    let ensemble = three_nodes().await;
    let endpoints = ensemble.connect_string();

    // Ours, then the stranger, then ours again, then another stranger.
    let (mut lock, grant) = sequential(session_at(&endpoints, 0).await).granted().await;
    let mut first = Stranger::begin(&ensemble);
    eventually("the stranger is in the queue", async || queue(&ensemble).len() == 2).await;
    let ours = sequential(session_at(&endpoints, 1).await).enqueued().await;
    let mut second = Stranger::begin(&ensemble);
    eventually("the other stranger is in the queue", async || queue(&ensemble).len() == 4).await;
    let order = queue(&ensemble);
    assert_eq!(order[0], grant.path);
    assert_eq!(order[2], format!("{BASE}/{:x}", ours.lease));
    assert!(first.has_the_lock().is_none() && second.has_the_lock().is_none() && !ours.task.is_finished());

    lock.release(grant).await.unwrap();
    let key = first.key.recv_timeout(PATIENCE).expect("the stranger gets the lock");
    assert_eq!(key, order[1]);
    assert!(second.has_the_lock().is_none() && !ours.task.is_finished());

    first.end();
    let (mut lock, grant) = ours.granted().await;
    assert_eq!(grant.path, order[2]);
    assert!(second.has_the_lock().is_none());

    lock.release(grant).await.unwrap();
    let key = second.key.recv_timeout(PATIENCE).expect("the other stranger gets the lock");
    assert_eq!(key, order[3]);
    second.end();
    eventually("the queue is empty", async || queue(&ensemble).is_empty()).await;
    ensemble.stop().await.unwrap();
}
