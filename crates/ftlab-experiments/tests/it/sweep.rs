//! Experiment files become the right runs, and sweeps give the same whatever interrupts or divides them.

use ftlab_experiments::ExperimentsError;
use ftlab_experiments::sweep::{
    Curve, ExperimentFile, Numbers, Outcome, Plan, Point, Scale, Shard, Store, StoredRun,
    SweepOptions, compare, read_runs, schema, sweep,
};
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Physical, SimError, Workload};
use ftlab_spec::SpecError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

const COMMITTED: &str = include_str!("../../schema/experiment.schema.json");

const TEXT: &str = r#"
    title = "a test"
    workloads = ["zipf:theta={theta}", { name = "even", spec = "uniform" }]
    ftls = ["1r-greedy", { name = "2R", spec = "2r-fifo:blk-util={util}" }]
    seeds = [1, 2]
    [drive]
    logical-pages = 2048
    pages-per-block = 32
    op = "25%"
    [run]
    fill = "sequential"
    drive-writes = 2
    [grid]
    theta = [0.5, 0.9]
    util = [0.5]
"#;

fn plan(text: &str) -> Plan {
    Plan::new(ExperimentFile::parse(Path::new("test.toml"), text).unwrap(), Scale::FULL).unwrap()
}

fn error(text: &str) -> String {
    let file = ExperimentFile::parse(Path::new("test.toml"), text);
    match file {
        Err(error) => error.to_string(),
        Ok(file) => Plan::new(file, Scale::FULL).unwrap_err().to_string(),
    }
}

fn run(plan: &Plan, directory: &Path, shard: Shard, threads: usize) -> Outcome {
    let mut store = Store::open(directory, shard).unwrap();
    let options = SweepOptions { threads: Some(threads), shard };
    sweep(plan, &mut store, options, &|_| ControlFlow::Continue(())).unwrap()
}

/// What does not vary from run to run.
fn counts(results: BTreeMap<String, StoredRun>) -> BTreeMap<String, String> {
    let text = |stored: StoredRun| {
        let mut result = stored.result;
        for run in &mut result.runs {
            (run.seconds, run.nanoseconds_per_program) = (0.0, 0.0);
            (run.nanoseconds_per_host_write, run.nanoseconds_per_relocation) = (0.0, None);
        }
        serde_json::to_string(&result).unwrap()
    };
    results.into_iter().map(|(run, stored)| (run, text(stored))).collect()
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    assert!(
        schema() == COMMITTED,
        "the schema has changed; regenerate it: cargo run -p ftlab-experiments --example \
         experiment_schema > crates/ftlab-experiments/schema/experiment.schema.json"
    );
}

#[test]
fn a_file_that_is_used_here_conforms_to_the_schema() {
    let value: serde_json::Value = toml::from_str(TEXT).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(COMMITTED).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn every_combination_is_a_point_and_equal_runs_are_one() {
    let plan = plan(TEXT);
    // Two workloads, two thetas, two seeds, two FTLs; uniform writes know no theta.
    assert_eq!(plan.points.len(), 16);
    assert_eq!(plan.runs(), 12);
    assert_eq!(plan.jobs.len(), 6, "FTLs share a decoding");
    assert_eq!(plan.varying_axes(), ["workload", "theta", "ftl", "seed"]);
    assert_eq!(plan.axis("ftl"), ["1r-greedy", "2R"]);
    assert_eq!(plan.axis("workload"), ["zipf:theta={theta}", "even"]);
}

#[test]
fn jobs_that_ran_elsewhere_and_came_twice_give_the_same_store() {
    let plan = plan(TEXT);
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&plan, here.path(), Shard::WHOLE, 2);
    let mut store = Store::open(elsewhere.path(), Shard::WHOLE).unwrap();
    for job in plan.pending(&store, Shard::WHOLE) {
        let outcome = job.run_by(|experiment| experiment.run(&mut ()).map_err(|it| it.to_string()));
        assert_eq!(outcome.failures, []);
        let bytes = outcome.encode().unwrap();
        assert_eq!(store.add_encoded(&bytes).unwrap(), job.runs.len());
        assert_eq!(store.add_encoded(&bytes).unwrap(), 0);
    }
    assert!(plan.pending(&store, Shard::WHOLE).is_empty());
    assert!(store.add_encoded(b"not Parquet").is_err());
    store.join().unwrap();
    let counts_in = |directory: &tempfile::TempDir| counts(read_runs(directory.path()).unwrap());
    assert_eq!(counts_in(&elsewhere), counts_in(&here));
}

