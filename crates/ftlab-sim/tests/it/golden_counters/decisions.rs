//! Versions of decisions follow from what is done: who changes that is asked to raise the number of the part that
//! decides.

use super::rows::{Part, ROWS, Row};
use super::{data, is_asked_to_write};
use ftlab_ftl::registry;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

const TABLE: &str = include_str!("../../data/decisions.txt");

/// A part is what changed if this share of the rows that have it changed: it does not matter to all.
const MOST: f64 = 0.75;

impl Row {
    fn decisions(&self) -> String {
        let parts = self.parts.iter().map(|part| format!("{} {}", part.name, part.version));
        parts.collect::<Vec<_>>().join(", ")
    }

    fn line(&self) -> String {
        format!("{} | {} | {}\n", self.name, self.decisions(), self.did)
    }

    /// Whether the table has it with the same numbers, and something else that it did.
    fn breaks(&self, table: &BTreeMap<&str, [&str; 2]>) -> bool {
        let known = table.get(self.name.as_str());
        known.is_some_and(|[decisions, did]| *decisions == self.decisions() && *did != self.did)
    }
}

fn parse(table: &str) -> BTreeMap<&str, [&str; 2]> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let columns = rows.map(|line| {
        let columns: Vec<_> = line.split(" | ").collect();
        (columns[0], [columns[1], columns[2]])
    });
    columns.collect()
}

/// The fewest numbers to raise, so that each of `changed` has another one: those of which most rows changed, and of
/// these the one that most have.
fn to_raise<'a>(changed: &[&'a Row], all: &'a [Row]) -> Vec<&'a Part> {
    let mut left = changed.to_vec();
    let mut raised = Vec::new();
    while !left.is_empty() {
        let candidates: BTreeSet<_> = left.iter().flat_map(|row| &row.parts).collect();
        let part = candidates.into_iter().max_by_key(|part| {
            let of = all.iter().filter(|row| row.parts.contains(part)).count();
            let count = changed.iter().filter(|row| row.parts.contains(part)).count();
            let most = count as f64 >= MOST * of as f64;
            (most, if most { count } else { count * 10_000 / of }, Reverse(&part.name))
        });
        let part = part.expect("something decides");
        left.retain(|row| !row.parts.contains(part));
        raised.push(part);
    }
    raised
}

/// What is done otherwise though no number was raised; empty if nothing is.
fn complaint(rows: &[Row], table: &str) -> String {
    let known = parse(table);
    let changed: Vec<_> = rows.iter().filter(|row| row.breaks(&known)).collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut text = String::from("These do not do what they did under the same numbers:\n");
    for row in &changed {
        let _ = writeln!(text, "  {}", row.name);
    }
    text += "If that was intended, raise the version of what decides otherwise:\n";
    for part in to_raise(&changed, rows) {
        let _ = writeln!(text, "  {}", part.how());
    }
    text + "then run `make golden`. Live drives and kept results tell by it that they are of another program."
}

#[test]
fn who_changes_what_is_decided_raises_a_number() {
    let complaint = complaint(&ROWS, TABLE);
    assert!(complaint.is_empty(), "{complaint}");
    let header = "# what | versions of what decides in it | hash of what it did\n";
    let table = ROWS.iter().fold(header.to_owned(), |table, row| table + &row.line());
    if is_asked_to_write() {
        fs::write(data("decisions.txt"), table).unwrap();
        return;
    }
    assert!(
        table == TABLE,
        "tests/data/decisions.txt has other rows or numbers: run `make golden`"
    );
}

/// The parts that are to be raised if the rows whose names fulfil `is_changed` do something else.
fn asked(is_changed: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let changed: Vec<_> = ROWS.iter().filter(|row| is_changed(&row.name)).collect();
    assert!(!changed.is_empty());
    to_raise(&changed, &ROWS).iter().map(|part| part.name.as_str()).collect()
}

