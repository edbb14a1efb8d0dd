//! What the commands that judge share: the rules from the command line, where the judgement goes, and its exit code.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::{Failure, print, styled_stdout};
use crate::cli::{GateFormat, JudgeArgs};
use crate::gate::history::Entry;
use crate::gate::verdict::Judgement;
use crate::gate::{Accepted, Verdict};
use crate::results::folder::replace;
use crate::results::summary::Summary;
use crate::scenario::GateFile;
use crate::{exit, report, stderr};

/// The history's name below the results.
const HISTORY: &str = "history.jsonl";

/// Where GitHub takes a job's summary from.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The changes that the command line accepts.
pub(super) fn accepted(args: &JudgeArgs) -> Result<Accepted, Failure> {
    let Some(path) = &args.accepted else { return Ok(Accepted::default()) };
    let refuse = |why: String| Failure::Usage(format!("cannot read the accepted changes {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    Accepted::parse(&text).map_err(refuse)
}

/// `[gate]` of the scenario that a run keeps.
pub(super) fn gate_of(summary: &Summary) -> Result<GateFile, Failure> {
    let refuse = |why: String| Failure::Usage(format!("[gate] of the run's scenario cannot be read: {why}"));
    let table: toml::Table = summary.settings.parse().map_err(|error: toml::de::Error| refuse(error.to_string()))?;
    match table.get("gate") {
        Some(gate) => gate.clone().try_into().map_err(|error: toml::de::Error| refuse(error.to_string())),
        None => Ok(GateFile::default()),
    }
}

/// Prints the judgement, writes its files into `folder`, and appends it to the job's summary where there is one.
pub(super) fn publish(
    judgement: &Judgement,
    sides: (&Summary, &Summary),
    format: GateFormat,
    folder: Option<&Path>,
) -> Result<u8, Failure> {
    let json = serde_json::to_string_pretty(judgement).map_err(|error| Failure::Unfinished(error.to_string()))? + "\n";
    let markdown = report::gate::markdown(judgement);
    if let Some(folder) = folder {
        let files = [
            ("gate.html", report::gate::page(judgement, sides.0, sides.1)),
            ("gate.json", json.clone()),
            ("gate.md", markdown.clone()),
            ("junit.xml", report::gate::junit(judgement)),
            ("benchmark.json", report::gate::benchmark(judgement)),
        ];
        for (name, content) in files {
            replace(&folder.join(name), |writer| writer.write_all(content.as_bytes()))?;
        }
        stderr::line(&format!("gate: {}", folder.join("gate.html").display()));
    }
    if let Some(path) = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()) {
        let appended = OpenOptions::new().append(true).create(true).open(&path);
        let appended = appended.and_then(|mut file| file.write_all(markdown.as_bytes()));
        if let Err(error) = appended {
            // The judgement is not the worse for it.
            stderr::line(&format!("warning: cannot append to {STEP_SUMMARY}: {error}"));
        }
    }
    print(&match format {
        GateFormat::Human => report::gate::terminal(judgement, styled_stdout()),
        GateFormat::Json => json,
        GateFormat::Markdown => markdown,
        GateFormat::Junit => report::gate::junit(judgement),
        GateFormat::Benchmark => report::gate::benchmark(judgement),
    })?;
    Ok(exit_code(judgement.verdict))
}

/// Appends the judgement to the history below `out`.
pub(super) fn remember(out: &Path, judgement: &Judgement, candidate: &Summary) -> Result<(), Failure> {
    let path = out.join(HISTORY);
    let line = serde_json::to_string(&Entry::of(judgement, candidate));
    let line = line.map_err(|error| Failure::Unfinished(error.to_string()))? + "\n";
    // In one write, so that two gates at once do not mix their lines.
    let appended = OpenOptions::new().append(true).create(true).open(&path);
    let appended = appended.and_then(|mut file| file.write_all(line.as_bytes()));
    appended.map_err(|error| Failure::Unfinished(format!("cannot append to {}: {error}", path.display())))
}

/// The exit code of a verdict.
fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Improved | Verdict::Unchanged => exit::DONE,
        Verdict::Regressed => exit::REGRESSION,
        Verdict::Inconclusive => exit::INCONCLUSIVE,
        Verdict::NotComparable => exit::NOT_COMPARABLE,
    }
}
