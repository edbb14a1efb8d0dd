//! `bench-runner history`: each metric over the gate runs.

use std::io::Write;

use super::{Failure, print};
use crate::cli::HistoryArgs;
use crate::gate::history::{parse, series};
use crate::results::folder::replace;
use crate::{exit, report, stderr};

pub(super) fn history(args: &HistoryArgs) -> Result<u8, Failure> {
    let refuse = |why: String| Failure::Usage(format!("cannot read the history {}: {why}", args.history.display()));
    let text = std::fs::read_to_string(&args.history).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            refuse("there is none yet; each `bench-runner gate` adds a line to it".to_owned())
        }
        _ => refuse(error.to_string()),
    })?;
    let mut entries = parse(&text).map_err(refuse)?;
    if let Some(scenario) = &args.scenario {
        entries.retain(|entry| entry.scenario == *scenario);
    }
    let all = series(&entries);
    if let Some(page) = &args.page {
        let html = report::gate::history_page(&all);
        replace(page, |writer| writer.write_all(html.as_bytes()))?;
        stderr::line(&format!("history: {}", page.display()));
    }
    print(&report::gate::history_terminal(&all))?;
    Ok(exit::DONE)
}
