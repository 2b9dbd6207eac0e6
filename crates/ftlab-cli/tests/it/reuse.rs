//! Which kept results are used again: those of the very same run, wherever its trace lies, and no others.

use crate::common::{Output, Place};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Writes of a trace that is soon run.
const WRITES: u32 = 60_000;

/// A trace of page numbers, 4 bytes each: the same beginning and end, and between them few or many pages.
fn trace(pages_between: u32) -> Vec<u8> {
    long_trace(WRITES, pages_between)
}

/// A trace of page numbers with `writes` writes, of which 60% are between.
fn long_trace(writes: u32, pages_between: u32) -> Vec<u8> {
    let mut random = 1u32;
    let mut draw = |pages: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % pages
    };
    let page = |at| {
        if (writes / 5..writes * 4 / 5).contains(&at) { draw(pages_between) } else { at % 8192 }
    };
    (0..writes).map(page).flat_map(u32::to_le_bytes).collect()
}

/// Few pages and many: 60% of the bytes differ, at neither end.
fn place() -> Place {
    let place = Place::new();
    place.write("trace.u32", trace(500));
    place
}

/// How many runs were carried out and how many reused, as `sweep` says.
fn counts(output: &Output) -> (usize, usize) {
    assert_eq!(output.code, 0, "{}", output.stderr);
    let line = output.stderr.lines().find(|line| line.contains("carried out")).unwrap();
    let numbers: Vec<usize> =
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

const EXPERIMENT: &str = "
title = \"a test\"
workloads = [{ name = \"it\", spec = \"trace.u32\", format = \"lpn-u32\" }]
ftls = [\"1r-greedy\", \"2r-fifo\"]
[drive]
logical-pages = 8192
pages-per-block = 64
op = \"15%\"
[run]
fill = \"sequential\"
";

fn sweep(place: &Place) -> (usize, usize) {
    counts(&place.ftlab("sweep exp.toml --out out"))
}

#[test]
fn a_sweep_sees_that_the_middle_of_a_trace_was_changed() {
    let place = Place::new();
    // More than a MiB at each end is the same.
    let [few, many] = [500, 8192].map(|pages| long_trace(1_500_000, pages));
    place.write("trace.u32", &few);
    place.write("exp.toml", EXPERIMENT);
    assert_eq!(sweep(&place), (2, 0));
    let waf = |place: &Place| {
        let text = fs::read_to_string(place.path().join("out/results.csv")).unwrap();
        let column = text.lines().next().unwrap().split(',').position(|name| name == "waf");
        text.lines().nth(1).unwrap().split(',').nth(column.unwrap()).unwrap().to_owned()
    };
    let before = waf(&place);
    place.write("trace.u32", &many);
    assert_eq!(sweep(&place), (2, 0), "another trace of the same length with the same ends");
    assert_ne!(waf(&place), before);
    place.write("trace.u32", &few);
    assert_eq!(sweep(&place), (0, 2));
    assert_eq!(waf(&place), before);
}

#[test]
fn a_sweep_repeats_whatever_is_different_and_nothing_else() {
    let place = place();
    place.write("exp.toml", EXPERIMENT);
    assert_eq!(sweep(&place), (2, 0));
    // Values by default, another spelling, other times, another name, other threads.
    let same = EXPERIMENT
        .replace("2r-fifo", "2r-fifo:blk-util=0.50")
        .replace("logical-pages = 8192", "logical = \"32MiB\"\nreserve = 4\ngc = \"foreground\"")
        .replace("fill = \"sequential\"", "interval = 2048");
    place.write("exp.toml", &same);
    assert_eq!(sweep(&place), (0, 2));
    let file = fs::File::options().write(true).open(place.path().join("trace.u32")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
    assert_eq!(sweep(&place), (0, 2));
    fs::create_dir(place.path().join("copies")).unwrap();
    fs::rename(place.path().join("trace.u32"), place.path().join("copies/other.name")).unwrap();
    place.write("exp.toml", EXPERIMENT.replace("trace.u32", "copies/other.name"));
    assert_eq!(counts(&place.ftlab("sweep exp.toml --out out --threads 1")), (0, 2));
    let moved = EXPERIMENT.replace("trace.u32", "copies/other.name");
    for (old, new) in [
        ("logical-pages = 8192", "logical-pages = 8448"),
        ("pages-per-block = 64", "pages-per-block = 32"),
        ("op = \"15%\"", "op = \"15%\"\nreserve = 5"),
        ("op = \"15%\"", "op = \"17%\""),
        ("fill = \"sequential\"", "fill = \"random\""),
        ("fill = \"sequential\"", "fill = \"sequential\"\nwrites = 50000"),
        ("fill = \"sequential\"", "fill = \"sequential\"\nwarmup-writes = 1"),
        ("fill = \"sequential\"", "fill = \"sequential\"\nignore-trims = true"),
        ("fill = \"sequential\"", "fill = \"sequential\"\ntiming = \"slc\""),
        ("lpn-u32\" }", "lpn-u32\", skip-bad = 1 }"),
    ] {
        place.write("exp.toml", moved.replace(old, new));
        assert_eq!(sweep(&place), (2, 0), "{new}");
    }
    place.write("exp.toml", moved.replace("2r-fifo", "2r-fifo:blk-util=0.4"));
    assert_eq!(sweep(&place), (1, 1));
    place.write("exp.toml", moved.replace("[drive]", "seeds = [2]\n[drive]"));
    assert_eq!(sweep(&place), (2, 0));
    // One bit of one byte in the middle.
    let file = fs::File::options().write(true).open(place.path().join("copies/other.name"));
    file.unwrap().write_all_at(&[1], u64::from(WRITES) * 2).unwrap();
    place.write("exp.toml", &moved);
    assert_eq!(sweep(&place), (2, 0));
    // What is called unfinished is read otherwise: it may end within a request.
    let names = ["copies/other.name", "copies/other.name.partial"];
    fs::rename(place.path().join(names[0]), place.path().join(names[1])).unwrap();
    place.write("exp.toml", moved.replace(names[0], names[1]));
    assert_eq!(sweep(&place), (2, 0));
}

#[test]
fn a_hash_that_is_kept_beside_a_large_trace_is_not_trusted_after_a_change() {
    let place = Place::new();
    // More than what is worth a line.
    let bytes = trace(500).repeat(8);
    place.write("trace.u32", &bytes);
    place.write("exp.toml", EXPERIMENT);
    let path = place.path().join("trace.u32");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(sweep(&place), (2, 0));
    let kept = fs::read_to_string(place.path().join("cache/ftlab/contents.jsonl")).unwrap();
    assert!(kept.contains("trace.u32"), "{kept}");
    assert_eq!(sweep(&place), (0, 2));
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&trace(8192)[..200_000], 400_000).unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(sweep(&place), (2, 0), "length, ends and time of modification are what they were");
}

#[test]
fn job_files_are_told_apart_by_what_they_replay() {
    let place = Place::new();
    let log = |pages: &[u32]| {
        let lines: Vec<_> =
            pages.iter().map(|page| format!("0 f write {} 4096\n", page * 4096)).collect();
        let lines = lines.concat();
        format!("fio version 3 iolog\n0 f add\n0 f open\n{lines}1 f close\n")
    };
    let pages: Vec<u32> = (0..4096).chain(0..4096).collect();
    let changed: Vec<u32> = (0..4096).chain((0..2048).rev()).chain(2048..4096).collect();
    place.write("replay.log", log(&pages));
    place.write("jobs.fio", "[a]\nfilename=/dev/d\nread_iolog=replay.log\nsize=32m\n");
    place.write(
        "exp.toml",
        EXPERIMENT.replace("spec = \"trace.u32\", format = \"lpn-u32\"", "spec = \"jobs.fio\""),
    );
    assert_eq!(sweep(&place), (2, 0));
    // Where it lies, and what it is called, does not matter.
    fs::rename(place.path().join("replay.log"), place.path().join("other.log")).unwrap();
    place.write("jobs.fio", "; a comment\n[a]\nfilename=/dev/d\nread_iolog=other.log\nsize=32m\n");
    assert_eq!(sweep(&place), (0, 2));
    place.write("other.log", log(&changed));
    assert_eq!(sweep(&place), (2, 0));
    // What repeats a trace reads it, too.
    place.write("small.u32", trace(500));
    place.write(
        "exp.toml",
        EXPERIMENT.replace(
            "spec = \"trace.u32\", format = \"lpn-u32\"",
            "spec = \"trace-like:file=small.u32\"",
        ),
    );
    assert_eq!(sweep(&place), (2, 0));
    assert_eq!(sweep(&place), (0, 2));
    place.write("small.u32", trace(8192));
    assert_eq!(sweep(&place), (2, 0));
}

/// The cells of a scoreboard: how many there are in its file.
fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn a_scoreboard_repeats_whatever_is_different_and_nothing_else() {
    let place = place();
    let compare = |more: &str| {
        let output = place.ftlab(&format!(
            "compare {more} --format lpn-u32 --logical 32MiB --ftl 1r-greedy --baseline 1r-greedy --out board \
             --quiet"
        ));
        assert_eq!(output.code, 0, "{}", output.stderr);
        lines(&place.path().join("board/cells.jsonl"))
    };
    assert_eq!(compare("trace.u32 --op 15%"), 1);
    assert_eq!(compare("trace.u32 --op 15% --seed 1 --fill sequential --threads 1"), 1);
    fs::copy(place.path().join("trace.u32"), place.path().join("copy.u32")).unwrap();
    assert_eq!(compare("copy.u32 --op 15%"), 1);
    assert_eq!(compare("copy.u32 --op 16%"), 2);
    assert_eq!(compare("copy.u32 --op 15% --fill random"), 3);
    assert_eq!(compare("copy.u32 --op 15% --writes 50000"), 4);
    place.write("trace.u32", trace(8192));
    assert_eq!(compare("trace.u32 --op 15%"), 5);
    assert_eq!(compare("copy.u32 --op 15%"), 5);
}

/// Replaces what a file of JSON lines says about versions.
fn replace_in(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{old} is not in {text}");
    fs::write(path, text.replace(old, new)).unwrap();
}

#[test]
fn results_of_another_version_are_left_alone_and_said_once() {
    let place = place();
    let compare = || {
        place.ftlab(
            "compare trace.u32 --format lpn-u32 --logical 32MiB --ftl 1r-greedy --ftl 2r++ --baseline 2r++ \
             --op 15% --out board --quiet",
        )
    };
    let cells = place.path().join("board/cells.jsonl");
    assert_eq!(compare().stderr, "");
    // Both FTLs, also with blocks of half and of double the size.
    assert_eq!(lines(&cells), 6);
    // As a program had it whose 2r++ decided otherwise, or that knew nothing of versions.
    replace_in(&cells, "2r++ 1", "2r++ 0");
    let said = compare().stderr;
    assert!(
        said == "3 results in board will not be reused: a version of ftlab that decides otherwise made them\n",
        "{said}"
    );
    // The hash is what decides; here it is that of this program, under the name of another.
    assert_eq!(lines(&cells), 9);
    assert_eq!(compare().stderr, said);
    assert_eq!(lines(&cells), 9);
    let text = fs::read_to_string(&cells).unwrap();
    let old: Vec<_> = text
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("versions");
            line["run"].as_object_mut().unwrap().remove("trims");
            format!("{line}\n")
        })
        .collect();
    fs::write(&cells, old.concat()).unwrap();
    let said = compare();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.starts_with("9 results in board will not be reused"), "{}", said.stderr);
    assert_eq!(lines(&cells), 15);
}