/// An experiment on a trace of page numbers, which it names by its whole path.
fn on_trace(path: &Path) -> String {
    let trace = format!("workloads = [{{ spec = \"{}\", format = \"lpn-u32\" }}]", path.display());
    TEXT.lines().map(|line| if line.contains("workloads") { &trace } else { line }).fold(
        String::new(),
        |text, line| if line.contains("drive-writes") { text } else { text + line + "\n" },
    )
}

#[test]
fn a_trace_that_is_changed_after_the_plan_gives_no_result_until_it_is_planned_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.u32");
    let write = |step: u32| {
        let pages = (0..6000).map(|page| page * step % 2048).flat_map(u32::to_le_bytes);
        std::fs::write(&path, pages.collect::<Vec<_>>()).unwrap();
    };
    write(3);
    let text = on_trace(&path);
    let old = plan(&text);
    write(5);
    let store = directory.path().join("store");
    let outcome = run(&old, &store, Shard::WHOLE, 2);
    assert_eq!((outcome.ran, outcome.reused), (0, 0));
    let error = &outcome.failures[0].error;
    assert!(error.contains("trace.u32, which was changed while it was read,"), "{error}");
    let new = plan(&text);
    assert_eq!(run(&new, &store, Shard::WHOLE, 2).ran, new.runs());
    write(3);
    assert_eq!(run(&old, &store, Shard::WHOLE, 2).ran, old.runs());
    write(5);
    assert_eq!(run(&plan(&text), &store, Shard::WHOLE, 2).reused, new.runs());
}

#[test]
fn results_of_another_version_stay_and_are_not_used() {
    let plan = plan(TEXT);
    let directory = tempfile::tempdir().unwrap();
    run(&plan, directory.path(), Shard::WHOLE, 2);
    let stored: Vec<_> = read_runs(directory.path()).unwrap().into_values().collect();
    assert!(stored.iter().all(|run| run.versions.contains("simulation 1, ")), "{stored:?}");
    // As a program would have left them whose 1r-greedy decided otherwise.
    let other = tempfile::tempdir().unwrap();
    let mut store = Store::open(other.path(), Shard::WHOLE).unwrap();
    let old: Vec<_> = stored
        .iter()
        .map(|stored| StoredRun {
            run: stored.run.chars().rev().collect(),
            versions: stored.versions.replace("greedy 1", "greedy 0"),
            ..stored.clone()
        })
        .collect();
    let outcome = ftlab_experiments::sweep::JobOutcome { runs: old, failures: Vec::new() };
    assert_eq!(store.add_encoded(&outcome.encode().unwrap()).unwrap(), 12);
    drop(store);
    let store = Store::open(other.path(), Shard::WHOLE).unwrap();
    assert_eq!(store.others(), 6);
    let said = ftlab_experiments::not_reused(store.others(), Path::new("out")).unwrap();
    assert!(said.starts_with("6 results in out will not be reused"), "{said}");
    drop(store);
    assert_eq!(run(&plan, other.path(), Shard::WHOLE, 2).ran, 12);
    assert_eq!(read_runs(other.path()).unwrap().len(), 24, "nothing is lost");
    assert_eq!(run(&plan, other.path(), Shard::WHOLE, 2).reused, 12);
}

