//! Versions of decisions follow from what FTLs do: who changes that is asked to raise the number of the part that
//! decides.

use super::{RESULT, data, is_asked_to_write};
use ftlab_ftl::registry::{self, Decisions, Kind, Piece};
use ftlab_sim::result::RunResult;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

const TABLE: &str = include_str!("../data/decisions.txt");

/// A part is what changed if this share of the FTLs that have it changed: it does not matter to all.
const MOST: f64 = 0.75;

/// An FTL, what decides in it, and the hash of what it did.
struct Row {
    ftl: String,
    decisions: Decisions,
    did: String,
}

impl Row {
    fn of(run: &RunResult) -> Self {
        let decisions = registry::decisions(&run.ftl.parse().unwrap()).unwrap();
        Self { ftl: run.ftl.clone(), decisions, did: did(run) }
    }

    fn line(&self) -> String {
        format!("{} | {} | {}\n", self.ftl, self.decisions, self.did)
    }

    /// Whether the table has it with the same numbers, and something else that it did.
    fn breaks(&self, table: &BTreeMap<&str, [&str; 2]>) -> bool {
        let known = table.get(self.ftl.as_str());
        known.is_some_and(|[decisions, did]| {
            *decisions == self.decisions.to_string() && *did != self.did
        })
    }

    fn has(&self, piece: &Piece) -> bool {
        self.decisions.pieces().contains(piece)
    }
}

/// The hash of what an FTL did in every interval and every stream: sums may be equal by chance.
fn did(run: &RunResult) -> String {
    let counts = [run.host_writes, run.relocations, run.erases, run.trims, run.collections];
    let merges = [run.merge_copies, run.full_merges, run.partial_merges, run.switch_merges];
    let streams: Vec<_> = run
        .streams
        .iter()
        .map(|stream| (&stream.name, stream.blocks, stream.erases, stream.relocations))
        .collect();
    let intervals = (&run.running_relocations, &run.running_erases);
    let blocks = (&run.victim_valid_share.histogram, run.erase_counts.min, run.erase_counts.max);
    let text = format!("{:?}", (counts, merges, intervals, streams, blocks));
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

fn parse(table: &str) -> BTreeMap<&str, [&str; 2]> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let columns = rows.map(|line| {
        let columns: Vec<_> = line.split(" | ").collect();
        (columns[0], [columns[1], columns[2]])
    });
    columns.collect()
}

/// The fewest numbers to raise, so that each of `changed` has another one: those of which most FTLs changed, and of
/// these the one that most have.
fn to_raise<'a>(changed: &[&'a Row], all: &'a [Row]) -> Vec<&'a Piece> {
    let mut left = changed.to_vec();
    let mut raised = Vec::new();
    while !left.is_empty() {
        let candidates: BTreeSet<_> = left.iter().flat_map(|row| row.decisions.pieces()).collect();
        let piece = candidates.into_iter().max_by_key(|piece| {
            let of = all.iter().filter(|row| row.has(piece)).count();
            let count = changed.iter().filter(|row| row.has(piece)).count();
            let most = count as f64 >= MOST * of as f64;
            (most, if most { count } else { count * 10_000 / of }, Reverse(piece.name))
        });
        let piece = piece.expect("an FTL has an engine");
        left.retain(|row| !row.has(piece));
        raised.push(piece);
    }
    raised
}

/// Where the number of a piece is, and what to write there.
fn how(piece: &Piece) -> String {
    let next = piece.version + 1;
    let Some(kind) = piece.kind else {
        return format!(
            "{}: set its constant in crates/ftlab-ftl/src/engine.rs to {next}",
            piece.name
        );
    };
    let file = source(kind, piece.name).expect("every part has a file");
    format!("{}: `const DECISIONS: u32 = {next};` below its NAME in {}", piece.name, file.display())
}

/// The file of a part, from the top of the repository.
fn source(kind: Kind, name: &str) -> Option<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let src = top.join("crates/ftlab-ftl/src");
    let folders = match kind {
        Kind::Placement => vec![src.join("algorithms/placement")],
        Kind::Victim => vec![src.join("algorithms/victim")],
        Kind::Ftl => vec![src.join("algorithms"), src.join("hybrid")],
    };
    let own = format!("const NAME: &'static str = \"{name}\";");
    let mut paths = folders;
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let is_other = |path: &Path| {
                kind == Kind::Ftl && (path.ends_with("placement") || path.ends_with("victim"))
            };
            let inner = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            paths.extend(inner.filter(|path| !is_other(path)));
        } else if fs::read_to_string(&path).is_ok_and(|text| text.contains(&own)) {
            return Some(path.strip_prefix(&top).unwrap().to_owned());
        }
    }
    None
}

