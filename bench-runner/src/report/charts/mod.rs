//! The charts: one a file, each of which says what it shows, what is drawn, and the table behind it.

mod acquire;
mod bystander;
mod fan_out;
mod handoff;
mod heat_map;
mod nodes;
pub(super) mod percentiles;
mod rates;
mod response_bytes;
mod spike;
mod stages;

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

    /// What is drawn.
    ///
    /// # Errors
    /// Where there is nothing to draw: a sentence that says why.
    fn picture(&self, arms: &[ArmView]) -> Result<Picture, String>;

    /// The figures behind the picture.
    fn tables(&self, arms: &[ArmView]) -> Vec<Table>;
}

/// Every chart, in the order of the report.
pub(super) fn all() -> [&'static dyn Chart; 10] {
    [
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
    ]
}

/// The charts of a run as SVG documents with their file names, such as `fan-out.svg`, for the run's folder. Charts whose
/// data are missing are not among them; the report says why.
pub fn charts(summary: &Summary) -> Vec<(String, String)> {
    let arms = arms(summary);
    all()
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

/// `label of the arm`, for the first column of a table.
fn first(view: &ArmView) -> String {
    view.label.clone()
}
