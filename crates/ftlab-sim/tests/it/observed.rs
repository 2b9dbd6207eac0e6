//! What is watched for a report, against what is counted anyway.

use ftlab_ftl::registry;
use ftlab_sim::result::{Bytes, FREE, Frame, RunResult};
use ftlab_sim::{
    DriveOptions, Experiment, ExperimentResult, Fill, Length, Logical, Physical, Workload,
};
use ftlab_trace::OpenOptions;
use std::path::Path;

const LOGICAL_PAGES: u32 = 8192;
const PAGES_PER_BLOCK: u32 = 64;

fn experiment(workload: &str, ftls: &[&str]) -> Experiment {
    let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
    Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(LOGICAL_PAGES.into()),
            pages_per_block: Some(PAGES_PER_BLOCK),
            physical: Physical::Blocks(148),
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        observe: true,
        ..Experiment::new(workload, ftls.iter().map(|ftl| ftl.parse().unwrap()).collect())
    }
}

fn small_trace() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.parquet").display().to_string()
}

fn run(experiment: &Experiment) -> ExperimentResult {
    experiment.run(&mut ()).unwrap()
}

fn frames(run: &RunResult) -> &[Frame] {
    &run.observed.as_ref().unwrap().frames
}

fn cells(of: &Bytes, byte: u8) -> usize {
    of.0.iter().map(|other| usize::from(*other == byte)).sum()
}

#[test]
fn moves_and_blocks_of_every_ftl_are_those_that_are_counted() {
    let names = registry::ftl_names();
    // An oracle has to be told what is hot, since the trace does not say.
    let tell = |name: &String| {
        if name.starts_with("oracle/") { format!("{name}:hot=0..0.1") } else { name.clone() }
    };
    let told: Vec<_> = names.iter().map(tell).collect();
    let told: Vec<_> = told.iter().map(String::as_str).collect();
    let experiment = experiment(&small_trace(), &told);
    for run in &run(&experiment).runs {
        let moves = run.observed.as_ref().unwrap().moves;
        let moved = moves.hot + moves.warm + moves.cold + moves.frozen + moves.undecided;
        assert_eq!(moved, run.relocations + run.merge_copies, "{}", run.ftl);
        let last = frames(run).last().unwrap();
        for (stream, expected) in run.streams.iter().enumerate() {
            let blocks = cells(&last.region, stream as u8);
            assert_eq!(blocks, expected.blocks as usize, "{}", run.ftl);
            let binned: u32 = last.blocks_by_valid_share[stream].iter().sum();
            assert_eq!(binned, expected.blocks, "{}", run.ftl);
        }
    }
    // Without trims, a drive that is filled holds every page.
    for run in &run(&Experiment { ignore_trims: true, ..experiment }).runs {
        for frame in frames(run) {
            let valid: u32 = frame.valid.0.iter().map(|share| u32::from(*share)).sum();
            let pages = f64::from(valid * PAGES_PER_BLOCK) / 255.0;
            // Rounding takes or adds half a 255th of each block at most.
            let off = (pages - f64::from(LOGICAL_PAGES)).abs();
            assert!(off < 148.0 * 32.0 / 255.0, "{}: {pages}", run.ftl);
        }
    }
}

#[test]
fn frames_go_from_the_first_counted_write_to_the_last() {
    let of_trace = run(&experiment(&small_trace(), &["2r++"]));
    let of_generator = run(&Experiment {
        length: Length::Writes(10_007),
        warmup_writes: 1000,
        ..experiment("zipf:theta=0.9", &["2r++"])
    });
    for (result, distance) in [(&of_trace, 1024), (&of_generator, 167)] {
        let run = &result.runs[0];
        let times: Vec<_> = frames(run).iter().map(|frame| frame.host_writes).collect();
        assert_eq!((times[0], *times.last().unwrap()), (0, run.host_writes));
        let (last, even) = times.split_last().unwrap();
        assert!(even.iter().zip(0..).all(|(time, index)| *time == index * distance), "{times:?}");
        assert!(last - even.last().unwrap() <= distance && times.len() <= 65, "{times:?}");
    }
}

#[test]
fn a_full_drive_is_cold_at_first_but_for_what_was_filled_last() {
    let result = run(&experiment("hotcold:writes=1,pages=0.05", &["1r-greedy"]));
    let (first, last) = (&frames(&result.runs[0])[0], frames(&result.runs[0]).last().unwrap());
    // Two windows are 1,638 pages. The other 6,555 fill 102 of the 128 blocks, and 27/64 of one.
    let cold = |frame: &Frame| cells(&frame.cold, 255);
    assert_eq!((cold(first), first.cold.0[102]), (102, 108));
    assert_eq!(cells(&first.region, FREE), 20);
    assert!(cold(last) >= 110, "{} blocks", cold(last));
}

#[test]
fn what_is_watched_depends_on_neither_threads_nor_batches() {
    let whole = experiment(&small_trace(), &["2r-fifo", "wolf", "faster"]);
    let parts = Experiment { threads: Some(1), batch_writes: 777, ..whole.clone() };
    let observed = |experiment: &Experiment| {
        run(experiment).runs.into_iter().map(|run| run.observed).collect::<Vec<_>>()
    };
    assert_eq!(observed(&whole), observed(&parts));
    let unwatched = Experiment { observe: false, ..whole };
    assert!(observed(&unwatched).iter().all(Option::is_none));
}
