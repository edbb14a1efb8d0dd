//! `capacity.json` as JSON Schema, for those who read the results with other tools.
//!
//! Renewed by `bench-runner schema capacity > results/capacity.schema.json`; a test compares the committed file with this.

use schemars::generate::SchemaSettings;

use super::document::Capacity;

/// The JSON Schema of `capacity.json` (draft 2020-12) as it is committed: indented, with a line break at the end.
pub fn capacity_schema_text() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    format!("{:#}\n", settings.into_generator().into_root_schema_for::<Capacity>().to_value())
}
