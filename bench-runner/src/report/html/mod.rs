//! The report as one HTML file: no script, no request, no font to load; the theme follows the reader's system.
//!
//! `page` is the whole in order; `answer` what stands first; `tables` the arms side by side, the books and safety; `faults`
//! what was broken; `figures` the charts with the tables behind them; `facts` what was run, where and how it was measured. `style.css` is the look.
//! Templates are maud's: checked when the crate is built, and whatever is put into one is escaped.

mod answer;
mod facts;
mod faults;
mod figures;
mod page;
pub(super) mod proof;
mod tables;

pub(super) use figures::inline;
pub use page::html;
pub(super) use tables::table;