#[test]
fn a_sweep_that_is_stopped_keeps_what_is_finished() {
    let plan = plan(TEXT);
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path(), Shard::WHOLE).unwrap();
    let stopped = sweep(&plan, &mut store, SweepOptions::default(), &|status| {
        if status.done < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(matches!(stopped, Err(ExperimentsError::Sim(SimError::Stopped))), "{stopped:?}");
    drop(store);
    let outcome = run(&plan, directory.path(), Shard::WHOLE, 2);
    assert!(outcome.reused >= 4 && outcome.ran > 0, "{outcome:?}");
    assert_eq!(outcome.ran + outcome.reused, 12);
}

#[test]
fn a_point_gives_what_the_experiment_itself_gives() {
    let plan = plan(TEXT);
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(run(&plan, directory.path(), Shard::WHOLE, 2).ran, 12);
    let results = read_runs(directory.path()).unwrap();
    let ftls = vec!["1r-greedy".parse().unwrap(), "2r-fifo".parse().unwrap()];
    let workload = Workload::parse("zipf:theta=0.9", ftlab_trace::OpenOptions::default()).unwrap();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(2048),
            pages_per_block: Some(32),
            physical: Physical::OverProvisioning("25%".parse().unwrap()),
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        length: Length::DriveWrites(2.0),
        seed: 2,
        ..Experiment::new(workload, ftls)
    };
    let expected = experiment.run(&mut ()).unwrap();
    for (name, expected) in ["1r-greedy", "2R"].iter().zip(&expected.runs) {
        let point = plan.points.iter().find(|point| {
            point.label("workload") == Some("zipf:theta={theta}")
                && point.label("theta") == Some("0.9")
                && point.label("ftl") == Some(name)
                && point.label("seed") == Some("2")
        });
        let found = &results[&point.unwrap().run].result.runs[0];
        assert_eq!((found.relocations, found.erases), (expected.relocations, expected.erases));
        assert_eq!(found.config_hash, expected.config_hash);
    }
}

#[test]
fn results_do_not_depend_on_threads_or_shards() {
    let plan = plan(TEXT);
    let (one, three) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(run(&plan, one.path(), Shard::WHOLE, 1).ran, 12);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| shard.parse().unwrap());
    let ran = shards.map(|shard| run(&plan, three.path(), shard, 3).ran);
    assert_eq!(ran.iter().sum::<usize>(), 12);
    assert!(ran.iter().all(|ran| *ran > 0));
    let [one, three] = [one, three].map(|place| counts(read_runs(place.path()).unwrap()));
    assert_eq!(one, three);
}

#[test]
fn what_has_a_result_is_not_run_again() {
    let plan = plan(TEXT);
    let directory = tempfile::tempdir().unwrap();
    let first: Shard = "1/2".parse().unwrap();
    let ran = run(&plan, directory.path(), first, 2).ran;
    let rest = run(&plan, directory.path(), Shard::WHOLE, 2);
    assert_eq!((rest.ran, rest.reused), (12 - ran, ran));
    let again = run(&plan, directory.path(), Shard::WHOLE, 2);
    assert_eq!((again.ran, again.reused), (0, 12));
    assert_eq!(read_runs(directory.path()).unwrap().len(), 12);
    let files = std::fs::read_dir(directory.path()).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    let tables = names.iter().filter(|name| name.to_string_lossy().ends_with(".parquet"));
    assert_eq!(tables.count(), 2, "one for each shard: {names:?}");
}

#[test]
fn a_run_that_fails_is_named_and_the_others_finish() {
    // 2R needs more spare blocks than this drive has; the first FTL does not.
    let text = TEXT.replace("op = \"25%\"", "blocks = 70\nreserve = 4");
    let plan = plan(&text);
    let directory = tempfile::tempdir().unwrap();
    let outcome = run(&plan, directory.path(), Shard::WHOLE, 2);
    assert_eq!((outcome.ran, outcome.failures.len()), (6, 6), "{outcome:?}");
    let failure = &outcome.failures[0];
    assert!(failure.run.contains("ftl 2r-fifo"), "{failure:?}");
    assert!(failure.error.contains("blocks"), "{failure:?}");
}

#[test]
fn two_processes_do_not_add_to_the_same_shard() {
    let directory = tempfile::tempdir().unwrap();
    let _first = Store::open(directory.path(), Shard::WHOLE).unwrap();
    let error = Store::open(directory.path(), Shard::WHOLE).unwrap_err().to_string();
    assert!(error.contains("another process") && error.contains("--out"), "{error}");
    Store::open(directory.path(), "1/2".parse().unwrap()).unwrap();
}

