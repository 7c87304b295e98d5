//! What does an editor need to know to complete and check a configuration file?

use super::written;
use serde_json::{Map, Value, json};

/// The JSON schema of `cudalint.toml`, as text. Draft 7 is what editors for TOML understand.
#[must_use]
pub fn schema() -> String {
    let properties: Map<String, Value> = written::top_keys().collect();
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "cudalint.toml, version 1",
        "description": "Settings of `cudalint` for a folder and those below. Keys may be added within version 1; \
                        none is renamed or removed.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    // Whether a map keeps its order or sorts its keys depends on who else is built with `serde_json`.
    schema.sort_all_objects();
    format!("{schema:#}\n")
}
