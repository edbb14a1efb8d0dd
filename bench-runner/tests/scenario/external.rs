//! `provider = "external"`: what does not go with servers of others, as its author sees it.

use super::errors::complaints;
use super::valid;

/// A scenario around some lines of `[ensemble]`, and more below.
fn scenario(ensemble: &str, more: &str) -> String {
    let arm = "[[arm]]\nrecipe = \"lock/sequential\"\nworkers = { count = 50 }\n";
    format!(
        "version = 1\ntrials = {{ duration = \"30s\" }}\n[ensemble]\nprovider = \"external\"\n{ensemble}\n{arm}\n{more}\n"
    )
}

const FIVE: &str = "zookeeper = { endpoints = [\"a:1\", \"b:1\", \"c:1\", \"d:1\", \"e:1\"] }";

#[test]
fn external_nodes_are_as_many_as_there_are_endpoints() {
    assert_eq!(valid(&scenario(FIVE, ""), &[]).ensemble.nodes, 5);
    assert_eq!(valid(&scenario(&format!("nodes = 5\n{FIVE}"), ""), &[]).ensemble.nodes, 5);
}

#[test]
fn what_does_not_go_with_external_servers() {
    let tls = |service: &str| format!("{service} = {{ endpoints = [\"a:1\"], tls = {{ ca = \"ca.pem\" }} }}");
    let cut = "[[fault]]\nkind = \"cut\"\ntarget = \"holder\"\nat = \"5s\"\nfor = \"2s\"";
    let shown = complaints(&[
        scenario(&format!("nodes = 7\n{FIVE}"), ""),
        scenario(&format!("nodes = 7\n{FIVE}\netcd = {{ endpoints = [\"a:1\"] }}"), ""),
        scenario(&tls("zookeeper"), cut),
        scenario(FIVE, "[sweep]\nnodes = [3, 5]"),
        scenario(FIVE, "[slo]\nlimits = [\"nodes_cpu_percent < 150\"]"),
        scenario(FIVE, "[gate]\nslo = [\"acquire_ms.p99 < 500\", \"nodes_cpu_percent < 150\"]"),
    ]);
    insta::assert_snapshot!(shown);
}
