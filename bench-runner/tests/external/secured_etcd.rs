//! etcd over TLS, with certificates on both sides and a user.
use bench_runner::exit;

use crate::certificates::Authority;
use crate::place::Place;
use crate::refusals::{PASSWORD, Refused, WRONG, assert_no_secret, scenario};
use crate::running::finished;
use crate::servers::{self, Security, etcdctl};
use crate::written::summary;

#[test]
fn the_right_credentials_work_and_each_wrong_one_is_told() {
    let place = Place::with_servers();
    let (authority, stranger) = (Authority::new("the authority of the test"), Authority::new("a stranger"));
    let pki = authority.equip(&place);
    std::fs::write(pki.join("stranger.pem"), stranger.pem()).unwrap();
    let security = |is_expired| Security { authority: &authority, is_expired };
    let server = servers::etcd(&place, "etcd", Some(&security(false)));
    // A user who may use what is ours and nothing else.
    for arguments in [
        &["user", "add", "root:root"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["user", "add", &format!("bench:{PASSWORD}")],
        &["role", "add", "bench"],
        &["role", "grant-permission", "bench", "readwrite", "--prefix=true", "/bench-runner/"],
        &["user", "grant-role", "bench", "bench"],
        &["auth", "enable"],
    ] {
        etcdctl(&server, Some(&pki), arguments);
    }
    let endpoint = server.tls_endpoint();
    let scenario = |endpoint: &str| scenario("etcd", endpoint);

    // The port for questions has no TLS.
    let metrics = format!("metrics = [\"{}\"]\nmetrics_tls = false\n", server.endpoint());
    place.write("theirs.toml", &(scenario(&endpoint) + &metrics));
    let run = ["run", "theirs.toml", "--allow-external", "--set", "workers.mode=drain"];
    let done = finished(place.command(&run).env("BENCH_PASSWORD", PASSWORD)).expect(exit::DONE);
    let of_run = summary(&place.only_run_of("theirs"));
    let books = &of_run.arms[0].notifications;
    assert_eq!((of_run.arms[0].grants, books.client, books.server), (5, 10, Some(10)));
    assert_no_secret(&place, &done);
    let left = etcdctl(&server, Some(&pki), &["--user=root:root", "get", "", "--prefix", "--keys-only"]);
    assert_eq!(left.trim(), "");

    let expired = servers::etcd(&place, "expired", Some(&security(true)));
    let plain = server.endpoint();
    let elsewhere = endpoint.replace("127.0.0.1", "localhost");
    let ca = |file: &str| format!("pki/{file}.pem");
    for refused in [
        Refused { password: WRONG, scenario: scenario(&endpoint), told: &["invalid user ID or password"] },
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
        Refused { password: PASSWORD, scenario: scenario(&plain), told: &[&plain, "for plain text"] },
    ] {
        refused.is_told(&place);
    }
    let no_identity = scenario(&endpoint).replace("certificate = \"pki/client.pem\", key = \"pki/client.key\"", "");
    Refused { password: PASSWORD, scenario: no_identity, told: &["the server refuses us"] }.is_told(&place);
    let no_tls = scenario(&endpoint).lines().filter(|line| !line.starts_with("tls")).collect::<Vec<_>>().join("\n");
    Refused { password: PASSWORD, scenario: no_tls, told: &["TLS"] }.is_told(&place);
}
