//! `bench-runner report`: draws the report of a stored run again, from its `summary.json` alone.

use std::path::{Path, PathBuf};

use super::{Failure, print, styled_stdout};
use crate::cli::{Format, ReportArgs};
use crate::results::folder::{read_summary, replace};
use crate::results::summary::Summary;
use crate::{exit, report};

pub(super) fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let summary = read_summary(&args.run).map_err(|error| Failure::Usage(error.to_string()))?;
    let folder =
        if args.run.is_dir() { args.run.clone() } else { args.run.parent().map(Path::to_owned).unwrap_or_default() };
    let page = draw(&folder, &summary)?;
    show(&summary, args.format)?;
    eprintln!("report: {}", page.display());
    Ok(exit::DONE)
}

/// Writes `report.html` and `charts/` into `folder`; returns the page's path.
pub(super) fn draw(folder: &Path, summary: &Summary) -> Result<PathBuf, Failure> {
    let write =
        |file: &Path, content: &str| replace(file, |writer| std::io::Write::write_all(writer, content.as_bytes()));
    for (name, svg) in report::charts(summary) {
        write(&folder.join("charts").join(&name), &svg)?;
    }
    let page = folder.join("report.html");
    write(&page, &report::html(summary))?;
    Ok(page)
}

/// Prints the result.
pub(super) fn show(summary: &Summary, format: Format) -> Result<(), Failure> {
    match format {
        Format::Human => print(&report::terminal(summary, styled_stdout())),
        Format::Json => {
            let json = serde_json::to_string_pretty(summary).map_err(|error| Failure::Internal(error.to_string()))?;
            print(&format!("{json}\n"));
        }
    }
    Ok(())
}
