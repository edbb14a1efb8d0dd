//! etcd's tokens end; sessions notice that and get another one.
use std::sync::Arc;
use std::time::Duration;

use workloads::access::{Access, Login, Secret};
use workloads::etcd::session::{Awaited, Client, Connection, Range, Session, SessionError, Txn, Untapped, Watch};

use crate::place::Place;
use crate::servers::{self, Server, etcdctl};

fn access(password: &str) -> Access {
    Access { login: Some(Arc::new(Login::new("bench", Secret::new(password)))), ..Access::default() }
}

async fn session(server: &Server, access: &Access) -> Result<Client, SessionError> {
    let connection = Connection::open(&server.endpoint(), 0, access.clone()).await?;
    Client::open(Arc::new(connection), Duration::from_secs(5), Arc::new(Untapped)).await
}

/// Creates a key; the revision that did.
async fn create(session: &Client, key: &str) -> i64 {
    session.txn(Txn::create(key, b"")).await.unwrap().revision
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_token_that_is_over_is_replaced_and_a_watch_is_set_with_the_new_one() {
    let place = Place::with_servers();
    let server = servers::etcd(&place, "etcd", None);
    for arguments in [
        &["user", "add", "root:root"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["user", "add", "bench:swordfish"],
        &["role", "add", "bench"],
        &["role", "grant-permission", "bench", "readwrite", "--prefix=true", "/bench/"],
        &["user", "grant-role", "bench", "bench"],
        &["auth", "enable"],
    ] {
        etcdctl(&server, None, arguments);
    }
    // With a changed password, though it is the same, all tokens of the user are over.
    let end_tokens = || {
        let command = ["--user=root:root", "user", "passwd", "bench", "--interactive=false"];
        let shell =
            format!("echo swordfish | ETCDCTL_API=3 etcdctl --endpoints={} {}", server.endpoint(), command.join(" "));
        let done = std::process::Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let access = access("swordfish");
    let one = session(&server, &access).await.unwrap();
    let other = session(&server, &access).await.unwrap();
    let first = create(&one, "/bench/first").await;
    // Opens the stream of watches with the first token.
    let watch = other.watch(Awaited::Deletion { key: "/bench/first", instance: first }, first + 1).await.unwrap();
    let second = create(&one, "/bench/second").await;

    end_tokens();
    assert!(other.range(Range::Key("/bench/second")).await.unwrap().first.is_some());
    end_tokens();
    // On the stream that has the old token.
    let later = other.watch(Awaited::Deletion { key: "/bench/second", instance: second }, second + 1).await.unwrap();
    for (key, instance) in [("/bench/first", first), ("/bench/second", second)] {
        one.txn(Txn::delete(key, instance)).await.unwrap();
    }
    watch.fired().await.unwrap();
    later.fired().await.unwrap();

    // What is forbidden stays so, with any token.
    let beyond = other.watch(Awaited::Deletion { key: "/elsewhere", instance: 1 }, 1).await;
    assert!(matches!(beyond, Err(SessionError::Refused(_))), "{:?}", beyond.err());
    assert!(matches!(other.range(Range::Key("/elsewhere")).await, Err(SessionError::Refused(_))));
    // The stream still serves what is allowed.
    let third = create(&one, "/bench/third").await;
    let watch = other.watch(Awaited::Deletion { key: "/bench/third", instance: third }, third + 1).await.unwrap();
    one.txn(Txn::delete("/bench/third", third)).await.unwrap();
    watch.fired().await.unwrap();

    let wrong = session(&server, &self::access("not it")).await.err().unwrap();
    assert!(wrong.to_string().contains("invalid user ID or password"), "{wrong}");
}
