//! The published schema is that of the code. That results conform to it, a test of ftlab-experiments shows, which
//! writes and reads them.

use ftlab_sim::fact::{Fact, Shown, shown_of};
use ftlab_sim::result::{FACTS, OF_DRIVE, OF_HANDLE, schema, shown};
use ftlab_sim::{DriveOptions, Experiment, Options, PYTHON_FILES};
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
fn python_has_the_options_and_types_that_are_declared() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ftlab");
    for (name, make) in PYTHON_FILES {
        let text = fs::read_to_string(package.join(name)).unwrap();
        assert!(
            make(&text) == text,
            "python/ftlab/{name} lacks what is declared; write it: cargo run -p ftlab-sim --example python_types"
        );
        let ids = DriveOptions::options().iter().map(|of| (of.id, "_drive.py"));
        let ids = ids.chain(Experiment::options().iter().map(|of| (of.id, "_run.py")));
        for (id, _) in ids.filter(|(_, file)| *file == name) {
            assert!(text.contains(&format!("\n    {id}: ")), "{name} has no argument {id}");
            assert!(text.contains(&format!("\n    {id} : ")), "{name} does not describe {id}");
        }
    }
}

#[test]
fn every_fact_says_what_it_is_and_has_a_place_of_its_own() {
    for fact in FACTS.iter() {
        assert!(fact.doc.ends_with('.') && !fact.source.is_empty(), "{}", fact.path);
        assert!(FACTS.iter().filter(|other| other.path == fact.path).count() == 1, "{}", fact.path);
    }
    let all = shown(|shown| Some((0, place(*shown))));
    apart(all.into_iter().map(|(place, fact)| (place, fact.path.as_str())).collect());
    apart(places_of(&OF_DRIVE));
    apart(places_of(&OF_HANDLE));
}

fn places_of<R>(facts: &[Fact<R>]) -> Vec<((String, u32), &str)> {
    let all = shown_of(facts, |shown| Some((0, place(*shown))));
    all.into_iter().map(|(place, fact)| (place, fact.path.as_str())).collect()
}

fn apart(mut places: Vec<((String, u32), &str)>) {
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