/// What is done otherwise though no number was raised; empty if nothing is.
fn complaint(rows: &[Row], table: &str) -> String {
    let known = parse(table);
    let changed: Vec<_> = rows.iter().filter(|row| row.breaks(&known)).collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut text = String::from("These FTLs do not do what they did under the same numbers:\n");
    for row in &changed {
        let _ = writeln!(text, "  {}", row.ftl);
    }
    text += "If that was intended, raise the version of what decides otherwise:\n";
    for piece in to_raise(&changed, rows) {
        let _ = writeln!(text, "  {}", how(piece));
    }
    text + "then run `make golden`. Live drives and kept results tell by it that they are of another program."
}

fn rows() -> Vec<Row> {
    RESULT.runs.iter().map(Row::of).collect()
}

#[test]
fn who_changes_what_an_ftl_does_raises_a_number() {
    let rows = rows();
    let complaint = complaint(&rows, TABLE);
    assert!(complaint.is_empty(), "{complaint}");
    let header = "# FTL | versions of what decides in it | hash of what it did\n";
    let table = rows.iter().fold(header.to_owned(), |table, row| table + &row.line());
    if is_asked_to_write() {
        fs::write(data("decisions.txt"), table).unwrap();
        return;
    }
    assert!(
        table == TABLE,
        "tests/data/decisions.txt has other FTLs or other numbers: run `make golden`"
    );
}

/// The parts that are to be raised if the FTLs whose names fulfil `is_changed` do something else.
fn asked_of(rows: &[Row], is_changed: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let changed: Vec<_> = rows.iter().filter(|row| is_changed(&row.ftl)).collect();
    to_raise(&changed, rows).iter().map(|piece| piece.name).collect()
}

#[test]
fn the_number_that_is_asked_for_is_that_of_the_changed_part() {
    let rows = rows();
    let asked = |is_changed: &dyn Fn(&str) -> bool| asked_of(&rows, is_changed);
    assert_eq!(asked(&|name| name.ends_with("/cat")), ["cat"]);
    // It does not matter where no page is moved twice.
    assert_eq!(asked(&|name| name.ends_with("/cat") && !name.starts_with("oracle")), ["cat"]);
    assert_eq!(asked(&|name| name.starts_with("dac")), ["dac"]);
    assert_eq!(asked(&|name| name == "2r++"), ["2r++"]);
    assert_eq!(asked(&|name| ["fast", "faster"].contains(&name)), ["fast", "faster"]);
    assert_eq!(asked(&|name| ["fast", "faster", "fmax"].contains(&name)), ["hybrid"]);
    assert_eq!(asked(&|name| !["fast", "faster", "fmax"].contains(&name)), ["engine"]);
    assert_eq!(asked(&|_| true), ["engine", "hybrid"]);
    assert_eq!(asked(&|name| name == "fk"), ["fk"]);
}

#[test]
fn a_change_without_a_number_is_told_with_what_to_do() {
    let mut rows = rows();
    let table = rows.iter().map(Row::line).collect::<String>();
    assert_eq!(complaint(&rows, &table), "");
    for row in rows.iter_mut().filter(|row| row.ftl.ends_with("/cat")) {
        row.did = "something else".into();
    }
    let told = complaint(&rows, &table);
    let place = "cat: `const DECISIONS: u32 = 2;` below its NAME in \
                 crates/ftlab-ftl/src/algorithms/victim/cat.rs\n";
    assert!(told.contains(place) && told.contains("\n  sep-gc/cat\n"), "{told}");
    assert!(!told.contains("sep-gc/greedy"), "{told}");
    // With another number, it may do something else.
    let raised = table.replace("cat 1", "cat 0");
    assert_eq!(complaint(&rows, &raised), "");
}

#[test]
fn every_part_has_one_file_that_has_its_number() {
    for row in rows() {
        for piece in row.decisions.pieces() {
            let told = how(piece);
            assert!(told.contains(".rs"), "{told}");
        }
    }
}

#[test]
fn decisions_are_short_and_name_what_is_within_handles() {
    let text = |spec: &str| registry::decisions(&spec.parse().unwrap()).unwrap().to_string();
    assert_eq!(text("lfs-cb"), "engine 1, single 1, cost-benefit 1");
    assert_eq!(text("fast"), "hybrid 1, fast 1");
    assert_eq!(text("page"), "engine 1, page 1");
    assert_eq!(text("nvme-fdp"), "engine 1, nvme-fdp 1, cost-benefit 1");
    assert_eq!(text("nvme-fdp:inner=hazard"), "engine 1, nvme-fdp 1, hazard 1");
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
