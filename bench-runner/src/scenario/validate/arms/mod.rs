//! The arms: what each asks of its workers once `[workers]` is merged in, and what they may not have in common.

mod controls;
mod grants;

use std::collections::BTreeMap;
use std::time::Duration;

use workloads::settings::{Recipe, Service};

use super::super::duration::Span;
use super::super::file::{ArmFile, ModeName, ScenarioFile, WorkersFile};
use super::super::path::KeyPath;
use super::super::problem::{At, Problem, Problems};
use super::super::resolve::{MOST_TICKS, label, shortest_lease};
use super::super::settings::Provider;
use super::super::similar::list;
use super::ensemble::whole_millis;
use super::workers;

/// Arrivals of one trial that fit into memory with room to spare.
const MOST_ARRIVALS: f64 = 50e6;

/// Judges all arms.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    let path = KeyPath::from("arm");
    if file.arm.is_empty() {
        let problem = Problem::new(At::File, "the scenario has no arms: nothing to run")
            .remedy("write at least one `[[arm]]` with a recipe, for example `recipe = \"lock/naive\"`");
        problems.add(&[&path], problem);
    }
    for (index, arm) in file.arm.iter().enumerate() {
        let path = path.index(index);
        recipe_and_label(arm, &path, problems);
        workers::validate(&arm.workers, &path.key("workers"), problems);
        Merged::new(file, arm, &path).validate(problems);
    }
    unused_arrivals(file, problems);
    unused_connections(file, problems);
    grants::unused_auto_requeue(file, problems);
    labels(file, problems);
}

fn recipe_and_label(arm: &ArmFile, path: &KeyPath, problems: &mut Problems) {
    if arm.recipe.is_none() {
        let recipe = path.key("recipe");
        let problem = Problem::value(&recipe, "the arm has no recipe")
            .remedy(format!("write `recipe = …` with one of {}", list(Recipe::ALL.map(Recipe::name))));
        problems.add(&[&recipe], problem);
    }
    if let Some(label) = &arm.label {
        let path = path.key("label");
        if label.trim().is_empty() || label.chars().count() > 60 || label.chars().any(char::is_control) {
            let problem = Problem::value(&path, "a label must have 1 to 60 characters, all of them printable")
                .remedy("or leave the key out: the arm is then called by its recipe");
            problems.spoil(&path, problem);
        }
    }
}

/// Reports and result files tell arms apart by their labels.
fn labels(file: &ScenarioFile, problems: &mut Problems) {
    let mut first = BTreeMap::new();
    for (index, arm) in file.arm.iter().enumerate() {
        let own = KeyPath::from("arm").index(index);
        let place = own.key(if arm.label.is_some() { "label" } else { "recipe" });
        let label = label(arm);
        if label.is_empty() {
            continue;
        }
        match first.get(label) {
            None => {
                first.insert(label, place);
            }
            Some(other) => {
                let problem = Problem::value(&place, format!("two arms are called `{label}`"))
                    .remedy("give one of them another `label`")
                    .related(other, "the first one");
                problems.add(&[&place, other], problem);
            }
        }
    }
}

/// Arrivals under `[workers]` that no arm takes. One that drives some of the arms is fine: an arm of another mode simply has
/// no use for it.
fn unused_arrivals(file: &ScenarioFile, problems: &mut Problems) {
    let path = KeyPath::from("workers");
    let open = |arm: &ArmFile| arm.workers.over(&file.workers).mode.unwrap_or_default() == ModeName::Open;
    if file.workers.arrivals.is_some() && !file.arm.is_empty() && !file.arm.iter().any(open) {
        let arrivals = path.key("arrivals");
        problems.add(&[&path.key("mode"), &arrivals], arrivals_without_open(&arrivals));
    }
}

fn arrivals_without_open(path: &KeyPath) -> Problem {
    Problem::value(path, "only the open mode has arrivals, and no arm takes these").remedy(
        "set `mode = \"open\"`, or take `arrivals` out (on the command line: an empty value, --set workers.arrivals=)",
    )
}

/// The service that an arm loads.
fn service(file: &ScenarioFile, arm: &ArmFile) -> Service {
    arm.service.unwrap_or(file.service)
}

/// Connections under `[workers]` that no arm takes; in an arm, see [`Merged::connections`].
fn unused_connections(file: &ScenarioFile, problems: &mut Problems) {
    let etcd = |arm: &ArmFile| service(file, arm) == Service::Etcd;
    if file.workers.connections.is_some() && !file.arm.is_empty() && !file.arm.iter().any(etcd) {
        let connections = KeyPath::from("workers").key("connections");
        problems.add(&[&connections, &KeyPath::from("service")], connections_without_etcd(&connections));
    }
}

fn connections_without_etcd(path: &KeyPath) -> Problem {
    Problem::value(path, "only workers of etcd can share connections: with ZooKeeper a connection is a session")
        .remedy("take `connections` out, or set `service = \"etcd\"`")
}

