//! What the types of the format cannot say: ranges, and settings that contradict each other.
//!
//! Everything is judged, whatever was wrong before; `Problems` drops what only follows from something said already.

mod arms;
mod barriers;
mod docker;
mod ensemble;
mod etcd;
mod external;
mod faults;
mod workers;

use super::duration::Span;
use super::file::{ScenarioFile, VERSION};
use super::grid;
use super::path::KeyPath;
use super::problem::{At, Problem, Problems};
use super::sweep;

/// Judges the whole file.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) {
    if file.version.is_none() {
        let problem = Problem::new(At::File, "the scenario does not say which version of the format it is written in")
            .remedy(format!("write `version = {VERSION}` above everything else"));
        problems.add(&[&KeyPath::from("version")], problem);
    }
    if let Some(question) = &file.question
        && (question.trim().is_empty() || question.chars().count() > 500)
    {
        let path = KeyPath::from("question");
        let problem = Problem::value(&path, "`question` must have 1 to 500 characters, not all of them blank");
        problems.spoil(&path, problem.remedy("ask it in one sentence, or leave the key out"));
    }
    if !sweep::validate(file, problems) {
        // Without the values of the sweep it cannot be told what is wrong there besides.
        problems.silence(&KeyPath::from("workers"));
        problems.silence(&KeyPath::from("arm"));
    }
    let file = &sweep::at_first_point(file);
    ensemble::validate(&file.ensemble, problems);
    external::validate(file, problems);
    docker::validate(file, problems);
    trials(file, problems);
    bystanders(file, problems);
    workers::validate(&file.workers, &KeyPath::from("workers"), problems);
    let by_arm = &grid::at_first_point(file);
    arms::validate(by_arm, problems);
    barriers::validate(by_arm, problems);
    faults::validate(file, problems);
    let labels: Vec<&str> = file.arm.iter().map(super::resolve::label).collect();
    super::gate::validate(&file.gate, &labels, problems);
    super::gate::arms_of_limits(&file.slo.limits, &KeyPath::from("slo").key("limits"), &labels, problems);
}

fn trials(file: &ScenarioFile, problems: &mut Problems) {
    let path = KeyPath::from("trials");
    whole_number(
        &path.key("count"),
        file.trials.count,
        1,
        1_000,
        "to measure nothing, use `bench-runner check`",
        problems,
    );
    for (key, length) in [("duration", file.trials.duration), ("limit", file.trials.limit)] {
        let path = path.key(key);
        if length == Span::default() {
            problems.spoil(
                &path,
                Problem::value(&path, format!("`{key}` must be longer than zero")).remedy("write for example \"15s\""),
            );
        }
    }
}

fn bystanders(file: &ScenarioFile, problems: &mut Problems) {
    let path = KeyPath::from("bystanders");
    whole_number(
        &path.key("sessions"),
        file.bystanders.sessions,
        0,
        1_000,
        "a few are enough to feel the herd",
        problems,
    );
    rate(&path.key("rate"), file.bystanders.rate, 10_000.0, "for no bystanders, set `sessions = 0`", problems);
}

/// A whole number from `least` to `most`.
fn whole_number(path: &KeyPath, number: u32, least: u32, most: u32, remedy: &str, problems: &mut Problems) {
    if !(least..=most).contains(&number) {
        let message = format!("`{}` is {number}, and must be {least} to {most}", path.last_key());
        problems.spoil(path, Problem::value(path, message).remedy(remedy));
    }
}

/// A rate a second: more than 0, at most `most`.
fn rate(path: &KeyPath, rate: f64, most: f64, remedy: &str, problems: &mut Problems) {
    let wrong = if rate.is_nan() {
        "is not a number"
    } else if rate < 0.0 {
        "is negative"
    } else if rate == 0.0 {
        "is zero"
    } else if rate > most {
        "is too high"
    } else {
        return;
    };
    let message = format!("`{}` {wrong}: it must be more than 0 and at most {most} a second", path.last_key());
    problems.spoil(path, Problem::value(path, message).remedy(remedy));
}
