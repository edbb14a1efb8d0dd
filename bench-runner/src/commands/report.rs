//! `bench-runner report`: draws the report of a stored run again, from its `summary.json` alone; of a sweep, from its
//! `capacity.json`.

use std::path::Path;

use super::{Failure, print, styled_stdout};
use crate::capacity::store::read_capacity;
use crate::cli::{Format, ReportArgs};
use crate::results::FolderError;
use crate::results::folder::{read_summary, replace};
use crate::results::summary::Summary;
use crate::{exit, report, stderr};

/// The page's name in a run's folder.
pub(super) const REPORT: &str = "report.html";

pub(super) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let usage = |error: FolderError| Failure::Usage(error.to_string());
    if let Some(capacity) = read_capacity(&args.run).map_err(usage)? {
        let folder = if args.run.is_dir() { &args.run } else { args.run.parent().unwrap_or(Path::new("")) };
        super::capacity::draw(folder, &capacity).map_err(usage)?;
        super::capacity::show(&capacity, args.format)?;
        stderr::line(&format!("report: {}", folder.join(REPORT).display()));
        return Ok(exit::DONE);
    }
    let summary = read_summary(&args.run).map_err(usage)?;
    let folder = if args.run.is_dir() { &args.run } else { args.run.parent().unwrap_or(Path::new("")) };
    draw(folder, &summary).map_err(usage)?;
    show(&summary, args.format)?;
    stderr::line(&format!("report: {}", folder.join(REPORT).display()));
    Ok(exit::DONE)
}

/// Writes `report.html` and `charts/` into `folder`.
pub(super) fn draw(folder: &Path, summary: &Summary) -> Result<(), FolderError> {
    let write =
        |file: &Path, content: &str| replace(file, |writer| std::io::Write::write_all(writer, content.as_bytes()));
    for (name, svg) in report::charts(summary) {
        write(&folder.join("charts").join(&name), &svg)?;
    }
    write(&folder.join(REPORT), &report::html(summary))
}

/// Prints the result.
pub(super) fn show(summary: &Summary, format: Format) -> Result<(), Failure> {
    match format {
        Format::Human => print(&report::terminal(summary, styled_stdout())),
        Format::Json => {
            let json = serde_json::to_string_pretty(summary).map_err(|error| Failure::Unfinished(error.to_string()))?;
            print(&format!("{json}\n"))
        }
    }
}
