//! The real drive that an answer is about, and its model.

use ftlab_sim::{DriveClass, ModelSize};
use serde::Serialize;

/// The drive that an answer is about, and its model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RealDrive {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Over-provisioning that it has, if that is known.
    pub op_ratio: Option<f64>,
    /// Bytes that it collects at once.
    pub unit_bytes: u64,
    /// How many of these hold what the host can address.
    pub units: u64,
    /// Whether their size was given, and not taken to be usual.
    pub is_unit_known: bool,
    /// What was simulated.
    pub model: ModelSize,
    /// It in words.
    pub text: String,
}

impl RealDrive {
    pub(super) fn new(class: DriveClass, model: ModelSize) -> Self {
        Self {
            capacity_bytes: class.capacity.0,
            op_ratio: class.op.map(|op| op.0),
            unit_bytes: class.unit_bytes(),
            units: class.units(),
            is_unit_known: class.unit.is_some(),
            model,
            text: class.to_string(),
        }
    }

    /// The share of the capacity that has to stay unpartitioned for so much over-provisioning, if it has less.
    pub(super) fn unpartitioned(&self, needs: f64) -> Option<f64> {
        let has = self.op_ratio?;
        (needs > has).then(|| 1.0 - (1.0 + has) / (1.0 + needs))
    }
}
