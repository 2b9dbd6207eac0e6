//! `ftlab sweep` as a user types it, and as it is killed.

use crate::common::Place;
use std::process::Stdio;
use std::time::{Duration, Instant};

const EXPERIMENT: &str = r#"
title = "a test"
workloads = ["zipf:theta={theta}"]
ftls = ["1r-greedy", "2r-fifo"]
[drive]
logical-pages = 16384
pages-per-block = 64
op = "{op}"
[run]
drive-writes = 4
[grid]
theta = [0.3, 0.5, 0.7, 0.9, 1.1]
op = ["20%", "25%", "30%", "35%", "40%", "45%", "50%", "55%"]
"#;

fn rows(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path().join("out/results.csv")).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A line of results.csv up to the first number that varies from run to run.
fn steady(line: &str) -> String {
    line.split(',').take(14).collect::<Vec<_>>().join(",")
}

#[test]
fn a_sweep_that_is_killed_loses_no_finished_run_and_repeats_none() {
    let place = Place::new();
    place.write("exp.toml", EXPERIMENT);
    let mut kills = 0;
    let parts = |place: &Place| {
        let files = std::fs::read_dir(place.path().join("out")).into_iter().flatten();
        files
            .filter(|file| {
                file.as_ref().unwrap().path().extension().is_some_and(|e| e == "parquet")
            })
            .count()
    };
    let mut kept = 0;
    // Killed three times, each time after a few more finished runs.
    while kills < 3 {
        let mut child = place
            .command("sweep exp.toml --out out --threads 2")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        while parts(&place) < kept + 4 {
            assert!(Instant::now() < deadline, "no run finishes");
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // SIGKILL: the process has no chance to tidy up.
        child.kill().unwrap();
        child.wait().unwrap();
        kept = parts(&place);
        kills += 1;
    }
    assert!(kept >= 4, "{kept}");
    let rest = place.ftlab("sweep exp.toml --out out");
    assert_eq!(rest.code, 0, "{}", rest.stderr);
    let numbers: Vec<usize> =
        rest.stderr.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [ran, reused] = numbers[..2] else { panic!("{}", rest.stderr) };
    assert_eq!(ran + reused, 80, "{}", rest.stderr);
    // Each file has the two FTLs of a job.
    assert!(reused >= 2 * kept.min(40), "{reused} of {kept} files: {}", rest.stderr);
    let killed = rows(&place);
    assert_eq!(killed.len(), 80);

    let whole = Place::new();
    whole.write("exp.toml", EXPERIMENT);
    assert_eq!(whole.ftlab("sweep exp.toml --out out").code, 0);
    let same: Vec<_> = rows(&whole).iter().map(|line| steady(line)).collect();
    assert_eq!(killed.iter().map(|line| steady(line)).collect::<Vec<_>>(), same);
}

#[test]
fn a_small_sweep_prints_its_table_and_a_shard_runs_a_part() {
    let place = Place::new();
    let small = EXPERIMENT
        .replace(", 0.5, 0.7, 0.9, 1.1", "")
        .replace(", \"30%\", \"35%\", \"40%\", \"45%\", \"50%\", \"55%\"", "");
    place.write("exp.toml", small);
    let dry = place.ftlab("sweep exp.toml --dry-run");
    assert!(
        dry.stdout.starts_with("4 runs, 2 workloads and drives\n  op: 20%, 25%\n"),
        "{}",
        dry.stdout
    );
    let half = place.ftlab("sweep exp.toml --shard 1/2");
    assert_eq!(half.code, 0, "{}", half.stderr);
    assert!(half.stderr.contains("2 runs carried out, 0 reused"), "{}", half.stderr);
    let whole = place.ftlab("sweep exp.toml");
    assert!(whole.stderr.contains("2 runs carried out, 2 reused"), "{}", whole.stderr);
    let lines: Vec<_> = whole.stdout.lines().filter(|line| line.contains("2r-fifo")).collect();
    assert_eq!(lines.len(), 2, "{}", whole.stdout);
}

#[test]
fn a_sweep_ends_with_a_line_for_each_cell_and_its_spread() {
    let place = Place::new();
    let small = EXPERIMENT
        .replace(", 0.5, 0.7, 0.9, 1.1", "")
        .replace(", \"30%\", \"35%\", \"40%\", \"45%\", \"50%\", \"55%\"", "");
    place.write("exp.toml", format!("seeds = [1, 2, 3]\n{small}"));
    let files = "--table t.tex --table t.md --table t.csv";
    let output = place.ftlab(&format!("sweep exp.toml --out out {files}"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let lines: Vec<_> = output.stdout.lines().filter(|line| line.contains('%')).collect();
    assert!(lines.len() >= 4 && output.stdout.contains("over 3 seeds"), "{}", output.stdout);
    let csv = std::fs::read_to_string(place.path().join("t.csv")).unwrap();
    let mut csv = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let headings = csv.next().unwrap();
    let at = |name: &str| headings.iter().position(|heading| *heading == name).unwrap();
    let cells: Vec<_> = csv.collect();
    assert_eq!(cells.len(), 4);
    for cell in &cells {
        // The same by hand, of the three runs of this cell.
        let labels = &cell[..at("waf")];
        let same =
            |row: &String| labels.iter().all(|label| row.split(',').any(|text| text == *label));
        let all = std::fs::read_to_string(place.path().join("out/results.csv")).unwrap();
        let mut all = all.lines();
        let waf_at = all.next().unwrap().split(',').position(|heading| heading == "waf").unwrap();
        let rows: Vec<String> = all.map(str::to_owned).collect();
        let wafs: Vec<f64> = rows
            .iter()
            .filter(|row| same(row))
            .map(|row| row.split(',').nth(waf_at).unwrap().parse().unwrap())
            .collect();
        assert_eq!(wafs.len(), 3, "{cell:?}");
        let mean = wafs.iter().sum::<f64>() / 3.0;
        let squares: f64 = wafs.iter().map(|waf| (waf - mean).powi(2)).sum();
        let number = |name: &str| cell[at(name)].parse::<f64>().unwrap();
        assert!((number("waf") - mean).abs() < 1e-9, "{cell:?}");
        assert!((number("waf deviation") - (squares / 2.0).sqrt()).abs() < 1e-9, "{cell:?}");
    }
    let latex = std::fs::read_to_string(place.path().join("t.tex")).unwrap();
    assert_eq!(latex.matches(" \\\\\n").count(), 5, "{latex}");
    place.ftlab("sweep exp.toml --table t.pdf").fails(2, &["t.pdf", ".tex (LaTeX)"]);
}

#[test]
fn wrong_files_and_failing_runs_say_what_to_do() {
    let place = Place::new();
    place.write("exp.toml", EXPERIMENT.replace("op = \"{op}\"", "op = \"{oq}\""));
    place.ftlab("sweep exp.toml").fails(2, &["exp.toml:8:", "{oq} stands for nothing", "^^^"]);
    place.ftlab("sweep none.toml").fails(2, &["none.toml: No such file"]);
    place.write(
        "exp.toml",
        EXPERIMENT.replace("[\"20%\", ", "[\"0%\", ").replace("0.5, 0.7, 0.9, 1.1", "0.5"),
    );
    let output = place.ftlab("sweep exp.toml");
    output.fails(1, &["4 of the runs failed", "op 0%, ftl 1r-greedy"]);
    assert!(output.stderr.contains("28 runs carried out"), "{}", output.stderr);
}
