//! Of which real drive a simulated one is a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The real drive of which a simulated one is a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelOf {
    /// What the host can address of it.
    pub logical_bytes: u64,
    /// Where its map is, or all maps after commas, if the model has less memory for them; none otherwise.
    pub mapping: Option<String>,
}
