//! What came of a sweep, for people: one [`Capacity`] in, text out.
//!
//! | what | where |
//! |---|---|
//! | text on the terminal, the answer in its first line | [`terminal()`] |
//! | a page with the curves | [`page()`]; `curves` and `heat` say what is drawn |
//! | the charts as SVG files | [`charts`] |
//!
//! `words` has places, figures, laws and answers in words, `tables` the tables of both faces, `slopes` what each further worker
//! costs.

mod curves;
mod heat;
mod page;
mod slopes;
mod tables;
mod terminal;
mod words;

use crate::capacity::Capacity;
use crate::report::plot::{Width, draw};

pub use page::page;
pub use terminal::terminal;
pub use words::place;

/// The charts of a sweep as SVG documents with their file names.
pub fn charts(capacity: &Capacity) -> Vec<(String, String)> {
    let two = heat::picture(capacity).map(|picture| ("two-variables".to_owned(), picture));
    let each = curves::figures(capacity).into_iter().filter_map(|figure| {
        let picture = curves::picture(capacity, &figure).ok()?;
        Some((curves::file_name(&figure), picture))
    });
    let drawn = two.into_iter().chain(each).filter_map(|(name, picture)| {
        let svg = draw(&picture, &[], Width::Wide).ok()?;
        Some((format!("{name}.svg"), svg))
    });
    drawn.collect()
}
