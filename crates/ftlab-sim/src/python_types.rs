//! What Python has of options and results: the parts of a run from the schema of results.

use crate::python_options::{drive_file, run_file};
use crate::result::schema;
use serde_json::Value;

const HEAD: &str = r#""""The parts of a run, from the schema of results.

Written by ``cargo run -p ftlab-sim --example python_types``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NESTED", "RunParts"]


class RunParts:
    """The parts of the result of one FTL, with their types."""

"#;

const TAIL: &str = r#"

NESTED = frozenset(
    name for name, kind in RunParts.__annotations__.items() if kind.startswith(("dict", "list"))
)
"""Parts that are lists or documents, or ``None``."""
"#;

/// Makes a file of itself, with what is declared.
type Makes = fn(&str) -> String;

/// Files of `python/ftlab` by name.
pub const PYTHON_FILES: [(&str, Makes); 3] =
    [("_parts.py", |_| parts_file()), ("_drive.py", drive_file), ("_run.py", run_file)];

/// The file `_parts.py`.
fn parts_file() -> String {
    let schema: Value = serde_json::from_str(&schema()).unwrap_or_default();
    let parts = schema["$defs"]["RunResult"]["properties"].as_object();
    let mut parts: Vec<_> = parts.into_iter().flatten().collect();
    // What names the run comes first.
    parts.sort_by_key(|(name, _)| name.as_str() != "ftl");
    let lines = parts.iter().map(|(name, of)| format!("    {name}: {}\n", python_type(of)));
    format!("{HEAD}{}{TAIL}", lines.collect::<String>())
}

/// The type of what a schema describes.
fn python_type(of: &Value) -> String {
    if let Some(options) = of["anyOf"].as_array() {
        return options.iter().map(python_type).collect::<Vec<_>>().join(" | ");
    }
    match &of["type"] {
        Value::Array(types) => {
            let one = |kind: &Value| named(kind.as_str().unwrap_or_default(), of);
            types.iter().map(one).collect::<Vec<_>>().join(" | ")
        }
        Value::String(kind) => named(kind, of),
        _ => "dict[str, Any]".into(),
    }
}

fn named(kind: &str, of: &Value) -> String {
    match kind {
        "integer" => "int".into(),
        "number" => "float".into(),
        "string" => "str".into(),
        "boolean" => "bool".into(),
        "null" => "None".into(),
        "array" => format!("list[{}]", python_type(&of["items"])),
        _ if of["additionalProperties"].is_object() => {
            format!("dict[str, {}]", python_type(&of["additionalProperties"]))
        }
        _ => "dict[str, Any]".into(),
    }
}
