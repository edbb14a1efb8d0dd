//! The faults: each by itself, and what all of them together leave of the ensemble.

use std::time::Duration;

use workloads::settings::Recipe;

use super::super::duration::Span;
use super::super::fault::file::{FaultFile, KindName, MOST_MOMENTS, TargetText};
use super::super::fault::{FaultKind, FaultSettings, NodeFault};
use super::super::file::{ArmFile, ModeName, ScenarioFile};
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};

/// The targets of each kind, for remedies.
const WORKERS: &str = "write \"holder\", \"waiter\", or a share of all workers such as 0.5";
const NODES: &str = "write \"leader\", \"follower\" or \"random\"";

/// Judges all faults.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    for (index, fault) in file.fault.iter().enumerate() {
        let path = KeyPath::from("fault").index(index);
        let one = One { file, fault, path };
        one.missing(problems);
        one.target(problems);
        one.moments(problems);
        one.length(problems);
        one.how(problems);
        one.idle_arms(problems);
        one.due(problems);
    }
    nodes(file, problems);
    drains(file, problems);
}

/// One fault with its place.
struct One<'a> {
    file: &'a ScenarioFile,
    fault: &'a FaultFile,
    path: KeyPath,
}

impl One<'_> {
    fn missing(&self, problems: &mut Problems) {
        let targets = match self.fault.kind {
            Some(kind) if kind.is_of_nodes() => NODES.to_owned(),
            Some(_) => WORKERS.to_owned(),
            None => "write for example `target = \"holder\"`".to_owned(),
        };
        let kinds = "write `kind = …` with one of `close`, `crash`, `pause`, `cut` (of workers), `kill-node`, `pause-node`, `restart-node`, `disconnect-node`";
        let missing = [
            ("kind", self.fault.kind.is_none(), "nothing says what breaks: the fault has no `kind`", kinds.to_owned()),
            ("target", self.fault.target.is_none(), "nothing says whom the fault befalls: it has no `target`", targets),
            (
                "at",
                self.fault.at.is_none(),
                "nothing says when the fault falls due: it has no `at`",
                "write for example `at = \"5s\"`, which counts from the start of the trial".to_owned(),
            ),
        ];
        for (key, _, message, remedy) in missing.into_iter().filter(|(_, is_missing, _, _)| *is_missing) {
            let at = self.path.key(key);
            problems.add(&[&at], Problem::value(&at, message).remedy(remedy));
        }
    }

    fn target(&self, problems: &mut Problems) {
        let Some(target) = self.fault.target else { return };
        let at = self.path.key("target");
        if let TargetText::Share(share) = target
            && !(share > 0.0 && share <= 1.0)
        {
            let message = format!("a share of the workers is more than 0 and at most 1, not {share}");
            problems.spoil(&at, Problem::value(&at, message).remedy("write for example 0.5: half of them at once"));
            return;
        }
        let Some(kind) = self.fault.kind else { return };
        let kind_at = self.path.key("kind");
        let word = target.word().map_or("a share".to_owned(), |word| format!("`{word}`"));
        let (suits, message, remedy) = if kind.is_of_nodes() {
            (
                target.of_nodes().is_some(),
                format!("`{}` befalls a node, and {word} is of the workers", kind.name()),
                NODES,
            )
        } else {
            (target.of_workers().is_some(), format!("`{}` befalls workers, and {word} is a node", kind.name()), WORKERS)
        };
        if !suits {
            let problem = Problem::value(&at, message).remedy(remedy).related(&kind_at, "the kind");
            problems.add(&[&at, &kind_at], problem);
        }
    }

    /// `every` and `count`, each by itself.
    fn moments(&self, problems: &mut Problems) {
        let (every_at, count_at) = (self.path.key("every"), self.path.key("count"));
        if self.fault.every == Some(Span::default()) {
            let problem = Problem::value(&every_at, "`every` must be longer than zero")
                .remedy("write for example \"6s\", or leave the key out: the fault then falls due once");
            problems.spoil(&every_at, problem);
        }
        match (self.fault.count, self.fault.every) {
            (Some(0), _) => {
                let problem = Problem::value(&count_at, "a fault that never falls due is none");
                problems.spoil(&count_at, problem.remedy("write at least 1, or take the fault out"));
            }
            (Some(_), None) => {
                let problem =
                    Problem::value(&count_at, "`count` says how often a fault repeats, and this one does not")
                        .remedy("write `every = …` too, for example \"6s\", or leave `count` out");
                problems.add(&[&count_at, &every_at], problem);
            }
            _ => {}
        }
    }

    fn length(&self, problems: &mut Problems) {
        let (at, kind_at) = (self.path.key("for"), self.path.key("kind"));
        if self.fault.length == Some(Span::default()) {
            let problem = Problem::value(&at, "a fault of no length breaks nothing: `for` must be longer than zero");
            problems.spoil(&at, problem.remedy("write for example \"10s\""));
            return;
        }
        let problem = match (self.fault.kind, self.fault.length) {
            (Some(KindName::Pause), None) => Problem::value(
                &at,
                "nothing says how long the pause lasts: it has no `for`",
            )
            .remedy(
                "write for example `for = \"30s\"`; a worker loses something when that is above its session timeout",
            ),
            (Some(kind @ (KindName::Close | KindName::Crash | KindName::RestartNode)), Some(_)) => {
                let instead = match kind {
                    KindName::RestartNode => "take `for` out, or write `kill-node`, which stays dead for so long",
                    _ => "take `for` out; `cut` and `pause` are faults that heal",
                };
                Problem::value(
                    &at,
                    format!("`{}` happens at once and has nothing to heal, so it takes no `for`", kind.name()),
                )
                .remedy(instead)
            }
            _ => return,
        };
        problems.add(&[&at, &kind_at], problem.related(&kind_at, "the kind"));
    }

    fn how(&self, problems: &mut Problems) {
        let (Some(kind), Some(_)) = (self.fault.kind, self.fault.how) else { return };
        if kind != KindName::Cut {
            let (at, kind_at) = (self.path.key("how"), self.path.key("kind"));
            let problem = Problem::value(&at, format!("only `cut` takes `how`, and this is `{}`", kind.name()))
                .remedy("take `how` out, or write `kind = \"cut\"`")
                .related(&kind_at, "the kind");
            problems.add(&[&at, &kind_at], problem);
        }
    }

    /// Arms that have no such worker.
    fn idle_arms(&self, problems: &mut Problems) {
        let Some(target @ (TargetText::Holder | TargetText::Waiter)) = self.fault.target else { return };
        let idle = |arm: &ArmFile| arm.recipe == Some(Recipe::IdleSession);
        if let Some(index) = self.file.arm.iter().position(idle) {
            let (at, recipe_at) = (self.path.key("target"), KeyPath::from("arm").index(index).key("recipe"));
            let word = target.word().unwrap_or_default();
            let problem = Problem::value(&at, format!("`session/idle` acquires nothing, so it has no {word}"))
                .remedy("write a share of all workers, such as 0.01, or give the arm a scenario of its own")
                .related(&recipe_at, "the arm");
            problems.add(&[&at, &recipe_at, &self.path.key("kind")], problem);
        }
    }

    /// Whether all of it falls into a trial.
    fn due(&self, problems: &mut Problems) {
        let (duration, duration_at) = (self.file.trials.duration, KeyPath::from("trials.duration"));
        let Some(fault) = self.fault.resolve() else { return };
        let [at, every, count] = ["at", "every", "count"].map(|key| self.path.key(key));
        let (due, first) = (fault.due_count(duration.0), Span(fault.at));
        let problem = match (fault.every, fault.count) {
            _ if due == 0 => Problem::value(
                &at,
                format!("the fault falls due at {first}, and a trial lasts {duration}: it never comes"),
            )
            .remedy("write an earlier `at`, or a longer `duration` under [trials]"),
            (Some(_), _) if due > MOST_MOMENTS => {
                Problem::value(&every, format!("the fault would fall due more than {MOST_MOMENTS} times in a trial"))
                    .remedy("write a longer `every`, or a `count`")
            }
            (Some(_), Some(wanted)) if due < u64::from(wanted) => {
                Problem::value(&count, format!("only {due} of the {wanted} faults fall into a trial of {duration}"))
                    .remedy(self.longer(&fault, wanted))
                    .remedy(format!("or write `count = {due}`"))
            }
            (Some(step), None) if due == 1 => {
                let second = Span(fault.at + step);
                Problem::value(
                    &every,
                    format!(
                        "the fault never repeats: the second would fall due at {second}, and a trial lasts {duration}"
                    ),
                )
                .remedy("write a shorter `every`, or a longer `duration` under [trials], or leave `every` out")
            }
            _ => return,
        };
        problems.add(&[&at, &every, &count, &duration_at], problem.related(&duration_at, "the length of a trial"));
    }

    /// How to make room for all that are wanted.
    fn longer(&self, fault: &FaultSettings, wanted: u32) -> String {
        // A day and 10,000 times a day do not overflow.
        let last = fault.every.unwrap_or_default().saturating_mul(wanted - 1).saturating_add(fault.at);
        format!("write a `duration` above {} under [trials]", Span(last))
    }
}

