//! Servers that are not bench-runner's own: whether they may be used, how one gets at them, and what would be done to them.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use workloads::access::{Access, Login, Secret, Throttle, Tls};
use workloads::claim::PARENT;
use workloads::settings::Service;

use super::{Failure, check};
use crate::cli::ExternalArgs;
use crate::ensemble::{ExternalSettings, NodeCommands};
use crate::scenario::{self, FaultKind, PasswordFrom, Scenario, ServerSettings};

/// The longest that an idle session of ZooKeeper goes without a heartbeat, and the share of its timeout; see the client
/// library's `session/mod.rs`.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);
const SILENCE_IN_TIMEOUT: f64 = 3.0 / 20.0;

/// Notes what the command line allows.
pub(super) fn allow(scenario: &mut Scenario, args: ExternalArgs) {
    if let Some(external) = &mut scenario.ensemble.external {
        external.is_allowed = args.allow_external;
        external.commands_allowed = args.allow_commands;
    }
}

/// Sees whether the command line allows what the scenario wants, and whether the ceiling leaves anything to do it with.
///
/// Errors: [`Failure::Usage`], which says what would be done.
pub(super) fn permit(scenario: &Scenario) -> Result<(), Failure> {
    for service in scenario.services() {
        budget(scenario, service)?;
    }
    let Some(external) = &scenario.ensemble.external else { return Ok(()) };
    let plan = plan(scenario);
    if !external.is_allowed {
        return Err(Failure::Usage(format!(
            "{} would work on servers that bench-runner has not started; nothing was done. Add --allow-external to let it:\n\
             {plan}",
            scenario.name
        )));
    }
    if breaks_nodes(scenario) && !external.commands_allowed {
        return Err(Failure::Usage(format!(
            "{} would break external servers by commands of its own; nothing was done. Add --allow-commands to let it:\n{plan}",
            scenario.name
        )));
    }
    Ok(())
}

fn breaks_nodes(scenario: &Scenario) -> bool {
    scenario.faults.iter().any(|fault| matches!(fault.kind, FaultKind::Node { .. }))
}

/// Requests a second that the sessions of a service send without being asked: heartbeats and bystanders. An estimate from
/// above: a session that does something sends fewer heartbeats. (etcd's renewals are counted one by one instead.)
fn upkeep(scenario: &Scenario, service: Service) -> f64 {
    let arms = scenario.arms.iter().filter(|arm| arm.service == service);
    let of_workers = arms.map(|arm| {
        let silence =
            (arm.workers.session_timeout.as_secs_f64() * SILENCE_IN_TIMEOUT).min(LONGEST_SILENCE.as_secs_f64());
        match service {
            Service::Zookeeper => f64::from(arm.workers.workers + scenario.bystanders.sessions) / silence.max(1e-3),
            Service::Etcd => 0.0,
        }
    });
    of_workers.fold(0.0, f64::max) + f64::from(scenario.bystanders.sessions) * scenario.bystanders.rate
}

/// What the ceiling leaves for the workers, in requests a second, at every point of a sweep; `None` where there is no ceiling.
///
/// Errors: [`Failure::Usage`] where the upkeep takes nearly all of it.
fn budget(scenario: &Scenario, service: Service) -> Result<Option<f64>, Failure> {
    let Some(rate) = scenario.ensemble.max_rate else { return Ok(None) };
    let upkeep = scenario.extremes().iter().map(|point| upkeep(point, service)).fold(0.0, f64::max);
    let least = rate / 10.0;
    if rate - upkeep < least {
        return Err(Failure::Usage(format!(
            "ensemble.max_rate is {rate} a second, of which heartbeats of the sessions and bystanders would take {upkeep:.0} \
             on {service}; use fewer workers, a longer workers.session_timeout or fewer bystanders, or raise the ceiling"
        )));
    }
    Ok(Some(rate - upkeep))
}

/// The ceiling on the requests of workers on the servers of a service.
pub(super) fn throttle(scenario: &Scenario, service: Service) -> Option<Arc<Throttle>> {
    let rate = budget(scenario, service).ok().flatten()?;
    Some(Arc::new(Throttle::new(rate)))
}