/// An arm's settings with `[workers]` merged in, and where each of them was written.
struct Merged<'a> {
    file: &'a ScenarioFile,
    arm: &'a ArmFile,
    path: &'a KeyPath,
    workers: WorkersFile,
}

impl<'a> Merged<'a> {
    fn new(file: &'a ScenarioFile, arm: &'a ArmFile, path: &'a KeyPath) -> Self {
        Merged { file, arm, path, workers: arm.workers.over(&file.workers) }
    }

    fn validate(&self, problems: &mut Problems) {
        self.count(problems);
        self.locks(problems);
        self.mode(problems);
        self.hold(problems);
        self.auto_requeue(problems);
        self.updates(problems);
        self.sessions(problems);
        self.connections(problems);
        self.session_timeout(problems);
    }

    fn connections(&self, problems: &mut Problems) {
        let Some(connections) = self.workers.connections else { return };
        let own = self.arm.workers.connections.is_some();
        let at = self.place("connections", own);
        if service(self.file, self.arm) == Service::Zookeeper {
            // Under `[workers]` they may be for another arm.
            if own {
                problems.add(&[&at, &self.path.key("service")], connections_without_etcd(&at));
            }
            return;
        }
        if let Some(count) = self.workers.count.filter(|count| connections > *count) {
            let count_at = self.place("count", self.arm.workers.count.is_some());
            let problem =
                Problem::value(&at, format!("{connections} connections for {count} workers: some would carry nothing"))
                    .remedy("leave `connections` out: each worker then has its own")
                    .related(&count_at, "the workers");
            problems.add(&[&at, &count_at], problem);
        }
    }

    /// Where the key in force was written: in the arm if `own`, else under `[workers]`.
    fn place(&self, key: &str, own: bool) -> KeyPath {
        if own { self.path.key("workers").key(key) } else { KeyPath::from("workers").key(key) }
    }

    fn count(&self, problems: &mut Problems) {
        if self.workers.count.is_none() {
            let everywhere = KeyPath::from("workers.count");
            let here = self.place("count", true);
            // Without `[workers]`, the arm is the only line to point at.
            let shared = self.file.workers != WorkersFile::default();
            let problem =
                Problem::value(if shared { &everywhere } else { &here }, "nothing says how many workers there are")
                    .remedy("write `count = …` under [workers], or in each arm: `workers = { count = 50 }`");
            problems.add(&[&everywhere, &here], problem);
        }
    }

    fn locks(&self, problems: &mut Problems) {
        let (Some(locks), Some(count)) = (self.workers.locks, self.workers.count) else { return };
        if locks <= count || self.arm.recipe == Some(Recipe::IdleSession) {
            return;
        }
        let locks_at = self.place("locks", self.arm.workers.locks.is_some());
        let count_at = self.place("count", self.arm.workers.count.is_some());
        let problem = Problem::value(
            &locks_at,
            format!("{locks} locks or elections for {count} workers: some would have nobody"),
        )
        .remedy(format!("write at most {count}, or more workers"))
        .related(&count_at, "the workers");
        problems.add(&[&locks_at, &count_at], problem);
    }

    fn mode(&self, problems: &mut Problems) {
        let mode = self.workers.mode.unwrap_or_default();
        let mode_at = self.place("mode", self.arm.workers.mode.is_some());
        let telemetry_at = self.place("telemetry", self.arm.workers.telemetry.is_some());
        let arrivals_at = self.place("arrivals", self.arm.workers.arrivals.is_some());
        let recipe_at = self.path.key("recipe");
        if self.arm.recipe == Some(Recipe::IdleSession) && mode != ModeName::Closed {
            let problem =
                Problem::value(&recipe_at, "`session/idle` acquires nothing, so only the closed mode fits it")
                    .remedy("set `workers = { mode = \"closed\" }` in this arm")
                    .related(&mode_at, "the mode");
            problems.add(&[&mode_at, &recipe_at], problem);
            return;
        }
        match mode {
            ModeName::Drain if self.workers.telemetry == Some(false) => {
                let problem = Problem::value(
                    &telemetry_at,
                    "a drain needs the telemetry: a holder releases when all watches are counted",
                )
                .remedy("take `telemetry = false` out, or use the closed mode")
                .related(&mode_at, "the mode");
                problems.add(&[&mode_at, &telemetry_at], problem);
            }
            ModeName::Open => self.arrivals(&mode_at, &arrivals_at, problems),
            ModeName::Closed | ModeName::Drain | ModeName::Barriers | ModeName::Rounds
                if self.arm.workers.arrivals.is_some() =>
            {
                problems.add(&[&mode_at, &arrivals_at], arrivals_without_open(&arrivals_at));
            }
            ModeName::Closed | ModeName::Drain | ModeName::Barriers | ModeName::Rounds => {}
        }
    }

