//! The published schema is that of the code, and inspections conform to it.

use crate::common::fixture;
use ftlab_analysis::{InspectOptions, Inspections, inspect, schema};
use ftlab_trace::{OpenOptions, open};

const COMMITTED: &str = include_str!("../../schema/inspection.schema.json");

#[test]
fn the_committed_schema_is_the_generated_one() {
    assert!(
        schema() == COMMITTED,
        "the schema has changed; regenerate it: cargo run -p ftlab-analysis --example \
         inspection_schema > crates/ftlab-analysis/schema/inspection.schema.json"
    );
}

#[test]
fn a_real_inspection_validates_and_reads_back() {
    let mut source = open(&fixture("blkparse.txt"), &OpenOptions::default()).unwrap();
    let found = inspect(source.as_mut(), &InspectOptions::default()).unwrap();
    assert!(!found.frozen.is_empty() && !found.skipped.is_empty());
    let found = Inspections { version: "0".into(), workloads: vec![found] };
    let value = serde_json::to_value(&found).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(COMMITTED).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(serde_json::from_value::<Inspections>(value).unwrap(), found);
}
