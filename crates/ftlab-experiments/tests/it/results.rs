//! Results conform to the published schema, and are read back.

use ftlab_sim::result::schema;
use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Fill, Length, Logical, Workload};
use serde_json::Value;

#[test]
fn a_real_result_validates_and_reads_back() {
    let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        },
        fill: Fill::Random,
        length: Length::DriveWrites(2.0),
        ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap(), "2r++".parse().unwrap()])
    };
    let result = experiment.run(&mut ()).unwrap();
    let text = serde_json::to_string(&result).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema()).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let read = |text: &str| serde_json::from_str::<ExperimentResult>(text).unwrap();
    assert_eq!(read(&text), result);
    // As earlier versions wrote it, which counted pages alone.
    let mut old = value;
    let forget = |of: &mut Value, field: &str| {
        assert!(of.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    };
    forget(&mut old["workload"], "unaligned_writes");
    for run in old["runs"].as_array_mut().unwrap() {
        for field in ["host_bytes", "media_bytes_per_host_byte", "running_host_bytes"] {
            forget(run, field);
        }
    }
    assert_eq!(read(&old.to_string()), result, "the host wrote whole pages");
}