/// How one gets at the external servers of a service: reads certificates and passwords. `None` where there are none.
///
/// Errors: [`Failure::Usage`] with the file or variable that does not do.
pub(super) fn settings(scenario: &Scenario, service: Service) -> Result<Option<ExternalSettings>, Failure> {
    let Some(external) = &scenario.ensemble.external else { return Ok(None) };
    let servers = external.of(service);
    let wrong = |what: String| Failure::Usage(format!("[ensemble.{service}] {what}"));
    let tls = match &servers.tls {
        None => None,
        Some(tls) => {
            let identity = tls.identity.as_ref().map(|(own, key)| (own.as_path(), key.as_path()));
            let tls = Tls::from_files(&tls.ca, identity).map_err(|error| wrong(format!("tls: {error}")))?;
            Some(Arc::new(tls))
        }
    };
    let login = match &servers.auth {
        None => None,
        Some(auth) => {
            let password = password(&auth.password).map_err(|error| wrong(format!("auth: {error}")))?;
            Some(Arc::new(Login::new(&auth.user, password)))
        }
    };
    let commands = &external.commands;
    let hidden = [Service::Zookeeper, Service::Etcd].into_iter().filter_map(|service| {
        match &external.of(service).auth.as_ref()?.password {
            PasswordFrom::Env(name) => Some(name.clone()),
            PasswordFrom::File(_) => None,
        }
    });
    Ok(Some(ExternalSettings {
        service,
        endpoints: servers.endpoints.clone(),
        metrics: servers.metrics.clone(),
        metrics_tls: servers.metrics_tls,
        access: Access { tls, login, throttle: throttle(scenario, service) },
        commands: external.commands_allowed.then(|| NodeCommands {
            kill: commands.kill.clone(),
            start: commands.start.clone(),
            pause: commands.pause.clone(),
            resume: commands.resume.clone(),
            timeout: commands.timeout,
            hidden: hidden.collect(),
        }),
    }))
}

/// Reads a password. Errors name the place and never what is there.
fn password(from: &PasswordFrom) -> Result<Secret, String> {
    let (text, place) = match from {
        PasswordFrom::Env(name) => {
            let text = std::env::var(name).map_err(|_| format!("the environment has no variable {name}"))?;
            (text, format!("the variable {name}"))
        }
        PasswordFrom::File(path) => {
            let place = format!("the file {}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| format!("{place} cannot be read: {error}"))?;
            (text, place)
        }
    };
    match text.lines().next().unwrap_or_default() {
        "" => Err(format!("{place} is empty, and should hold a password")),
        line => Ok(Secret::new(line)),
    }
}

/// What a run would do to external servers, and how hard it would push, line by line.
pub(super) fn plan(scenario: &Scenario) -> String {
    let mut text = String::new();
    let Some(external) = &scenario.ensemble.external else { return text };
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<10}{value}");
    };
    for service in scenario.services() {
        line("servers", &servers(service, external.of(service)));
    }
    line("below", &format!("{PARENT}/<run> alone; removed in the end, and what killed runs of yours have left there"));
    let extremes = scenario.extremes();
    let workers = extremes.iter().flat_map(|point| &point.arms).map(|arm| arm.workers.workers).max().unwrap_or(0);
    let sessions = workers + scenario.bystanders.sessions + 2;
    let most = scenario.ensemble.max_workers.map_or(String::new(), |most| format!(" (max_workers = {most})"));
    line("workers", &format!("{workers} at once{most}, with {sessions} sessions in all"));
    if let Some(rate) = scenario.ensemble.max_rate {
        let for_workers = scenario.services().into_iter().filter_map(|service| {
            let left = budget(scenario, service).ok().flatten()?;
            Some(format!("{left:.0} on {service}"))
        });
        let for_workers = for_workers.collect::<Vec<_>>().join(", ");
        line(
            "requests",
            &format!(
                "at most {rate} a second (max_rate); for workers {for_workers}, the rest for heartbeats and bystanders"
            ),
        );
    }
    // What a sweep does is told point by point.
    if scenario.sweep.is_none() {
        line("time", &check::estimate(scenario));
    }
    if breaks_nodes(scenario) {
        let commands = &external.commands;
        let all = [
            ("kill", &commands.kill),
            ("start", &commands.start),
            ("pause", &commands.pause),
            ("resume", &commands.resume),
        ];
        for (name, command) in all {
            if let Some(command) = command {
                line("command", &format!("{name}: {command}"));
            }
        }
    }
    text
}

