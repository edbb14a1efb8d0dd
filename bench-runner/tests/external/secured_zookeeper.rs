//! ZooKeeper over TLS, with certificates on both sides and a digest identity.
use std::sync::Arc;
use std::time::Duration;

use bench_runner::exit;
use workloads::access::{Access, Login, Secret};
use workloads::zookeeper::session::{AtDrop, Client, CreateMode, Session};

use crate::block_on;
use crate::certificates::Authority;
use crate::place::Place;
use crate::refusals::{PASSWORD, Refused, WRONG, assert_no_secret, scenario};
use crate::running::finished;
use crate::servers::{self, Security, Server};
use crate::written::summary;

/// A session with the digest identity alone: over TLS the client's certificate would be an identity too, and what "the
/// creator" owns would be the certificate's as well.
async fn session(server: &Server) -> Client {
    let login = Login::new("bench", Secret::new(PASSWORD));
    let access = Access { login: Some(Arc::new(login)), ..Access::default() };
    Client::open(&server.endpoint(), Duration::from_secs(5), AtDrop::Close, &access).await.unwrap()
}

#[test]
fn the_right_credentials_work_and_each_wrong_one_is_told() {
    let place = Place::with_servers();
    let (authority, stranger) = (Authority::new("the authority of the test"), Authority::new("a stranger"));
    let pki = authority.equip(&place);
    std::fs::write(pki.join("stranger.pem"), stranger.pem()).unwrap();
    let security = |is_expired| Security { authority: &authority, is_expired };
    // Of the questions, the one that is allowed by default.
    let server = servers::zookeeper(&place, "zookeeper", "srvr", Some(&security(false)));
    // What is ours to use belongs to the identity alone.
    block_on(async {
        session(&server).await.create("/bench-runner", CreateMode::Persistent, b"").await.unwrap();
    });
    let endpoint = server.tls_endpoint();
    let scenario = |endpoint: &str| scenario("zookeeper", endpoint);

    place.write("theirs.toml", &scenario(&endpoint));
    let run = ["run", "theirs.toml", "--allow-external", "--set", "workers.mode=drain"];
    let done = finished(place.command(&run).env("BENCH_PASSWORD", PASSWORD)).expect(exit::DONE);
    let of_run = summary(&place.only_run_of("theirs"));
    assert_eq!((of_run.arms[0].grants, of_run.arms[0].notifications.client), (5, 10));
    let why = of_run.arms[0].notifications.server_missing.as_ref().unwrap();
    assert!(why.contains("mntr is not allowed"), "{why}");
    assert_eq!((of_run.nodes[0].role.as_str(), of_run.ensemble.settings["TLS"].as_str()), ("standalone", "yes"));
    assert_no_secret(&place, &done);
    block_on(async {
        assert!(session(&server).await.children("/bench-runner").await.unwrap().is_empty());
    });

    let expired = servers::zookeeper(&place, "expired", "srvr", Some(&security(true)));
    let plain = server.endpoint();
    let elsewhere = endpoint.replace("127.0.0.1", "localhost");
    let ca = |file: &str| format!("pki/{file}.pem");
    for refused in [
        Refused { password: WRONG, scenario: scenario(&endpoint), told: &["not authorized", "password"] },
        Refused {
            password: PASSWORD,
            scenario: scenario(&expired.tls_endpoint()),
            told: &["CN=a machine of the test", "has expired", "2021"],
        },
        Refused {
            password: PASSWORD,
            scenario: scenario(&endpoint).replace(&ca("ca"), &ca("stranger")),
            told: &["issued by CN=the authority of the test", "unknown authority"],
        },
        Refused { password: PASSWORD, scenario: scenario(&elsewhere), told: &["for another host name", "localhost"] },
        Refused { password: PASSWORD, scenario: scenario(&plain), told: &[&plain, "port for plain text"] },
    ] {
        refused.is_told(&place);
    }
    let no_identity = scenario(&endpoint).replace("certificate = \"pki/client.pem\", key = \"pki/client.key\"", "");
    Refused { password: PASSWORD, scenario: no_identity, told: &["the server"] }.is_told(&place);
    let no_tls = scenario(&endpoint).lines().filter(|line| !line.starts_with("tls")).collect::<Vec<_>>().join("\n");
    Refused { password: PASSWORD, scenario: no_tls, told: &["is it a port for TLS?"] }.is_told(&place);
}