#[test]
fn the_number_that_is_asked_for_is_that_of_the_changed_part() {
    assert_eq!(asked(|name| name.ends_with("/cat")), ["cat"]);
    // It does not matter where no page is moved twice.
    assert_eq!(asked(|name| name.ends_with("/cat") && !name.starts_with("oracle")), ["cat"]);
    assert_eq!(asked(|name| name.starts_with("dac") || name.contains("inner=dac")), ["dac"]);
    assert_eq!(asked(|name| name.starts_with("2r++")), ["2r++"]);
    assert_eq!(asked(|name| ["fast", "faster"].contains(&name)), ["fast", "faster"]);
    let hybrids = ["fmax", "bast", "fast", "kast", "last", "faster"];
    assert_eq!(asked(|name| hybrids.contains(&name)), ["hybrid"]);
    assert_eq!(asked(|name| name == "fk"), ["fk"]);
    let is_run = |row: &Row| row.parts.iter().any(|part| part.name == "simulation");
    let with = |part: &'static str| {
        move |name: &str| {
            let row = ROWS.iter().find(|row| row.name == name);
            row.is_some_and(|row| row.parts.iter().any(|own| own.name == part))
        }
    };
    for part in ["engine", "simulation", "traces", "clock", "faults", "slc-cache", "steady"] {
        assert_eq!(asked(with(part)), [part]);
    }
    assert!(ROWS.iter().filter(|row| is_run(row)).count() > 190);
    // A mix changes with its parts.
    assert_eq!(asked(with("zipf")), ["zipf"]);
    assert_eq!(asked(|name| name == "mix"), ["mix"]);
    assert_eq!(asked(|name| name.starts_with("fio:")), ["fio"]);
}

#[test]
fn a_change_without_a_number_is_told_with_what_to_do() {
    let mut rows = ROWS.clone();
    let table = rows.iter().map(Row::line).collect::<String>();
    assert_eq!(complaint(&rows, &table), "");
    for row in rows.iter_mut().filter(|row| row.name.ends_with("/cat")) {
        row.did = "something else".into();
    }
    let told = complaint(&rows, &table);
    let place = "cat: `const DECISIONS: u32 = 2;` below NAME in \
                 crates/ftlab-ftl/src/algorithms/victim/cat.rs\n";
    assert!(told.contains(place) && told.contains("\n  sep-gc/cat\n"), "{told}");
    assert!(!told.contains("sep-gc/greedy"), "{told}");
    // With another number, it may do something else.
    let raised = table.replace("cat 1", "cat 0");
    assert_eq!(complaint(&rows, &raised), "");
}

#[test]
fn every_part_has_one_file_that_has_its_number() {
    let parts: BTreeSet<_> = ROWS.iter().flat_map(|row| &row.parts).collect();
    for part in &parts {
        assert!(part.how().contains(".rs"), "{}", part.how());
    }
    for (name, file) in [
        ("zipf", "ftlab-workload/src/zipf.rs"),
        ("traces", "ftlab-trace/src/format/mod.rs"),
        ("clock", "ftlab-sim/src/versions.rs"),
        ("hybrid", "ftlab-ftl/src/engine.rs"),
        ("hazard", "ftlab-ftl/src/algorithms/hazard/policy.rs"),
        ("faster", "ftlab-ftl/src/hybrid/faster.rs"),
    ] {
        let part = parts.iter().find(|part| part.name == name).unwrap();
        assert!(part.how().contains(file), "{}", part.how());
    }
}

#[test]
fn decisions_are_short_and_name_what_is_within_handles() {
    let text = |spec: &str| registry::decisions(&spec.parse().unwrap()).unwrap().to_string();
    assert_eq!(text("lfs-cb"), "engine 1, single 1, cost-benefit 1");
    assert_eq!(text("fast"), "hybrid 1, fast 1");
    assert_eq!(text("page"), "engine 1, page 1");
    assert_eq!(text("nvme-fdp"), "engine 1, nvme-fdp 1, cost-benefit 1");
    assert_eq!(text("nvme-fdp:inner=hazard"), "engine 1, nvme-fdp 1, hazard 11");
    assert_eq!(text("nvme-fdp/greedy:inner=dac"), "engine 1, nvme-fdp 1, dac 1, greedy 1");
    assert_eq!(
        text("nvme-fdp:handles=2,reclaim-groups=2"),
        "engine 1, nvme-fdp 1, sep-gc 1, cost-benefit 1"
    );
    let names = registry::ftl_names().into_iter();
    let inner = names.clone().map(|name| format!("nvme-fdp:inner={name}"));
    for name in names.chain(inner) {
        if let Ok(decisions) = registry::decisions(&name.parse().unwrap()) {
            assert!(decisions.to_string().len() < 80, "{decisions}");
        }
    }
    assert!(registry::decisions(&"nothing".parse().unwrap()).is_err());
}
