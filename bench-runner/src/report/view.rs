//! The arms as the report sees them: with a place in the palette and a label that is safe to show.

use crate::measure::figures::Arm;
use crate::report::format;
use crate::results::summary::Summary;

/// An arm with its place among the arms, which decides its colour, dash and shape everywhere.
pub(super) struct ArmView<'a> {
    /// Place among the arms of the summary, from 0.
    pub index: usize,
    /// Its label without control characters.
    pub label: String,
    /// Its figures.
    pub arm: &'a Arm,
}

/// All arms of a summary, in its order.
pub(super) fn arms(summary: &Summary) -> Vec<ArmView<'_>> {
    let indexed = summary.arms.iter().enumerate();
    indexed.map(|(index, arm)| ArmView { index, label: format::plain(&arm.label), arm }).collect()
}
