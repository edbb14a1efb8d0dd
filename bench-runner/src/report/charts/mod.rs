//! The charts: one a file, each of which says what it shows, what is drawn, and the table behind it.

mod acquire;
mod beliefs;
mod bystander;
mod detection;
mod door;
mod failover;
mod failover_fan_out;
mod fan_out;
mod growth;
mod handoff;
mod heat_map;
mod leadership;
mod nodes;
pub(super) mod percentiles;
mod rates;
mod release_skew;
mod response_bytes;
mod spike;
mod stages;

pub(super) use detection::is_crash;

use crate::measure::figures::Failover;
use crate::report::plot::{Picture, Width, draw};
use crate::report::table::Table;
use crate::report::view::{ArmView, arms};
use crate::results::summary::Summary;

/// A chart.
pub(super) trait Chart {
    /// Name of its file, without the extension.
    fn name(&self) -> &'static str;

    /// Its heading.
    fn title(&self) -> &'static str;

    /// What it shows and how to read it.
    fn caption(&self) -> &'static str;

    /// Whether a run of these arms has to do with what it shows; where it has not, nobody misses it.
    fn applies(&self, _arms: &[ArmView]) -> bool {
        true
    }

    /// What is drawn.
    ///
    /// # Errors
    /// Where there is nothing to draw: a sentence that says why.
    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String>;

    /// The figures behind the picture.
    fn tables(&self, arms: &[ArmView]) -> Vec<Table>;
}

/// Every chart of locks and elections that has to do with these arms, in the order of the report.
fn all(arms: &[ArmView]) -> impl Iterator<Item = &'static dyn Chart> {
    let all: [&'static dyn Chart; 15] = [
        &beliefs::Beliefs,
        &failover::Timeline,
        &detection::Detection,
        &failover_fan_out::FailoverFanOut,
        &leadership::Leaderships,
        &fan_out::FanOut,
        &spike::Spike,
        &acquire::Acquire,
        &heat_map::HeatMap,
        &handoff::Handoff,
        &stages::Stages,
        &response_bytes::ResponseBytes,
        &bystander::Bystander,
        &nodes::Nodes,
        &rates::Rates,
    ];
    all.into_iter().filter(|chart| chart.applies(arms))
}

/// The charts of a run with these arms, in the order of the report: those of barriers where there are any, and those of locks
/// unless there is nothing else.
pub(super) fn of(arms: &[ArmView]) -> Vec<&'static dyn Chart> {
    let are_barriers = |view: &ArmView| view.arm.recipe.is_barrier();
    if !arms.iter().any(are_barriers) {
        return all(arms).collect();
    }
    let mut charts: Vec<&'static dyn Chart> = vec![&growth::GrowthChart, &door::Door, &release_skew::ReleaseSkew];
    if arms.iter().all(are_barriers) {
        charts.extend([&response_bytes::ResponseBytes as &dyn Chart, &bystander::Bystander, &nodes::Nodes]);
    } else {
        charts.extend(all(arms));
    }
    charts
}

/// The charts of a run as SVG documents with their file names, such as `fan-out.svg`, for the run's folder. Charts whose
/// data are missing are not among them; the report says why.
pub fn charts(summary: &Summary) -> Vec<(String, String)> {
    let arms = arms(summary);
    of(&arms)
        .into_iter()
        .filter_map(|chart| {
            let picture = chart.picture(&arms).ok()?;
            let svg = draw(&picture, &arms, Width::Wide).ok()?;
            // A name for readers that speak, and for the window's title.
            let title = maud::html! { title { (chart.title()) } }.into_string();
            Some((format!("{}.svg", chart.name()), svg.replacen(">\n", &format!(">\n{title}\n"), 1)))
        })
        .collect()
}

/// The places of the arms for which `has` holds.
fn places(arms: &[ArmView], has: impl Fn(&ArmView) -> bool) -> Vec<usize> {
    arms.iter().filter(|view| has(view)).map(|view| view.index).collect()
}

/// Whether any of these arms had faults to survive.
fn any_faults(arms: &[ArmView]) -> bool {
    arms.iter().any(|view| view.arm.failovers.is_some())
}

/// What came of the faults of the first trial that were carried out.
fn first_failovers<'a>(view: &ArmView<'a>) -> impl Iterator<Item = &'a Failover> {
    let first = view.arm.trial.first().into_iter().flat_map(|trial| &trial.failovers);
    first.filter(|failover| failover.skipped.is_none())
}

/// When the faults of the first trial struck, in seconds since it began; each fault once, however many holders it struck.
fn struck(view: &ArmView) -> Vec<f64> {
    let mut moments: Vec<f64> = first_failovers(view).map(|failover| failover.seconds).collect();
    moments.dedup();
    moments
}

/// `label of the arm`, for the first column of a table.
fn first(view: &ArmView) -> String {
    view.label.clone()
}
