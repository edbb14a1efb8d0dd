//! The format as JSON Schema, for editors that complete and check a scenario while it is written.
//!
//! Renewed by `bench-runner schema scenario > scenarios/schema.json`; a test compares the committed file with this.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::file::ScenarioFile;

/// The JSON Schema of the scenario format.
///
/// Draft 7, because editors of TOML know no later one.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft07().for_deserialize().with_transform(for_toml);
    let mut schema = settings.into_generator().into_root_schema_for::<ScenarioFile>().to_value();
    // Absent arms are an empty list to the reader, so that it can say more than "missing"; to an author they are required.
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.push("arm".into());
    }
    if let Some(arm) = schema.pointer_mut("/properties/arm").and_then(Value::as_object_mut) {
        arm.remove("default");
    }
    schema
}

/// [`schema`] as it is committed: indented, with a line break at the end.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

/// TOML has no null: a key that may be absent is simply not required. Formats such as `uint32` are of Rust, not of JSON
/// Schema, and some validators warn about them.
fn for_toml(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    schemars::transform::transform_subschemas(&mut for_toml, schema);
}
