//! The scenario at one point of its sweep.

use super::super::delay::DelayText;
use super::super::duration::Span;
use super::super::file::{ArrivalsFile, ScenarioFile, WorkersFile};
use super::super::problem::Problems;
use super::super::read::read;
use super::super::resolve::resolve;
use super::super::settings::Scenario;
use super::Variable;

impl Scenario {
    /// The scenario with these values in the place of its own: in `[workers]` and in every arm; what varies besides has its first
    /// value. Name, text and checksum stay those of the sweep. `None` for values that it was not checked for.
    pub fn at(&self, values: &[(Variable, f64)]) -> Option<Scenario> {
        let document = self.text.parse::<toml::Table>().ok()?;
        let file = read(document, &mut Problems::default())?;
        let parts = resolve(&ScenarioFile { sweep: None, ..with(&at_first_point(&file), values) })?;
        Some(Scenario { name: self.name.clone(), text: self.text.clone(), sha256: self.sha256.clone(), ..parts })
    }
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
