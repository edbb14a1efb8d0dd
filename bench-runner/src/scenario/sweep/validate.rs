//! What is wrong with a sweep: by itself, and at each of its points.

use workloads::settings::Recipe;

use super::super::file::ScenarioFile;
use super::super::path::KeyPath;
use super::super::problem::{Problem, Problems};
use super::super::settings::Provider;
use super::super::similar::list;
use super::at::{self, with};
use super::{SweepFile, Variable};

/// More points than this, repeats not counted, are no plan that anybody waits for.
const MOST_POINTS: usize = 2_000;

/// Judges `[sweep]`; whether the scenario at its first point can be judged besides.
pub fn validate(file: &ScenarioFile, problems: &mut Problems) -> bool {
    let Some(sweep) = &file.sweep else { return true };
    let before = problems.found.len();
    let path = KeyPath::from("sweep");
    numbers(sweep, &path, problems);
    variables(sweep, &path, problems);
    company(file, &path, problems);
    if problems.found.len() == before {
        points(file, sweep, &path, problems);
    }
    problems.found.len() == before
}

fn numbers(sweep: &SweepFile, path: &KeyPath, problems: &mut Problems) {
    if !(1..=100).contains(&sweep.repeats) {
        let path = path.key("repeats");
        let message = format!("`repeats` is {}, and must be 1 to 100", sweep.repeats);
        problems.spoil(&path, Problem::value(&path, message).remedy("3 show a spread; more make intervals narrower"));
    }
    if !(1.0..=1_000.0).contains(&sweep.stop_beyond) {
        let path = path.key("stop_beyond");
        let message = format!("`stop_beyond` is {}, and must be 1 to 1,000", sweep.stop_beyond);
        let remedy = "3 ends a branch once a limit is exceeded three times; 1000 hardly ever does";
        problems.spoil(&path, Problem::value(&path, message).remedy(remedy));
    }
}

fn variables(sweep: &SweepFile, path: &KeyPath, problems: &mut Problems) {
    let axes = sweep.axes();
    let keys = || list(Variable::ALL.map(Variable::key));
    match axes.len() {
        0 => {
            let problem = Problem::value(path, "the sweep varies nothing")
                .remedy(format!("give one or two of {} a list: `workers = [10, 20, 50]`", keys()));
            problems.spoil(path, problem);
        }
        1 | 2 => {}
        many => {
            let named = list(axes.iter().map(|axis| axis.variable.key()));
            let problem = Problem::value(path, format!("the sweep varies {many} things at once: {named}")).remedy(
                "take away all but one or two: curves run over one, and there is one for each value of the other",
            );
            problems.spoil(path, problem);
        }
    }
    for axis in &axes {
        if axis.values.first().is_some_and(|least| *least <= 0.0) && !axis.variable.is_whole() {
            let path = path.key(axis.variable.key());
            let problem = Problem::value(&path, "a sweep needs values above 0: its curves run in equal ratios");
            problems.spoil(&path, problem.remedy("leave 0 out"));
        }
        if let Some(twice) = axis.values.windows(2).find(|pair| pair[0] == pair[1]) {
            let path = path.key(axis.variable.key());
            let problem = Problem::value(&path, format!("{} stands in it twice", twice[0]));
            problems.spoil(&path, problem.remedy("`repeats` says how often each point is measured"));
        }
    }
    let points: usize = axes.iter().map(|axis| axis.values.len()).product();
    if points > MOST_POINTS {
        let problem = Problem::value(path, format!("the sweep has {points} points: at most {MOST_POINTS}"));
        problems.spoil(path, problem.remedy("choose fewer values, in equal ratios: curves are smooth"));
    }
}