    fn arrivals(&self, mode_at: &KeyPath, arrivals_at: &KeyPath, problems: &mut Problems) {
        let Some(arrivals) = self.workers.arrivals else {
            let own = self.path.key("workers").key("arrivals");
            let problem = Problem::value(mode_at, "the open mode needs `arrivals`, and there are none")
                .remedy("write for example `arrivals = { rate = 200.0 }`: 200 acquires a second over all workers");
            problems.add(&[mode_at, arrivals_at, &own], problem);
            return;
        };
        let total = arrivals.rate.unwrap_or_default() * self.file.trials.duration.0.as_secs_f64();
        if total > MOST_ARRIVALS {
            let rate_at = arrivals_at.key("rate");
            let duration_at = KeyPath::from("trials.duration");
            let problem = Problem::value(
                &rate_at,
                format!("a trial would have {total:.0} arrivals, and at most {MOST_ARRIVALS:.0} are kept"),
            )
            .remedy("lower the `rate`, or shorten the trials' `duration`")
            .related(&duration_at, "the length of a trial");
            problems.add(&[&rate_at, &duration_at], problem);
        }
    }

    fn session_timeout(&self, problems: &mut Problems) {
        let Some(timeout) = self.workers.session_timeout else { return };
        let at = self.place("session_timeout", self.arm.workers.session_timeout.is_some());
        match service(self.file, self.arm) {
            Service::Zookeeper if self.file.ensemble.provider == Provider::External => {}
            Service::Zookeeper => self.ticks(timeout, &at, problems),
            Service::Etcd => self.lease(timeout, &at, problems),
        }
    }

    /// Whether a lease can be as short, or of such a length at all.
    fn lease(&self, timeout: Span, at: &KeyPath, problems: &mut Problems) {
        let election_at = KeyPath::from("ensemble.etcd.election_timeout");
        let heartbeat_at = KeyPath::from("ensemble.etcd.heartbeat_interval");
        let (election, least) = (self.file.ensemble.etcd.election_timeout, Span(shortest_lease(self.file)));
        if timeout.0 < least.0 && self.file.ensemble.provider != Provider::External {
            let message = format!(
                "`session_timeout` is {timeout}, but with an election timeout of {election} a server makes no lease shorter than {least} and would silently take that"
            );
            let problem = Problem::value(at, message)
                .remedy(format!("write \"{least}\" here, or a shorter `election_timeout` under [ensemble.etcd]"))
                .related(&election_at, "the election timeout");
            problems.add(&[at, &election_at, &heartbeat_at], problem);
        } else if timeout.0.subsec_nanos() != 0 {
            let rounded = Span::seconds(timeout.0.as_secs() + 1);
            let problem =
                Problem::value(at, format!("`session_timeout` is {timeout}, and a lease counts whole seconds"))
                    .remedy(format!("write \"{rounded}\""));
            problems.add(&[at], problem);
        }
    }

    /// Whether the servers' ticks allow it.
    fn ticks(&self, timeout: Span, at: &KeyPath, problems: &mut Problems) {
        if !whole_millis(timeout.0) {
            let problem =
                Problem::value(at, format!("`session_timeout` is {timeout}, and the server counts whole milliseconds"))
                    .remedy(format!("write \"{}ms\"", timeout.0.as_millis()));
            problems.add(&[at], problem);
            return;
        }
        let tick = self.file.ensemble.zookeeper.tick;
        let (least, most) = (tick.0 * 2, tick.0 * MOST_TICKS);
        if (least..=most).contains(&timeout.0) {
            return;
        }
        let tick_at = KeyPath::from("ensemble.zookeeper.tick");
        let clamped = Span(timeout.0.clamp(least, most));
        let (least, most) = (Span(least), Span(most));
        let message = format!(
            "`session_timeout` is {timeout}, but with ticks of {tick} a server grants {least} to {most} (2 to 20 ticks) and would silently make it {clamped}"
        );
        let mut problem = Problem::value(at, message).remedy(format!("write \"{clamped}\" here"));
        if let Some(tick) = fitting_tick(timeout.0) {
            problem = problem.remedy(format!("or set `tick = \"{tick}\"` under [ensemble.zookeeper]"));
        }
        problems.add(&[at, &tick_at], problem.related(&tick_at, "the tick"));
    }
}

/// A round tick of which the timeout is about ten.
fn fitting_tick(timeout: Duration) -> Option<Span> {
    let rounds = [20, 50, 100, 200, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000];
    let fits = |tick: &Duration| timeout >= *tick * 2 && timeout <= *tick * 20;
    let about_ten = |tick: &Duration| (*tick * 10).abs_diff(timeout);
    rounds.into_iter().map(Duration::from_millis).filter(fits).min_by_key(about_ten).map(Span)
}
