//! The published schema is that of the code, and results conform to it.

use ftlab_sim::fact::Shown;
use ftlab_sim::result::{FACTS, schema};
use ftlab_sim::{
    DRIVE_OPTIONS, DriveOptions, Experiment, Fill, Length, Logical, Workload, python_types,
};
use std::fs;
use std::path::Path;

const COMMITTED: &str = include_str!("../../schema/run-result.schema.json");

#[test]
fn the_committed_schema_is_the_generated_one() {
    assert!(
        schema() == COMMITTED,
        "the schema has changed; regenerate it: cargo run -p ftlab-sim --example result_schema > \
         crates/ftlab-sim/schema/run-result.schema.json"
    );
}

#[test]
fn the_types_in_python_are_the_generated_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ftlab/_parts.py");
    assert!(
        python_types() == fs::read_to_string(path).unwrap(),
        "the types of results have changed; regenerate them: cargo run -p ftlab-sim --example python_types > \
         python/ftlab/_parts.py"
    );
}

#[test]
fn python_has_every_option_of_a_drive() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ftlab/_drive.py");
    let text = fs::read_to_string(path).unwrap();
    for option in DRIVE_OPTIONS.iter() {
        let field = format!("    {}: {} | None = None\n", option.id, option.python);
        assert!(text.contains(&field), "python/ftlab/_drive.py lacks the line\n{field}");
        let described = format!("    {} : ", option.id);
        assert!(text.contains(&described), "the docstring of Drive lacks {}", option.id);
    }
}

#[test]
fn every_fact_says_what_it_is_and_has_a_place_of_its_own() {
    let mut places = Vec::new();
    for fact in FACTS.iter() {
        assert!(fact.doc.ends_with('.') && !fact.source.is_empty(), "{}", fact.path);
        assert!(FACTS.iter().filter(|other| other.path == fact.path).count() == 1, "{}", fact.path);
        places.extend(fact.shown.iter().map(|shown| (place(*shown), &fact.path)));
    }
    places.sort();
    for pair in places.windows(2) {
        assert!(pair[0].0 != pair[1].0, "{} and {}: {:?}", pair[0].1, pair[1].1, pair[0].0);
    }
}

/// What two facts must not share: a kind of place, and the number that orders it.
fn place(shown: Shown) -> (String, u32) {
    match shown {
        Shown::Table { sheet, at, .. } => (format!("table {sheet:?}"), at),
        Shown::Report { sheet, at, .. } => (format!("report {sheet:?}"), at),
        Shown::Sweep { at, .. } => ("sweep".into(), at),
        Shown::Stored { at, .. } => ("stored".into(), at),
        Shown::Compared { at, .. } => ("compared".into(), at),
        Shown::Running { at, .. } => ("running".into(), at),
        Shown::Frame { at, .. } => ("frame".into(), at),
    }
}

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
    let value = serde_json::to_value(&result).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(COMMITTED).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let read = |value| serde_json::from_value::<ftlab_sim::ExperimentResult>(value).unwrap();
    assert_eq!(read(value.clone()), result);
    // As earlier versions wrote it, which counted pages alone.
    let mut old = value;
    let forget = |of: &mut serde_json::Value, field: &str| {
        assert!(of.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    };
    forget(&mut old["workload"], "unaligned_writes");
    for run in old["runs"].as_array_mut().unwrap() {
        for field in ["host_bytes", "media_bytes_per_host_byte", "running_host_bytes"] {
            forget(run, field);
        }
    }
    assert_eq!(read(old), result, "the host wrote whole pages");
}
