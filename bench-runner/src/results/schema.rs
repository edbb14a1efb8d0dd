//! `summary.json` as JSON Schema, for those who read the results with other tools.
//!
//! Renewed by `bench-runner schema summary > results/summary.schema.json`; a test compares the committed file with this.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::summary::Summary;

/// The JSON Schema of `summary.json` (draft 2020-12), as it is written: every key is there, a figure that was not measured
/// is `null`.
pub fn summary_schema() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Summary>().to_value()
}

/// [`summary_schema`] as it is committed: indented, with a line break at the end.
pub fn summary_schema_text() -> String {
    format!("{:#}\n", summary_schema())
}