/// Whether the nodes that are down at any moment leave a quorum.
fn nodes(file: &ScenarioFile, problems: &mut Problems) {
    let (nodes, nodes_at) = (file.ensemble.node_count(), KeyPath::from("ensemble.nodes"));
    let (duration, may_be_down) = (file.trials.duration.0, nodes.saturating_sub(1) as usize / 2);
    let mut down: Vec<(Duration, Duration, usize)> = Vec::new();
    for (index, fault) in file.fault.iter().enumerate() {
        let Some(settings) = fault.resolve() else { continue };
        let FaultKind::Node { fault: node_fault, .. } = settings.kind else { continue };
        let path = KeyPath::from("fault").index(index);
        if nodes == 1 {
            one_node(fault, node_fault, &path, &nodes_at, problems);
            continue;
        }
        if settings.due_count(duration) > MOST_MOMENTS {
            continue;
        }
        let healed = |from: Duration| match node_fault {
            // It is back when its server has started and caught up; that nobody else falls at the very moment is the least.
            NodeFault::Restart => from,
            NodeFault::Kill { length } | NodeFault::Pause { length } | NodeFault::Disconnect { length } => {
                length.map_or(duration, |length| from.saturating_add(length))
            }
        };
        down.extend(settings.due(duration).into_iter().map(|from| (from, healed(from), index)));
    }
    down.sort();
    let mut still_down: Vec<Duration> = Vec::new();
    for (from, until, index) in down {
        still_down.retain(|until| *until >= from);
        still_down.push(until);
        if still_down.len() > may_be_down {
            let path = KeyPath::from("fault").index(index);
            let (count, needed) = (still_down.len(), nodes / 2 + 1);
            let message = format!(
                "at {} there would be {count} of {nodes} nodes down at once, and {needed} have to be up for the ensemble to serve",
                Span(from)
            );
            let mut problem = Problem::value(&path.key("kind"), message)
                .remedy("let one heal before the next falls: a shorter `for`, or a longer `every`");
            if let Some(more) = [3, 5, 7, 9].into_iter().find(|more| (*more - 1) / 2 >= count) {
                problem = problem.remedy(format!("or write `nodes = {more}` under [ensemble]"));
            }
            let depends_on = [&path, &nodes_at, &KeyPath::from("trials.duration")];
            problems.add(&depends_on, problem.related(&nodes_at, "the nodes"));
            return;
        }
    }
}

