//! Generators that tell which requests belong to which transaction.

use super::build_sequence;
use super::sequence::{Sequence, Work};
use ftlab_spec::Spec;
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};

/// The transactions of a generator, one after the other.
pub struct TransactionSource(Sequence);

impl TransactionSource {
    /// Those of the generator that `spec` names; an error if it has none.
    pub fn new(spec: &Spec, space: &Space) -> Result<Self, TraceError> {
        let mut sequence = build_sequence(spec, space)?;
        if sequence.by_transaction().is_none() {
            return Err(TraceError::Unsupported {
                what: format!("transactions of {spec}: its requests belong to none"),
                remedy: "use tpcc, linkbench or ycsb, or wait for requests (unit=request)".into(),
            });
        }
        Ok(Self(sequence))
    }

    /// Puts the requests of the next transaction, or of the next part of the load, into `out`, which is empty: any
    /// number of them, reads among them. `None` at the end, with nothing put in.
    pub fn next_into(&mut self, out: &mut RequestBatch) -> Result<Option<Work>, TraceError> {
        self.0.by_transaction().map_or(Ok(None), |transactions| transactions.next_transaction(out))
    }
}