#[test]
fn cases_replace_what_the_file_gives() {
    let text = r#"
        title = "cases"
        workloads = ["uniform"]
        ftls = ["1r-greedy"]
        [drive]
        logical-pages = 2048
        op = "25%"
        pages-per-block = 32
        [run]
        writes = 100
        [[case]]
        name = "as it is"
        [[case]]
        name = "other"
        ftls = ["2r-fifo", "2r++"]
        drive.blocks = 90
        run.drive-writes = 2
        grid.n = [1, 2]
    "#;
    let plan = plan(text);
    let of = |case: &str| plan.points.iter().filter(|p| p.label("case") == Some(case)).count();
    assert_eq!((of("as it is"), of("other")), (1, 4));
    assert_eq!(plan.runs(), 3, "n is not used");
    let other = &plan.jobs[1].experiment;
    assert_eq!(other.drive.physical, Physical::Blocks(90));
    assert_eq!(other.length, Length::DriveWrites(2.0));
    assert_eq!(plan.jobs[0].experiment.length, Length::Writes(100));
}

#[test]
fn a_scaled_experiment_is_smaller_in_pages_blocks_and_writes() {
    let text = r#"
        title = "scaled"
        workloads = ["uniform"]
        ftls = ["wolf:detector=oracle,q={writes + logical-pages}"]
        [drive]
        logical-pages = 65536
        blocks = 2560
        pages-per-block = 32
        reserve = 16
        [run]
        writes = 12800
        warmup-drive-writes = 2
    "#;
    let scaled = |text: &str| {
        let file = ExperimentFile::parse(Path::new("test.toml"), text).unwrap();
        Plan::new(file, "1/4".parse().unwrap()).map(|plan| plan.jobs[0].experiment.clone())
    };
    let error = scaled(text).unwrap_err().to_string();
    assert!(error.contains("q=19584"), "variables are scaled: {error}");
    let experiment = scaled(&text.replace(",q={writes + logical-pages}", "")).unwrap();
    let drive = &experiment.drive;
    assert_eq!((drive.logical, drive.physical), (Logical::Pages(16384), Physical::Blocks(640)));
    assert_eq!((drive.pages_per_block, drive.reserve_blocks), (Some(32), 4));
    assert_eq!((experiment.length, experiment.warmup_writes), (Length::Writes(3200), 32768));
}

#[test]
fn a_run_of_a_file_has_the_options_of_the_command() {
    let more =
        "repeat = true\n until = \"steady\"\n streams = \"0..1MiB=1\"\n warmup-drive-writes = 0.5";
    let text = TEXT.replace("drive-writes = 2", &format!("drive-writes = 7\n {more}"));
    let experiment = &plan(&text).jobs[0].experiment;
    assert_eq!((experiment.length, experiment.repeat), (Length::UntilSteady(7.0), true));
    assert_eq!(experiment.streams.as_ref().unwrap().to_string(), "0B..1MiB=1");
    assert_eq!(experiment.warmup_writes, 1024);
    let both = error(&TEXT.replace("drive-writes = 2", "until = \"steady\"\n writes = 5"));
    assert!(both.contains("writes and until are given both; leave one out"), "{both}");
    let prepared = error(&TEXT.replace("drive-writes = 2", "precondition = \"pts\""));
    assert!(prepared.contains("fill and precondition are given both"), "{prepared}");
    // Cases replace what excludes theirs.
    let case = "[[case]]\n name = \"a\"\n [case.run]\n writes = 9\n";
    let replaced = plan(&(TEXT.replace("drive-writes = 2", "until = \"steady\"") + case));
    assert_eq!(replaced.jobs[0].experiment.length, Length::Writes(9));
}

#[test]
fn what_is_wrong_is_shown_with_its_line_and_the_remedy() {
    let wrong = |from: &str, to: &str| error(&TEXT.replace(from, to));
    for (from, to, parts) in [
        ("\"25%\"", "\"x\"", &["test.toml:9: op = ", "a share such as 10%", "^^^"][..]),
        ("{theta}", "{zeta}", &["test.toml:3:", "{zeta} stands for nothing; add zeta = [...]"]),
        ("1r-greedy", "1r-gredy", &["test.toml:4:", "did you mean \"1r-greedy\""]),
        ("blk-util={util}", "util={util}", &["test.toml:4:", "blk-util"]),
        ("fill = ", "filled = ", &["test.toml:11:", "filled", "fill"]),
        ("\"uniform\"", "\"uniforn\"", &["test.toml:3:", "did you mean \"uniform\""]),
        ("[0.5]", "[]", &["the variable util of the grid has no values"]),
        ("util = [0.5]", "ftl = [0.5]", &["ftl is an axis of every experiment"]),
        (
            "drive-writes = 2",
            "drive-writes = 2\n writes = 5",
            &["writes and drive-writes", "leave one out"],
        ),
        ("\"sequential\"", "[", &["test.toml:1"]),
        ("name = \"2R\"", "name = \"1r-greedy\"", &["names two different runs"]),
        ("2048", "0", &["has no whole page"]),
    ] {
        let message = wrong(from, to);
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    }
}

