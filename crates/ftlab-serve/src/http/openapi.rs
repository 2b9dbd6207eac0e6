//! The description of the API, generated from the types of its answers.

use super::{CopyOrder, CopyStatus};
use crate::Smart;
use crate::{BlockMap, Sample, Status};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

pub(super) fn document() -> Value {
    let mut schemas = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let status = content(&schema::<Status>(&mut schemas));
    let paths = json!({
        "/api/status": get("The complete status as of the last second", &status),
        "/api/events": get(
            "The status, every second, as server-sent events",
            &json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        ),
        "/api/history": get(
            "The samples of the last quarter of an hour, oldest first",
            &content(&schema::<Vec<Sample>>(&mut schemas)),
        ),
        "/api/blocks": get("The state of every erase block", &content(&schema::<BlockMap>(&mut schemas))),
        "/api/smart": get(
            "Health, with the names of nvme-cli",
            &content(&schema::<Smart>(&mut schemas)),
        ),
        "/api/copy": copy(
            &schema::<CopyOrder>(&mut schemas),
            &content(&schema::<CopyStatus>(&mut schemas)),
        ),
        "/api/openapi.json": get("This document", &content(&json!({ "type": "object" }))),
        "/metrics": get(
            "Metrics for Prometheus",
            &json!({ "text/plain": { "schema": { "type": "string" } } }),
        ),
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "A drive served by ftlab",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "token_in_query": { "type": "apiKey", "in": "query", "name": "token" },
            },
        },
        // Without a token, none is required.
        "security": [{}, { "token": [] }, { "token_in_query": [] }],
    })
}

fn schema<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schemas.subschema_for::<T>().to_value()
}

fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

fn get(summary: &str, content: &Value) -> Value {
    let refused = json!({ "description": "The token is missing or wrong" });
    json!({
        "get": {
            "summary": summary,
            "responses": {
                "200": { "description": summary, "content": content },
                "401": refused,
            },
        },
    })
}

fn copy(order: &Value, status: &Value) -> Value {
    let mut methods = get("The last copy of the drive", status);
    methods["post"] = json!({
        "summary": "Begins to copy the drive as it is now (ftlab drive serve --copies DIR)",
        "requestBody": { "required": true, "content": content(order) },
        "responses": {
            "202": { "description": "It is being made", "content": status },
            "400": { "description": "It cannot be made: the answer says why" },
            "401": { "description": "The token is missing or wrong" },
            "403": { "description": "The server makes no copies" },
            "409": { "description": "Another copy is being made" },
        },
    });
    methods
}
