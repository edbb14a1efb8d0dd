//! The report: one [`Summary`](crate::results::summary::Summary) in, what people look at out. Nothing else is read, so that
//! a report can be drawn again a year later.
//!
//! | what | where |
//! |---|---|
//! | `report.html`, one file, opens offline | [`html()`], in `html/` |
//! | `charts/*.svg` | [`charts()`], in `charts/`: one chart a file, which says *what* is drawn; `plot/` says how |
//! | the tables on the terminal | [`terminal()`], in `terminal.rs` |
//! | the sentence that answers the question | [`headline()`], in `headline.rs` |
//!
//! What a gate said is rendered in [`gate`], what came of a sweep in [`capacity`], what a verification found in [`verification()`].
//!
//! Both faces share the words and the numbers: `format` renders values, `metrics` is the table of the arms side by side,
//! `barriers` puts barriers beside those of Hunt et al. 2010, `books` reconciles the three counts of notifications, `controls` explains arms that are wrong on purpose, `notices` says what the reader has to know before trusting them.

mod barriers;
mod books;
pub mod capacity;
mod charts;
mod controls;
pub mod format;
pub mod gate;
mod headline;
mod html;
mod metrics;
mod notices;
mod palette;
mod plot;
mod table;
mod terminal;
mod verification;
mod view;

pub use charts::charts;
pub use headline::{Headline, headline};
pub use html::html;
pub use notices::violations;
pub use terminal::{COLUMNS, terminal};
pub use verification::verification;