/// A fault of the only node there is.
fn one_node(fault: &FaultFile, node_fault: NodeFault, path: &KeyPath, nodes_at: &KeyPath, problems: &mut Problems) {
    let (at, message) = match node_fault {
        NodeFault::Kill { .. } | NodeFault::Pause { .. } | NodeFault::Disconnect { .. } => {
            let name = fault.kind.map_or("", KindName::name);
            (path.key("kind"), format!("`{name}` of the only node leaves nothing that could serve"))
        }
        NodeFault::Restart if fault.target == Some(TargetText::Follower) => {
            (path.key("target"), "an ensemble of one node has no follower".to_owned())
        }
        NodeFault::Restart => return,
    };
    let problem =
        Problem::value(&at, message).remedy("write `nodes = 3` under [ensemble]").related(nodes_at, "the nodes");
    problems.add(&[&at, nodes_at], problem);
}

/// A drain's notifications are known beforehand only where everybody lives.
fn drains(file: &ScenarioFile, problems: &mut Problems) {
    if file.fault.is_empty() {
        return;
    }
    let fault_at = KeyPath::from("fault.0");
    for (index, arm) in file.arm.iter().enumerate() {
        if arm.workers.over(&file.workers).mode != Some(ModeName::Drain) {
            continue;
        }
        let own = KeyPath::from("arm").index(index).key("workers").key("mode");
        let mode_at = if arm.workers.mode.is_some() { own } else { KeyPath::from("workers.mode") };
        let problem = Problem::value(&mode_at, "a drain takes no faults: nobody would know what it should have cost")
            .remedy("use the closed mode, or take the faults out")
            .related(&fault_at.key("kind"), "a fault");
        problems.add(&[&mode_at], problem);
    }
}
