//! The lists agree with the files, and names with what they stand for.

use crate::page::DriveConfig;
use crate::registry::{Kind, build_boxed, entries, resolve};
use ftlab_flash::Geometry;
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "NAME: &'static str = \"";

fn sources(folder: &Path) -> Vec<(String, String)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let files = files.iter().map(|path| (path.display().to_string(), text(path)));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// Files of FTLs and of parts of them; beside them lies what they share.
fn policy_files() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = ["algorithms", "hybrid"].map(|folder| src.join(folder));
    let files = folders.iter().flat_map(|folder| sources(folder));
    files.filter(|(_, text)| text.contains(NAME)).collect()
}

#[test]
fn every_policy_file_is_registered() {
    let names: Vec<_> = entries().iter().map(|entry| entry.name).collect();
    for (path, text) in policy_files() {
        let name = text.split(NAME).nth(1).and_then(|t| t.split('"').next());
        assert!(name.is_some_and(|name| names.contains(&name)), "{path}: {name:?} in {names:?}");
    }
}

#[test]
fn every_policy_file_opens_under_the_fixed_headings() {
    let headings = ["Idea", "Rule", "Parameters", "Where the paper is silent", "Reference"];
    for (path, text) in policy_files() {
        let found: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("//! # ")).collect();
        assert_eq!(found, headings, "{path}");
    }
}

#[test]
fn what_means_the_same_resolves_to_the_same() {
    let resolved = |spec: &str| resolve(&spec.parse().unwrap());
    for entry in entries().iter().filter(|entry| entry.kind == Kind::Ftl) {
        let defaults: Vec<_> =
            entry.parameters.iter().map(|p| (p.name, p.default.clone())).collect();
        assert_eq!(resolved(entry.name).unwrap(), defaults, "{}", entry.name);
    }
    assert_eq!(resolved("2r++"), resolved("2r++:blk-util=.50"));
    assert_ne!(resolved("2r++"), resolved("2r++:blk-util=0.4"));
    assert!(resolved("sep-gc/greedy").is_ok());
    assert_eq!(resolved("nvme-fdp:inner=none"), resolved("nvme-fdp"));
    assert_eq!(
        resolved("nvme-fdp/greedy:inner=dac,window=7"),
        resolved("nvme-fdp/greedy:window=7,inner=dac")
    );
    let keys =
        |spec: &str| resolved(spec).unwrap().into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(
        keys("nvme-fdp:inner=2r++")[..6],
        ["handles", "persistent", "unit", "reclaim-groups", "luns", "inner"]
    );
    assert_eq!(keys("nvme-fdp:inner=2r++")[6..], keys("2r++"));
    assert!(resolved("2r++:x=1").is_err() && resolved("2r").is_err());
}

#[test]
fn a_wrong_name_or_parameter_is_an_error_that_lists_the_right_ones() {
    let config = DriveConfig::new(Geometry::new(64, 64, 4096).unwrap(), 3000, 4);
    for (spec, part) in [
        ("2r-fifi", "did you mean \"2r-fifo\"?"),
        ("single/greedi", "unknown victim rule \"greedi\" (did you mean \"greedy\"?)"),
        ("singel/greedy", "unknown placement \"singel\" (did you mean \"single\"?)"),
        ("2r-fifo:blk-util=1.5", "blk-util=1.5 is not a number in 0.0..=1.0"),
        ("faster:isolation=no", "isolation=no is not one of copy, inplace, off"),
        ("fast:sv=on", "fast has no parameter \"sv\""),
        ("1r-greedy:x=1", "1r-greedy has no parameter \"x\"; it has none"),
        ("sep-gc/fifo:x=1", "sep-gc/fifo has no parameter \"x\"; it has none"),
        ("nvme-fdp:inner=hazrd", "unknown FTL \"hazrd\""),
        ("nvme-fdp:inner=hazard,x=1", "hazard has no parameter \"x\""),
        ("nvme-fdp:inner=fast", "inner=fast is not a page-mapped FTL"),
        ("nvme-fdp:inner=fk", "inner=fk is not an FTL that is told nothing but addresses"),
        ("nvme-fdp:inner=nvme-fdp", "inner=nvme-fdp is not an FTL that is told"),
        ("nvme-fdp/greedy:inner=2r++", "inner=2r++ is not a placement, which goes with the victim"),
        ("nvme-fdp:inner=2r++,persistent=9", "persistent=9 is not of handles 0 to 7"),
        ("nvme-fdp:unit=2", "choose their size with --pages-per-block"),
    ] {
        let error = build_boxed(&spec.parse().unwrap(), config, ftlab_flash::NoPayload, ());
        let message = error.err().expect(spec).to_string();
        assert!(message.contains(part), "{message}");
    }
}
