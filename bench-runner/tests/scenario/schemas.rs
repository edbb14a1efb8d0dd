//! The committed JSON Schemas.

use bench_runner::results::schema::summary_schema_text;
use bench_runner::scenario::{schema, schema_text};

use super::{SMALLEST, repository, valid};

fn assert_fresh(path: &str, text: &str, command: &str) {
    let committed = std::fs::read_to_string(repository(path)).unwrap_or_default();
    assert!(committed == text, "{path} is not what the types say now; renew it with: {command}");
}

#[test]
fn scenario_schema_is_fresh() {
    assert_fresh("scenarios/schema.json", &schema_text(), "bench-runner schema scenario > scenarios/schema.json");
}

#[test]
fn summary_schema_is_fresh() {
    let command = "bench-runner schema summary > results/summary.schema.json";
    assert_fresh("results/summary.schema.json", &summary_schema_text(), command);
}

/// The defaults of `[workers]` are written twice, for an arm that is silent is not an arm that asks for the default.
#[test]
fn worker_defaults_are_those_in_the_schema() {
    let schema = schema();
    let default = |key: &str| schema["definitions"]["Workers"]["properties"][key]["default"].clone();
    let mut text = SMALLEST.replace("count = 2\n", "count = 2\n<defaults>");
    let mut lines = String::new();
    for key in ["locks", "mode", "hold", "think", "connect_concurrency", "telemetry"] {
        assert!(!default(key).is_null(), "{key}");
        lines += &format!("{key} = {}\n", default(key));
    }
    text = text.replace("<defaults>", &lines);
    assert_eq!(valid(&text, &[]).arms, valid(SMALLEST, &[]).arms);
}

/// Editors show the descriptions beside the keys: none may be missing.
#[test]
fn every_key_has_a_description() {
    let schema = schema();
    let definitions = schema["definitions"].as_object().expect("there are definitions");
    let types = definitions.iter().map(|(name, value)| (name.as_str(), value)).chain([("scenario", &schema)]);
    let mut keys = 0;
    for (name, value) in types {
        assert!(value["description"].is_string(), "{name}");
        for (key, property) in value["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{key} of {name}");
            keys += 1;
        }
    }
    assert!(keys > 30, "{keys}");
}
