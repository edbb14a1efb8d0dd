//! A stored baseline: the summary of a run, sealed with a checksum, so that one which was cut off or edited by hand is found
//! out instead of believed.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::measure::figures::Series;
use crate::results::summary::{SCHEMA_VERSION, Summary};

/// What a baseline says that it is.
const FORMAT: &str = "bench-runner gate baseline";

/// What stands in the checksum's place while it is worked out.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    /// Of the whole text, with zeros in the checksum's own place and without carriage returns, which a checkout may add.
    sha256: String,
    summary: Summary,
}

/// The part of it that says how to read the rest.
#[derive(Deserialize)]
struct Head {
    format: String,
    sha256: String,
    summary: Format,
}

#[derive(Deserialize)]
struct Format {
    schema_version: u32,
}

/// A baseline that cannot be used, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// The file ends in the middle.
    #[error(
        "the baseline is truncated: it ends in the middle ({0}); restore it, or write it again with --update-baseline"
    )]
    Truncated(String),
    /// It is something else.
    #[error("this is no baseline of bench-runner ({0}); write one with --update-baseline")]
    NotOne(String),
    /// Its checksum does not fit.
    #[error(
        "the baseline was edited by hand or damaged: its checksum does not fit; restore it, or write it again with --update-baseline (to accept a change, use --accepted)"
    )]
    Edited,
    /// It is of a later version.
    #[error(
        "the baseline is of version {0} of the format, and this bench-runner reads up to {SCHEMA_VERSION}; use a newer one"
    )]
    Newer(u32),
}

/// The text of a baseline. The series behind the charts are left out, but for the percentiles that the gate's page draws.
///
/// # Errors
///
/// Those of `serde_json`; a summary gives it no reason.
pub fn to_text(summary: &Summary) -> serde_json::Result<String> {
    let mut summary = summary.clone();
    for arm in &mut summary.arms {
        let percentiles = std::mem::take(&mut arm.series.percentiles);
        arm.series = Series { percentiles, ..Series::default() };
    }
    let file = File { format: FORMAT.to_owned(), sha256: BLANK.to_owned(), summary };
    let text = serde_json::to_string_pretty(&file)? + "\n";
    let sha256 = checksum(&text);
    Ok(text.replacen(BLANK, &sha256, 1))
}

/// Reads the text of a baseline.
///
/// # Errors
///
/// [`BaselineError`].
pub fn from_text(text: &str) -> Result<Summary, BaselineError> {
    let refuse = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Eof => BaselineError::Truncated(error.to_string()),
        _ => BaselineError::NotOne(error.to_string()),
    };
    let head: Head = serde_json::from_str(text).map_err(refuse)?;
    if head.format != FORMAT {
        return Err(BaselineError::NotOne(format!("its format is `{}`", head.format)));
    }
    if head.summary.schema_version > SCHEMA_VERSION {
        return Err(BaselineError::Newer(head.summary.schema_version));
    }
    if head.sha256.len() != BLANK.len() || checksum(&text.replacen(&head.sha256, BLANK, 1)) != head.sha256 {
        return Err(BaselineError::Edited);
    }
    let file: File = serde_json::from_str(text).map_err(refuse)?;
    Ok(file.summary)
}

fn checksum(text: &str) -> String {
    let text = text.replace('\r', "");
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
