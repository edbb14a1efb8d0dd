//! What a gate said, for people and for machines: one [`Judgement`](crate::gate::Judgement) in, text out.
//!
//! | what | where |
//! |---|---|
//! | a table on the terminal | [`terminal()`] |
//! | Markdown, for the summary of a job | [`markdown()`] |
//! | JUnit's XML, for the list of tests that CI systems show | [`junit()`] |
//! | the JSON of github-action-benchmark | [`benchmark()`] |
//! | a page with the two distributions of each metric over one another | [`page()`], drawn by `distributions` |
//! | the history of a metric, with its change points | [`history_terminal`], [`history_page`] |
//!
//! `rows` renders the figures for all of them.

mod benchmark;
mod distributions;
mod history;
mod junit;
mod markdown;
mod page;
mod rows;
mod terminal;

pub use benchmark::benchmark;
pub use history::{history_page, history_terminal};
pub use junit::junit;
pub use markdown::markdown;
pub(super) use page::document;
pub use page::page;
pub use terminal::terminal;