/// What a sweep cannot stand beside.
fn company(file: &ScenarioFile, path: &KeyPath, problems: &mut Problems) {
    let beside = [
        (
            file.grid.is_some(),
            "grid",
            "a grid multiplies the arms, and a sweep measures each arm at each of its points",
        ),
        (!file.fault.is_empty(), "fault", "a sweep measures what an ensemble carries while nothing is broken"),
    ];
    for (is_there, key, message) in beside {
        if is_there {
            let other = KeyPath::from(key);
            let problem = Problem::value(&other, message).remedy(format!("take `{key}` or `sweep` out"));
            problems.add(&[&other, path], problem.related(path, "the sweep"));
        }
    }
    if file.ensemble.provider == Provider::External && file.sweep.as_ref().is_some_and(|sweep| !sweep.nodes.is_empty())
    {
        let at = path.key(Variable::Nodes.key());
        let problem = Problem::value(&at, "external servers are as many as there are: nobody starts more of them");
        problems.spoil(&at, problem.remedy("sweep `workers`, and compare sweeps of ensembles of different sizes"));
    }
    for (index, arm) in file.arm.iter().enumerate() {
        if arm.recipe.is_some_and(Recipe::is_barrier) {
            let at = KeyPath::from("arm").index(index).key("recipe");
            let problem = Problem::value(&at, "barriers have no grants, which a sweep measures");
            problems.add(&[&at, path], problem.remedy("measure barriers with a `grid`").related(path, "the sweep"));
        }
    }
}

/// Judges the scenario at each point: what is wrong at one and not at the one before is the value's fault.
fn points(file: &ScenarioFile, sweep: &SweepFile, path: &KeyPath, problems: &mut Problems) {
    let axes = sweep.axes();
    let all = at::points(&axes);
    let complaints = |point: &[(Variable, f64)]| {
        let mut own = Problems::default();
        let at = ScenarioFile { sweep: None, slo: file.slo.clone(), ..with(file, point) };
        super::super::validate::validate(&at, &mut own);
        own.found
    };
    // What no value has to do with is found anyway.
    let always = all.first().map(|point| complaints(point)).unwrap_or_default();
    let always: Vec<_> =
        always.into_iter().filter(|one| all.last().is_some_and(|last| complaints(last).contains(one))).collect();
    let mut told: Vec<KeyPath> = Vec::new();
    for point in &all {
        let Some(problem) = complaints(point).into_iter().find(|problem| !always.contains(problem)) else { continue };
        // The value that is last in its list is the more likely culprit of two.
        let blamed = point.iter().zip(&axes).max_by(|(one, axis), (other, beside)| {
            let rank = |value: f64, values: &[f64]| values.iter().position(|known| *known == value).unwrap_or(0) > 0;
            rank(one.1, &axis.values).cmp(&rank(other.1, &beside.values))
        });
        let Some(((variable, value), _)) = blamed else { continue };
        let list = path.key(variable.key());
        let at = match sweep.place(*variable, *value) {
            Some(index) => list.index(index),
            None => list,
        };
        if told.contains(&at) {
            continue;
        }
        let here = point.iter().map(|(variable, value)| format!("{} at {value}", variable.key()));
        let here = here.collect::<Vec<_>>().join(" and ");
        let mut complaint = Problem::value(&at, format!("with {here}: {}", problem.message));
        complaint.remedies = problem.remedies;
        problems.spoil(&at, complaint);
        told.push(at);
    }
}

impl SweepFile {
    /// Where in the file's own list a value stands.
    fn place(&self, variable: Variable, value: f64) -> Option<usize> {
        let unsorted = match variable {
            Variable::Workers => self.workers.iter().copied().map(f64::from).collect(),
            Variable::Locks => self.locks.iter().copied().map(f64::from).collect(),
            Variable::Nodes => self.nodes.iter().copied().map(f64::from).collect(),
            Variable::ArrivalRate => self.arrival_rate.clone(),
            Variable::Hold => self.hold.iter().map(|span| span.0.as_secs_f64() * 1e3).collect::<Vec<_>>(),
            Variable::SessionTimeout => self.session_timeout.iter().map(|span| span.0.as_secs_f64() * 1e3).collect(),
        };
        unsorted.iter().position(|known| *known == value)
    }
}
