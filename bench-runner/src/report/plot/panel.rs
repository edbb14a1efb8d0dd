//! What a chart may ask for.

use super::axis::Axis;

/// A chart: panels of one kind of thing, with one key.
pub(in crate::report) struct Picture {
    /// Panels beside one another where there is room; on a narrow screen they stand below one another.
    pub columns: usize,
    /// The key above the panels.
    pub key: Key,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

/// The key above the panels.
pub(in crate::report) enum Key {
    /// Colour, dash and shape of each of these arms.
    Arms(Vec<usize>),
    /// The same with words of the chart's own.
    Named(Vec<(usize, String)>),
    /// The ramp of the heat map, up to this many grants in a cell.
    Heat(u64),
}

/// One panel.
pub(in crate::report) enum Panel {
    /// Marks over two axes of numbers.
    Plot(Plot),
    /// Rows with names over one axis of numbers.
    Rows(Rows),
}

/// Marks over two axes of numbers.
pub(in crate::report) struct Plot {
    /// Its heading; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Where a dashed vertical rule stands.
    pub rule: Option<f64>,
    /// What is drawn, the last on top.
    pub marks: Vec<Mark>,
}

/// Something drawn over two axes. Points that are not finite or lie outside the axes are left out.
pub(in crate::report) enum Mark {
    /// A line with a few of the arm's shapes on it.
    Line {
        /// Place of the arm.
        arm: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
    },
    /// A thin line without shapes, of which many stand beside one another.
    Thread {
        /// Place of the arm.
        arm: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
    },
    /// The arm's shape at each point.
    Dots {
        /// Place of the arm.
        arm: usize,
        /// In any order.
        points: Vec<(f64, f64)>,
    },
    /// A stem from the ground to each point, with the arm's shape on top.
    Stems {
        /// Place of the arm.
        arm: usize,
        /// In any order.
        points: Vec<(f64, f64)>,
    },
    /// Rectangles of the heat map.
    Heat(Vec<HeatCell>),
}

/// One rectangle of a heat map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct HeatCell {
    /// Left and right edge.
    pub x: (f64, f64),
    /// Lower and upper edge.
    pub y: (f64, f64),
    /// Place in the ramp, from 0.
    pub level: usize,
}

/// Rows with names over one axis of numbers.
pub(in crate::report) struct Rows {
    /// Its heading; may be empty.
    pub title: String,
    /// The axis.
    pub x: Axis,
    /// The rows, from the top.
    pub groups: Vec<Group>,
}

/// A name and the bars beneath it.
pub(in crate::report) struct Group {
    /// The name.
    pub name: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// One bar.
pub(in crate::report) struct Bar {
    /// Place of the arm, for colour and shape.
    pub arm: usize,
    /// Where a range begins; `None` is a plain bar from the axis's start.
    pub from: Option<f64>,
    /// Where it ends.
    pub to: f64,
    /// What stands beside it.
    pub text: String,
}