#[test]
fn the_blocks_of_a_chip_shrink_with_the_drive() {
    let text = r#"
        title = "a test"
        workloads = ["uniform"]
        ftls = ["1r-greedy"]
        [drive]
        logical = "16GiB"
        [run]
        timing = "femu"
    "#;
    let pages = |scale: &str| {
        let file = ExperimentFile::parse(Path::new("test.toml"), text).unwrap();
        let plan = Plan::new(file, scale.parse().unwrap()).unwrap();
        let drive = plan.jobs[0].experiment.drive_on_its_flash().unwrap();
        (drive.asked_pages(), drive.pages_per_block)
    };
    assert_eq!(pages("1"), (Some(4_194_304), Some(16_384)));
    assert_eq!(pages("1/8"), (Some(524_288), Some(2048)));
}

#[test]
fn what_is_no_evidence_is_in_no_mean_and_named() {
    /// 1 without an erase for theta 0.5, or else 3, and 5 with the second seed.
    struct Half;

    impl Numbers for Half {
        fn check(&self, _: &str) -> Result<(), SpecError> {
            Ok(())
        }

        fn number(&self, _: &str, point: &Point) -> Option<f64> {
            let is_second = point.label("seed") == Some("2");
            Some(match self.lacks(point) {
                Some(_) => 1.0,
                None if is_second => 5.0,
                None => 3.0,
            })
        }

        fn curve(&self, _: &str, _: &Point, _: f64) -> Result<Option<Curve>, SpecError> {
            Ok(None)
        }

        fn lacks(&self, point: &Point) -> Option<&str> {
            (point.label("theta") == Some("0.5")).then_some("no block was erased")
        }
    }

    let mean = "
        [[expect]]
        metric = \"waf\"
        of = { ftl = \"1r-greedy\", workload = \"zipf:theta={theta}\" }
        reduce = \"mean\"
        at-least = 3.9
    ";
    let lines = compare(&plan(&format!("{TEXT}{mean}")), &Half).unwrap();
    assert_eq!((lines[0].measured.as_str(), lines[0].agrees), ("4.000", Some(true)));
    assert!(lines[0].remark.contains("(no block was erased)"), "{lines:?}");
}

#[test]
fn only_what_has_a_published_value_is_compared() {
    struct Two;

    impl Numbers for Two {
        fn check(&self, _metric: &str) -> Result<(), SpecError> {
            Ok(())
        }

        fn number(&self, _metric: &str, _point: &Point) -> Option<f64> {
            Some(2.0)
        }

        fn curve(&self, _: &str, _: &Point, _: f64) -> Result<Option<Curve>, SpecError> {
            Ok(None)
        }
    }

    let expectations = "
        [[expect]]
        metric = \"waf\"
        of = { ftl = \"2R\", theta = 0.5, workload = \"even\" }
        [[expect]]
        metric = \"waf\"
        of = { ftl = \"2R\", theta = 0.5, workload = \"even\" }
        at-most = 2.5
        [[expect]]
        metric = \"waf\"
        of = { ftl = \"2R\", theta = 0.5, workload = \"even\" }
        value = 3
        [[expect]]
        metric = \"waf\"
        of = { ftl = \"1r-greedy\" }
        along = \"theta\"
        values = [2, nan]
    ";
    let lines = compare(&plan(&format!("{TEXT}{expectations}")), &Two).unwrap();
    assert!(lines.iter().all(|line| line.measured == "2.000"), "{lines:?}");
    let agree: Vec<_> = lines.iter().map(|line| line.agrees).collect();
    assert_eq!(agree[..3], [None, Some(true), Some(false)]);
    assert!(lines[3..].iter().all(|line| line.agrees == Some(true)), "{lines:?}");
}
