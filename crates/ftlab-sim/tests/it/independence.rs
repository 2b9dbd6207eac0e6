//! Results depend on the workload, the drive and the seed, and on nothing else.

use ftlab_sim::result::ExperimentResult;
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};
use ftlab_trace::OpenOptions;
use proptest::prelude::*;
use std::io::Write;

/// A result without the times, which differ from run to run.
fn without_times(mut result: ExperimentResult) -> ExperimentResult {
    for run in &mut result.runs {
        run.seconds = 0.0;
        run.nanoseconds_per_program = 0.0;
        run.nanoseconds_per_host_write = 0.0;
        run.nanoseconds_per_relocation = None;
    }
    result
}

fn experiment(workload: Workload) -> Experiment {
    let ftls = ["1r-greedy", "2r-fifo", "2r++", "fk", "nvme-fdp"].map(|name| name.parse().unwrap());
    Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(1024),
            pages_per_block: Some(16),
            physical: ftlab_sim::Physical::Blocks(80),
            ..DriveOptions::default()
        },
        ..Experiment::new(workload, ftls.to_vec())
    }
}

/// Sectors of a page.
const PAGE: u64 = 8;

/// Bytes that the host sends of each page that these requests write, in order, with the placement handle that it names.
fn sent(requests: &[(u8, u64, u64)]) -> Vec<(u64, usize)> {
    let writes = requests.iter().enumerate().filter(|(_, (op, ..))| *op >= 3);
    let of_request = |(index, (_, first, sectors)): (usize, &(u8, u64, u64))| {
        let end = first + sectors;
        let pages = first / PAGE..=(end - 1) / PAGE;
        let part = |page: u64| end.min((page + 1) * PAGE) - (*first).max(page * PAGE);
        // Stream 8 has no handle.
        pages.map(|page| (512 * part(page), index % 9 % 8)).collect::<Vec<_>>()
    };
    writes.flat_map(of_request).collect()
}

/// Of the write requests that bring these page writes, those that do not begin and end at page boundaries.
fn unaligned(requests: &[(u8, u64, u64)], page_writes: u64) -> u64 {
    let mut pages = 0;
    let writes = requests.iter().filter(|(op, ..)| *op >= 3);
    let taken = writes.take_while(|(_, first, sectors)| {
        let is_taken = pages < page_writes;
        pages += (first + sectors - 1) / PAGE - first / PAGE + 1;
        is_taken
    });
    taken.filter(|(_, first, sectors)| first % PAGE + sectors % PAGE > 0).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn results_do_not_depend_on_batches_or_threads_and_count_what_the_host_sent(
        requests in prop::collection::vec((0u8..10, 0u64..8000, 1u64..192), 200..400),
        batch_writes in 1u64..3000,
        interval in 1u64..2000,
        warmup_writes in 0u64..300,
        writes in prop::option::of(1u64..3000),
        threads in 1usize..4,
        timing in prop::option::of(prop_oneof![Just("slc:luns=3,queue-depth=4"), Just("slc:arrivals=trace")]),
    ) {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        for (index, (op, first, sectors)) in requests.iter().enumerate() {
            let op = ["T", "R", "F", "W"][usize::from(*op).min(3)];
            writeln!(file, "{},{op},{first},{sectors},{}", index * 3000, index % 9).unwrap();
        }
        let options = OpenOptions {
            map: Some("ts:us=1,op=2,off:sectors=3,len:sectors=4,stream=5".into()),
            ..OpenOptions::default()
        };
        let workload = Workload::parse(&file.path().display().to_string(), options).unwrap();
        let base = Experiment {
            warmup_writes,
            interval_writes: Some(interval),
            length: writes.map_or(Length::OfWorkload, Length::Writes),
            threads: Some(1),
            timing: timing.map(|text| text.parse().unwrap()),
            ..experiment(workload)
        };
        let other = Experiment { batch_writes, threads: Some(threads), ..base.clone() };
        let (base, other) = (base.run(&mut ()), other.run(&mut ()));
        if let Ok(found) = &base {
            let all = sent(&requests);
            let counted = all.iter().skip(warmup_writes as usize);
            let counted: Vec<_> = counted.take(writes.unwrap_or(u64::MAX) as usize).collect();
            let bytes: u64 = counted.iter().map(|(bytes, _)| bytes).sum();
            for run in &found.runs {
                prop_assert_eq!((run.host_writes, run.host_bytes), (counted.len() as u64, bytes));
                let media = run.waf * run.host_writes as f64 * 4096.0;
                prop_assert!((run.media_bytes_per_host_byte / (media / bytes as f64) - 1.0).abs() < 1e-12);
                let is_whole = bytes == 4096 * counted.len() as u64;
                let whole = counted.chunks_exact(interval as usize);
                let running = whole.map(|part| part.iter().map(|(bytes, _)| bytes).sum());
                let running: Vec<u64> = running.collect();
                prop_assert_eq!(run.running_host_bytes.as_ref(), (!is_whole).then_some(&running));
            }
            let fdp = found.runs.iter().find_map(|run| run.fdp.as_ref()).unwrap();
            prop_assert_eq!(fdp.hbmw, bytes);
            for (handle, of) in fdp.handles.iter().enumerate() {
                let own = counted.iter().filter(|(_, named)| *named == handle);
                prop_assert_eq!(of.hbmw, own.map(|(bytes, _)| bytes).sum::<u64>(), "{}", handle);
            }
            let page_writes = warmup_writes + writes.unwrap_or(u64::MAX / 2);
            prop_assert_eq!(found.workload.unaligned_writes, unaligned(&requests, page_writes));
        }
        match (base, other) {
            (Ok(base), Ok(other)) => prop_assert_eq!(without_times(base), without_times(other)),
            (Err(base), Err(other)) => prop_assert_eq!(base.to_string(), other.to_string()),
            (base, other) => prop_assert!(false, "{:?} and {:?}", base.is_ok(), other.is_ok()),
        }
    }
}

#[test]
fn a_random_fill_is_the_same_for_the_same_seed_and_is_not_counted() {
    let run = |seed| {
        let workload = Workload::parse("uniform:map=on", OpenOptions::default()).unwrap();
        let experiment = Experiment {
            fill: Fill::Random,
            length: Length::DriveWrites(2.0),
            seed,
            ..experiment(workload)
        };
        without_times(experiment.run(&mut ()).unwrap())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).runs[0].relocations, run(8).runs[0].relocations);
    assert!(run(7).runs.iter().all(|run| run.host_writes == 2048 && run.running_waf[0] > 1.0));
}

#[test]
fn the_last_tenth_is_a_tenth() {
    let workload = Workload::parse("uniform", OpenOptions::default()).unwrap();
    for writes in [10, 999, 5000, 123_457] {
        let experiment =
            Experiment { length: Length::Writes(writes), ..experiment(workload.clone()) };
        let run = &experiment.run(&mut ()).unwrap().runs[0];
        let tenth = writes.div_ceil(10);
        assert!(run.last_tenth_host_writes.abs_diff(tenth) * 1000 <= writes, "{writes}");
        assert!(run.waf_last_tenth >= 1.0);
    }
}
