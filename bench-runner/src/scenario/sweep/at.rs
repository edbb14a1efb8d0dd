//! The scenario at one point of its sweep.

use super::super::delay::DelayText;
use super::super::duration::Span;
use super::super::file::{ArrivalsFile, ScenarioFile, WorkersFile};
use super::super::problem::Problems;
use super::super::read::read;
use super::super::resolve::resolve;
use super::super::settings::Scenario;
use super::{Axis, Variable};

impl Scenario {
    /// The scenario with these values in the place of its own: in `[workers]` and in every arm; what varies besides has its first
    /// value. Name, text and checksum stay those of the sweep. `None` for values that it was not checked for.
    pub fn at(&self, values: &[(Variable, f64)]) -> Option<Scenario> {
        let document = self.text.parse::<toml::Table>().ok()?;
        let file = read(document, &mut Problems::default())?;
        let mut parts = resolve(&ScenarioFile { sweep: None, ..with(&at_first_point(&file), values) })?;
        // What the command line allows stands in no text.
        parts.ensemble.external.clone_from(&self.ensemble.external);
        Some(Scenario { name: self.name.clone(), text: self.text.clone(), sha256: self.sha256.clone(), ..parts })
    }

    /// The scenario at the ends of what its sweep varies, one or two lists: what is hardest of all its points is hardest at one of
    /// these. Itself where it has no sweep.
    pub fn extremes(&self) -> Vec<Scenario> {
        let Some(sweep) = &self.sweep else { return vec![self.clone()] };
        let ends = |axis: &Axis| Axis {
            values: [axis.values.first(), axis.values.last()].into_iter().flatten().copied().collect(),
            ..*axis
        };
        let ends: Vec<Axis> = std::iter::once(&sweep.first).chain(&sweep.second).map(ends).collect();
        points(&ends).iter().filter_map(|point| self.at(point)).collect()
    }
}

/// Every combination of the axes' values.
pub(super) fn points(axes: &[Axis]) -> Vec<Vec<(Variable, f64)>> {
    let mut points: Vec<Vec<(Variable, f64)>> = vec![Vec::new()];
    for axis in axes {
        let longer = |point: &Vec<_>| {
            let point = point.clone();
            axis.values.iter().map(move |value| [point.clone(), vec![(axis.variable, *value)]].concat())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// The file with the first values of its sweep, for what is judged by arm; the file itself without a sweep.
pub fn at_first_point(file: &ScenarioFile) -> ScenarioFile {
    let axes = file.sweep.iter().flat_map(|sweep| sweep.axes());
    let first: Vec<_> = axes.filter_map(|axis| Some((axis.variable, *axis.values.first()?))).collect();
    with(file, &first)
}

/// The file with these values.
pub(super) fn with(file: &ScenarioFile, values: &[(Variable, f64)]) -> ScenarioFile {
    let mut file = file.clone();
    for (variable, value) in values {
        // Counts are whole and small; the cast keeps them as they are.
        let whole = value.round() as u32;
        let count = Some(whole);
        let span = Span(std::time::Duration::from_nanos((value * 1e6).round() as u64));
        let mut each = |change: &dyn Fn(&mut WorkersFile)| {
            change(&mut file.workers);
            file.arm.iter_mut().for_each(|arm| change(&mut arm.workers));
        };
        match variable {
            Variable::Workers => each(&|workers| workers.count = count),
            Variable::Locks => each(&|workers| workers.locks = count),
            Variable::Hold => each(&|workers| workers.hold = Some(DelayText::Fixed(span))),
            Variable::SessionTimeout => each(&|workers| workers.session_timeout = Some(span)),
            Variable::Nodes => file.ensemble.nodes = whole,
            Variable::ArrivalRate => {
                let base = file.workers.arrivals.unwrap_or_default();
                let rate = Some(*value);
                file.workers.arrivals = Some(ArrivalsFile { rate, ..base });
                for arm in &mut file.arm {
                    arm.workers.arrivals = arm.workers.arrivals.map(|own| ArrivalsFile { rate, ..own });
                }
            }
        }
    }
    file
}
