//! A run's folder: `results/<scenario>/<UTC time>/`.
//!
//! | file | module |
//! |---|---|
//! | `summary.json` | [`summary`]: everything that the report shows; [`schema`] is its JSON Schema |
//! | `environment.json` | [`environment`] |
//! | (its content) | [`compose`] puts it together, [`warnings`] says what to know before trusting it |
//! | `acquisitions.csv`, `timeline.csv` | [`tables`] |
//! | `passages.csv`, where there are barriers | [`passages`] |
//! | `updates.csv`, where holders keep a shared counter | [`updates`] |
//! | `histograms/*.hlog`, `histograms/*.hgrm` | [`histograms`] |
//! | `<scenario>.toml`, `report.html`, `charts/*.svg` | written through [`folder`], which keeps it all together |

mod appended;
pub mod compose;
pub mod environment;
pub mod folder;
pub mod histograms;
pub mod passages;
pub mod schema;
pub mod summary;
pub mod tables;
pub mod updates;
pub mod warnings;

pub use folder::{Folder, FolderError};