fn servers(service: Service, servers: &ServerSettings) -> String {
    let mut text = format!("{service} at {}", servers.endpoints.join(", "));
    text += if servers.tls.is_some() { ", over TLS" } else { ", not encrypted" };
    match &servers.auth {
        None => text += ", as nobody in particular",
        Some(auth) => {
            let from = match &auth.password {
                PasswordFrom::Env(name) => format!("${name}"),
                PasswordFrom::File(path) => path.display().to_string(),
            };
            text += &format!(", as {} (password from {from})", auth.user);
        }
    }
    text
}

/// The scenario of a command that needs external servers.
///
/// Errors: [`Failure::Scenario`], and [`Failure::Usage`] where it has none.
pub(super) fn load(args: &crate::cli::ScenarioArgs) -> Result<Scenario, Failure> {
    let scenario = scenario::load(&args.scenario, &args.set)?;
    match scenario.ensemble.external {
        Some(_) => Ok(scenario),
        None => Err(Failure::Usage(format!(
            "{} has no external servers (`provider = \"external\"`); local ones leave nothing behind",
            scenario.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(ensemble: &str, workers: u32) -> Scenario {
        let text = format!(
            "version = 1\nworkers = {{ count = {workers} }}\n[[arm]]\nrecipe = \"lock/naive\"\n[ensemble]\nprovider = \"external\"\n{ensemble}"
        );
        scenario::parse("theirs", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    const SERVERS: &str =
        "zookeeper = { endpoints = [\"a:1\", \"b:2\"], auth = { user = \"u\", password_env = \"P\" } }\n";

    #[test]
    fn it_is_refused_unless_it_is_allowed_and_says_what_it_would_do() {
        let mut scenario = scenario(SERVERS, 100);
        let Failure::Usage(text) = permit(&scenario).unwrap_err() else { panic!() };
        for part in ["--allow-external", "a:1, b:2", "as u (password from $P)", "100 at once", "at most 5000 a second"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        allow(&mut scenario, ExternalArgs { allow_external: true, allow_commands: false });
        permit(&scenario).unwrap();
    }

    #[test]
    fn heartbeats_are_taken_off_the_ceiling() {
        // 404 sessions with 20 s: one heartbeat in 3 s each, and four bystanders with ten requests a second each.
        let scenario = scenario(&format!("max_rate = 1000\n{SERVERS}"), 400);
        let left = budget(&scenario, Service::Zookeeper).ok().flatten().unwrap();
        assert!((left - (1000.0 - 404.0 / 3.0 - 40.0)).abs() < 1e-6, "{left}");
    }

    #[test]
    fn a_ceiling_that_the_upkeep_eats_up_is_refused() {
        let mut scenario = scenario(&format!("max_rate = 180\n{SERVERS}"), 400);
        allow(&mut scenario, ExternalArgs { allow_external: true, allow_commands: false });
        let Failure::Usage(text) = permit(&scenario).unwrap_err() else { panic!() };
        assert!(text.contains("max_rate is 180") && text.contains("heartbeats"), "{text}");
    }

    #[test]
    fn a_password_is_read_from_where_it_is_and_never_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "swordfish\nand more\n").unwrap();
        let from = PasswordFrom::File(file.path().into());
        assert_eq!(password(&from).unwrap().expose(), "swordfish");
        std::fs::write(file.path(), "\n").unwrap();
        assert!(password(&from).unwrap_err().contains("is empty"));
        assert!(
            password(&PasswordFrom::Env("BENCH_RUNNER_NO_SUCH".into())).unwrap_err().contains("BENCH_RUNNER_NO_SUCH")
        );
    }
}
