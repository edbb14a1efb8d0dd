//! Tables that only some runs have: begun by the first trial that has rows for them.

use std::fs::OpenOptions;
use std::path::Path;

use serde::Serialize;

/// Appends rows to the table at `path`, which the first of them begins with the names of its columns.
///
/// # Errors
///
/// What writing answers.
pub fn append<R: Serialize>(path: &Path, columns: &[&str], rows: impl Iterator<Item = R>) -> csv::Result<()> {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    let begins = file.metadata()?.len() == 0;
    // Rows are tuples, which have no names of their own.
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(file);
    if begins {
        writer.write_record(columns)?;
    }
    rows.try_for_each(|row| writer.serialize(row))?;
    writer.flush()?;
    Ok(())
}
