//! What a chart may ask for.

use super::axis::Axis;
use crate::report::palette::Phase;

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
    /// Signs that mean the same in every panel, each with its words.
    Signs(Vec<(Sign, &'static str)>),
    /// The same with words of the chart's own.
    Named(Vec<(usize, String)>),
    /// The ramp of the heat map, up to this many grants in a cell.
    Heat(u64),
    /// The same ramp for another figure.
    Ramp {
        /// What it shows.
        name: String,
        /// The palest cell.
        low: String,
        /// The darkest one.
        high: String,
    },
    /// Colour and shape of each of these curves, which are solid where measured and dashed beyond.
    Curves(Vec<(usize, String)>),
}

/// A sign of the key. Where panels or rows are of one arm each, the arm's colour stands for nothing, and the key is grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Sign {
    /// A line.
    Line,
    /// Columns behind a line.
    Columns,
    /// A dashed upright rule.
    Rule,
    /// A band behind everything; of mending, a strip along the upper edge.
    Band(Phase),
    /// A part of a bar.
    Part(Phase),
    /// A bracket over a bar.
    Bracket,
    /// Stretches in alternating tints.
    Stretches,
    /// Where two stretches overlap.
    Overlap,
    /// A needle in a lane.
    Needle,
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
    /// Where dashed vertical rules stand.
    pub rules: Vec<f64>,
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
    /// A solid flight of steps, one from each point to the right; in panels of one arm, dashes would only hide them.
    Steps {
        /// Place of the arm.
        arm: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// How wide a step is.
        width: f64,
    },
    /// A pale column from the ground to each point, from the point's place to the right.
    Columns {
        /// Place of the arm.
        arm: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// How wide a column is.
        width: f64,
    },
    /// Stretches of failovers, behind everything.
    Bands(Vec<Band>),
    /// Rectangles of the heat map.
    Heat(Vec<HeatCell>),
    /// Texts in the middle of cells, each with the place of its cell in the ramp.
    Texts(Vec<(f64, f64, String, usize)>),
    /// A pale area between a lower and an upper edge.
    Area {
        /// Place of the arm.
        arm: usize,
        /// Place, lower and upper edge, from left to right.
        points: Vec<(f64, f64, f64)>,
    },
    /// A fitted curve; beyond what was measured it is dashed, and says so.
    Curve {
        /// Place of the arm.
        arm: usize,
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// Whether it is beyond what was measured.
        beyond: bool,
    },
    /// A thin upright line from a lower to an upper end at each place.
    Whiskers {
        /// Place of the arm.
        arm: usize,
        /// Place, lower and upper end.
        points: Vec<(f64, f64, f64)>,
    },
    /// A line across the panel with its name.
    Level {
        /// Its height.
        at: f64,
        /// Its name.
        text: String,
    },
}

/// A stretch of a failover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Band {
    /// Left and right edge.
    pub x: (f64, f64),
    /// Which stretch.
    pub phase: Phase,
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
    /// What it looks like.
    pub form: Form,
    /// Where it ends.
    pub to: f64,
    /// What stands beside it.
    pub text: String,
}

/// What a bar looks like.
pub(in crate::report) enum Form {
    /// A plain bar from the axis's start.
    Plain,
    /// A range that begins here.
    Range(f64),
    /// Nobody has noticed, from the axis's start on; then takeover.
    Phases {
        /// Where the takeover begins.
        middle: f64,
        /// What `middle` ought to lie between.
        bounds: Option<(f64, f64)>,
    },
    /// A lane of stretches, on a thin line from the axis's start.
    Lane {
        /// Stretches in alternating tints, from left to right.
        stretches: Vec<(f64, f64)>,
        /// Where stretches overlap.
        overlaps: Vec<(f64, f64)>,
        /// Where needles stand.
        needles: Vec<f64>,
        /// Where dashed rules stand.
        rules: Vec<f64>,
    },
}
