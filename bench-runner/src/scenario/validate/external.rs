//! Servers that are not bench-runner's own, and the ceilings that keep them from harm.

use std::time::Duration;

use workloads::settings::Service;

use super::super::duration::Span;
use super::super::ensemble::{EnsembleFile, EtcdFile, ZookeeperFile};
use super::super::external::file::{AuthFile, ServersFile, TlsFile};
use super::super::fault::{FaultKind, NodeFault, WorkerFault};
use super::super::file::ScenarioFile;
use super::super::gate::Metric;
use super::super::grid;
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::super::resolve::max_workers;
use super::super::settings::Provider;

/// The longest that a command may take.
const LONGEST_COMMAND: Duration = Duration::from_secs(600);

/// Judges what `[ensemble]` says about external servers, and the ceilings.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    let (ensemble, path) = (&file.ensemble, KeyPath::from("ensemble"));
    ceilings(file, &path, problems);
    match ensemble.provider {
        Provider::Local | Provider::Docker => local(ensemble, &path, problems),
        Provider::External => external(file, &path, problems),
    }
}

/// The servers of each service, with the name of its table.
fn tables(ensemble: &EnsembleFile) -> [(Service, ServersFile<'_>); 2] {
    [(Service::Zookeeper, ensemble.zookeeper.servers()), (Service::Etcd, ensemble.etcd.servers())]
}

fn ceilings(file: &ScenarioFile, path: &KeyPath, problems: &mut Problems) {
    if let Some(rate) = file.ensemble.max_rate {
        super::rate(&path.key("max_rate"), rate, 1e9, "leave it out for the default", problems);
    }
    let at = path.key("max_workers");
    if let Some(0) = file.ensemble.max_workers {
        let problem =
            Problem::value(&at, "`max_workers` is zero: nobody could work").remedy("leave it out for the default");
        problems.spoil(&at, problem);
    }
    let Some(most) = max_workers(&file.ensemble) else { return };
    for arm in grid::arms(file) {
        let Some(count) = arm.workers.over(&file.workers).count.filter(|count| *count > most) else { continue };
        let (by, message) = match file.ensemble.max_workers {
            Some(_) => (at.clone(), format!("{count} workers are above the ceiling of {most}")),
            None => {
                let message =
                    format!("{count} workers are above the ceiling of {most}, which external servers have by default");
                (path.key("provider"), message)
            }
        };
        let problem = Problem::value(&by, message).remedy(format!(
            "use fewer workers, or set `max_workers = {count}` under [ensemble] where the servers are known to bear it"
        ));
        problems.add(&[&by], problem);
        return;
    }
}

/// Local servers have none of this.
fn local(ensemble: &EnsembleFile, path: &KeyPath, problems: &mut Problems) {
    let mut refuse = |at: KeyPath, what: &str| {
        let problem =
            Problem::value(&at, format!("`{}` is for servers that bench-runner does not start {what}", at.last_key()))
                .remedy("set `provider = \"external\"` under [ensemble], or take it out");
        problems.spoil(&at, problem);
    };
    for (service, servers) in tables(ensemble) {
        let path = path.key(&service.to_string());
        for (key, given) in [
            ("endpoints", !servers.endpoints.is_empty()),
            ("metrics", !servers.metrics.is_empty()),
            ("metrics_tls", servers.metrics_tls.is_some()),
            ("tls", servers.tls.is_some()),
            ("auth", servers.auth.is_some()),
        ] {
            if given {
                refuse(path.key(key), "itself");
            }
        }
    }
    if ensemble.commands != Default::default() {
        refuse(path.key("commands"), "itself; it breaks and mends its own without them");
    }
}

fn external(file: &ScenarioFile, path: &KeyPath, problems: &mut Problems) {
    let ensemble = &file.ensemble;
    let mut used: Vec<Service> = file.arm.iter().map(|arm| arm.service.unwrap_or(file.service)).collect();
    used.sort();
    used.dedup();
    for (service, servers) in tables(ensemble) {
        let table = path.key(&service.to_string());
        if servers.endpoints.is_empty() && used.contains(&service) {
            let at = path.key("provider");
            let problem = Problem::value(&at, format!("nobody says where the external servers of {service} are"))
                .remedy(format!("write `endpoints = [\"host:port\", …]` under [ensemble.{service}]"));
            problems.add(&[&at, &table], problem);
        }
        endpoints(servers, &table, problems);
        if let Some(tls) = servers.tls {
            encryption(tls, &table.key("tls"), problems);
        } else if servers.metrics_tls == Some(true) {
            let at = table.key("metrics_tls");
            let problem = Problem::value(&at, "questions over TLS need to know whom to trust");
            problems.spoil(&at, problem.remedy(format!("write `ca` under [ensemble.{service}.tls]")));
        }
        if let Some(auth) = servers.auth {
            login(auth, service, &table.key("auth"), problems);
        }
    }
    not_theirs(ensemble, path, problems);
    limits(file, problems);
    commands(file, &path.key("commands"), problems);
    cuts(file, &used, problems);
}

fn endpoints(servers: ServersFile<'_>, table: &KeyPath, problems: &mut Problems) {
    for (key, list) in [("endpoints", servers.endpoints), ("metrics", servers.metrics)] {
        let at = table.key(key);
        for (index, server) in list.iter().enumerate() {
            let at = at.index(index);
            if !is_address(server) {
                let problem = Problem::value(&at, format!("`{server}` is no address of a server")).remedy(
                    "write `host:port`, for example \"zookeeper-1.example.org:2181\", without a scheme or a path",
                );
                problems.spoil(&at, problem);
            } else if key == "endpoints" && list[..index].contains(server) {
                problems.spoil(
                    &at,
                    Problem::value(&at, format!("`{server}` is there twice")).remedy("write each server once"),
                );
            }
        }
    }
    if !servers.metrics.is_empty() && servers.metrics.len() != servers.endpoints.len() {
        let at = table.key("metrics");
        let (has, wants) = (servers.metrics.len(), servers.endpoints.len());
        let problem = Problem::value(&at, format!("`metrics` has {has} addresses, and `endpoints` has {wants}"))
            .remedy("write one for each server, in the same order, or leave it out");
        problems.add(&[&at, &table.key("endpoints")], problem);
    }
}

/// `host:port`, where the host is a name or a number and nothing else.
fn is_address(server: &str) -> bool {
    let Some((host, port)) = server.rsplit_once(':') else { return false };
    let is_host = |host: &str| {
        !host.is_empty()
            && host.len() <= 253
            && !host.starts_with(['-', '.'])
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    is_host(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

fn encryption(tls: &TlsFile, at: &KeyPath, problems: &mut Problems) {
    if tls.ca.is_empty() {
        let problem = Problem::value(at, "`tls` does not say whom to trust")
            .remedy("write `ca = \"ca.pem\"`: the certificates of the servers' authorities");
        problems.add(&[at], problem);
    }
    if tls.certificate.is_some() != tls.key.is_some() {
        let problem = Problem::value(at, "a client's certificate needs its key, and the key its certificate")
            .remedy("write both `certificate` and `key`, or neither");
        problems.add(&[at], problem);
    }
}

fn login(auth: &AuthFile, service: Service, at: &KeyPath, problems: &mut Problems) {
    if auth.user.is_empty() {
        let problem = Problem::value(at, "`auth` does not say who the user is").remedy("write `user = \"…\"`");
        problems.add(&[at], problem);
    } else if service == Service::Zookeeper && auth.user.contains(':') {
        let user = at.key("user");
        let problem =
            Problem::value(&user, "the user of a digest has no colon in it: what follows would be the password");
        problems.spoil(&user, problem.remedy("write the name alone; `password_env` says where the password is"));
    }
    let sources = usize::from(auth.password_env.is_some()) + usize::from(auth.password_file.is_some());
    if sources != 1 {
        let problem = Problem::value(at, "where the password is has to be said once")
            .remedy("write either `password_env = \"VARIABLE\"` or `password_file = \"path\"`");
        problems.add(&[at], problem);
    }
}

/// What is set up by whoever runs the servers.
fn not_theirs(ensemble: &EnsembleFile, path: &KeyPath, problems: &mut Problems) {
    let given: Vec<usize> =
        tables(ensemble).iter().map(|(_, servers)| servers.endpoints.len()).filter(|count| *count > 0).collect();
    // The default is what nobody has written. No endpoints at all is a problem of its own.
    let is_told = ensemble.nodes != EnsembleFile::default().nodes && !given.is_empty();
    if is_told && !given.contains(&(ensemble.nodes as usize)) {
        let at = path.key("nodes");
        let count = given.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ");
        let message =
            format!("`nodes` is {}, and `endpoints` has {count}: external servers are counted there", ensemble.nodes);
        problems.spoil(&at, Problem::value(&at, message).remedy("take `nodes` out"));
    }
    let (zookeeper, etcd) = (&ensemble.zookeeper, &ensemble.etcd);
    let (plain_zookeeper, plain_etcd) = (ZookeeperFile::default(), EtcdFile::default());
    for (table, key, differs) in [
        ("zookeeper", "tick", zookeeper.tick != plain_zookeeper.tick),
        ("zookeeper", "heap", zookeeper.heap != plain_zookeeper.heap),
        ("zookeeper", "fsync", zookeeper.fsync != plain_zookeeper.fsync),
        ("zookeeper", "base_port", zookeeper.base_port.is_some()),
        ("zookeeper", "jvm_flags", !zookeeper.jvm_flags.is_empty()),
        ("zookeeper", "home", zookeeper.home.is_some()),
        ("etcd", "heartbeat_interval", etcd.heartbeat_interval != plain_etcd.heartbeat_interval),
        ("etcd", "election_timeout", etcd.election_timeout != plain_etcd.election_timeout),
        ("etcd", "quota_mib", etcd.quota_mib != plain_etcd.quota_mib),
        ("etcd", "snapshot_count", etcd.snapshot_count != plain_etcd.snapshot_count),
        ("etcd", "fsync", etcd.fsync != plain_etcd.fsync),
        ("etcd", "base_port", etcd.base_port.is_some()),
        ("etcd", "program", etcd.program.is_some()),
    ] {
        if differs {
            let at = path.key(table).key(key);
            let problem = Problem::value(&at, format!("`{key}` of external servers is not bench-runner's to set"))
                .remedy("take it out: whoever runs them has set it");
            problems.spoil(&at, problem);
        }
    }
}

/// Limits of what external servers do not tell would never be broken.
fn limits(file: &ScenarioFile, problems: &mut Problems) {
    let lists = [("slo", "limits", &file.slo.limits), ("gate", "slo", &file.gate.slo)];
    for (table, key, limits) in lists {
        for (index, limit) in limits.iter().enumerate().filter(|(_, limit)| limit.metric == Metric::NodesCpu) {
            let at = KeyPath::from(table).key(key).index(index);
            let problem = Problem::value(
                &at,
                format!("the CPU of external servers is not known, and `{limit}` is a limit of it"),
            );
            problems.spoil(
                &at,
                problem.remedy("take it out: a limit of a latency breaks where the servers have no more to give"),
            );
        }
    }
}

/// Whether there is a command for each fault of a node.
fn commands(file: &ScenarioFile, at: &KeyPath, problems: &mut Problems) {
    let commands = &file.ensemble.commands;
    for (key, command) in
        [("kill", &commands.kill), ("start", &commands.start), ("pause", &commands.pause), ("resume", &commands.resume)]
    {
        if command.as_ref().is_some_and(|command| command.trim().is_empty()) {
            let at = at.key(key);
            problems.spoil(&at, Problem::value(&at, "the command is empty").remedy("write it, or take the key out"));
        }
    }
    if let Some(timeout) = commands.timeout
        && (timeout == Span::default() || timeout.0 > LONGEST_COMMAND)
    {
        let at = at.key("timeout");
        let problem = Problem::value(&at, format!("`timeout` is {timeout}, and must be above zero and at most 10m"));
        problems.spoil(&at, problem.remedy("write for example \"30s\""));
    }
    for (index, fault) in file.fault.iter().enumerate() {
        let Some(FaultKind::Node { fault, .. }) = fault.resolve().map(|fault| fault.kind) else { continue };
        let (needed, names) = match fault {
            NodeFault::Kill { .. } | NodeFault::Restart => ([&commands.kill, &commands.start], "`kill` and `start`"),
            NodeFault::Pause { .. } => ([&commands.pause, &commands.resume], "`pause` and `resume`"),
            // Refused by `docker`, whatever there is.
            NodeFault::Disconnect { .. } => continue,
        };
        if needed.into_iter().any(Option::is_none) {
            let path = KeyPath::from("fault").index(index).key("kind");
            let problem = Problem::value(&path, "bench-runner cannot break external nodes by itself, nor mend them")
                .remedy(format!("write the commands {names} under [ensemble.commands]"));
            problems.add(&[&path, at], problem);
        }
    }
}

/// A worker that is cut off talks to a relay on this machine, for which no server's certificate is.
fn cuts(file: &ScenarioFile, used: &[Service], problems: &mut Problems) {
    for (index, fault) in file.fault.iter().enumerate() {
        let kind = fault.resolve().map(|fault| fault.kind);
        let Some(FaultKind::Worker { fault: WorkerFault::Cut { .. }, .. }) = kind else { continue };
        for (service, servers) in tables(&file.ensemble) {
            if servers.tls.is_none() || !used.contains(&service) {
                continue;
            }
            let path = KeyPath::from("fault").index(index).key("kind");
            let tls = KeyPath::from("ensemble").key(&service.to_string()).key("tls");
            let problem = Problem::value(&path, format!("`cut` and TLS do not go together: a worker that can be cut off talks to {service} over a relay on this machine, whose address the servers' certificates do not have"))
                .remedy("write `kind = \"crash\"` or `kind = \"pause\"`")
                .remedy(format!("or take `tls` out under [ensemble.{service}], and let `endpoints` name ports without TLS"))
                .related(&tls, "TLS is asked for here");
            problems.add(&[&path, &tls], problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses_are_told_from_what_is_none() {
        for address in ["localhost:2181", "10.0.0.1:2379", "zoo-1.example.org:1", "a_b:65535"] {
            assert!(is_address(address), "{address}");
        }
        for other in [
            "",
            "localhost",
            ":2181",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "http://localhost:2379",
            "a,b:1",
            "localhost:2181/chroot",
            "a b:1",
            "-o:1",
            "a;b:1",
            "$(x):1",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }
}
