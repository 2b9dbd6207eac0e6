//! Runs that end when write amplification is steady.

use ftlab_sim::result::RunResult;
use ftlab_sim::{
    DriveOptions, Experiment, Fill, Length, Logical, Physical, Requests, Verdict, Workload,
};
use ftlab_spec::Share;
use ftlab_trace::{Input, OpenOptions, open_input};
use proptest::prelude::*;
use std::io::Write;

const PAGES: u64 = 8192;

fn experiment(workload: Workload, most: f64) -> Experiment {
    Experiment {
        drive: DriveOptions { logical: Logical::Pages(PAGES), ..DriveOptions::default() },
        length: Length::UntilSteady(most),
        repeat: true,
        ..Experiment::new(workload, ["1r-greedy", "2r++"].map(|ftl| ftl.parse().unwrap()).to_vec())
    }
}

fn generator(text: &str) -> Workload {
    Workload::parse(text, OpenOptions::default()).unwrap()
}

/// A trace of uniform writes.
fn trace(writes: u64) -> Workload {
    let line = |n: u64| format!("W,{},1\n", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % PAGES);
    trace_of((0..writes).map(line).collect())
}

/// A trace of lines `OPERATION,PAGE,PAGES`.
fn trace_of(lines: String) -> Workload {
    let open = move || {
        let input = Input::from_bytes("test", lines.clone().into_bytes())?;
        let map = Some("op=1,off:pages=2,len:pages=3".to_owned());
        open_input(input, &OpenOptions { map, ..OpenOptions::default() })
    };
    Workload::Requests(Requests::new("test", false, open))
}

fn all_are(runs: &[RunResult], verdict: Verdict) -> bool {
    runs.iter().all(|run| run.settling.verdict == verdict)
}

#[test]
fn a_run_ends_with_the_look_at_which_all_ftls_are_steady_whatever_the_batches() {
    let experiment = experiment(generator("hotcold"), 100.0);
    let result = experiment.run(&mut ()).unwrap();
    let writes = result.runs[0].host_writes;
    assert!(all_are(&result.runs, Verdict::Steady));
    assert!(writes.is_multiple_of(PAGES / 4) && writes >= 8 * PAGES, "{writes}");
    assert!(result.runs.iter().all(|run| run.host_writes == writes));
    for run in &result.runs {
        let (steady, settling) = (run.steady_waf.unwrap(), run.settling);
        assert!(settling.window_rounds < settling.rounds && settling.turnovers.unwrap() >= 2.0);
        assert!(settling.at_least.unwrap() <= steady && steady <= settling.at_most.unwrap());
        assert!((steady - run.waf).abs() > 1e-6, "the transient is in one of them only");
    }
    let small = Experiment { batch_writes: 100, threads: Some(1), ..experiment.clone() };
    assert_eq!(small.run(&mut ()).unwrap().runs[1].relocations, result.runs[1].relocations);
    // A longer limit changes nothing, and a run of ten times the length has the same amplification.
    let longer = Experiment { length: Length::UntilSteady(500.0), ..experiment.clone() };
    assert_eq!(longer.run(&mut ()).unwrap().runs[0].host_writes, writes);
    let ten =
        Experiment { length: Length::Writes(10 * writes), ..experiment }.run(&mut ()).unwrap();
    for (run, ten) in result.runs.iter().zip(&ten.runs) {
        let (steady, long) = (run.steady_waf.unwrap(), ten.steady_waf.unwrap());
        assert!((steady - long).abs() < 0.03 * (long - 1.0), "{steady} and {long}");
    }
}

#[test]
fn a_short_trace_is_repeated_if_that_is_asked_for() {
    let short = experiment(trace(1000), 100.0);
    for length in [Length::OfWorkload, short.length] {
        let once = Experiment { length, repeat: false, ..short.clone() }.run(&mut ()).unwrap();
        assert!(all_are(&once.runs, Verdict::TooShort) && once.runs[0].host_writes == 1000);
        assert!(once.runs.iter().all(|run| run.steady_waf.is_none()));
    }
    let result = short.run(&mut ()).unwrap();
    assert!(all_are(&result.runs, Verdict::Steady), "{:?}", result.runs[0].settling);
    assert!(result.config.until_steady && result.runs[0].host_writes >= 8 * PAGES);
}

#[test]
fn passes_of_a_repeated_trace_are_compared() {
    let mut of = experiment(trace(5 * PAGES), 200.0);
    of.ftls.truncate(1);
    let result = of.run(&mut ()).unwrap();
    let run = &result.runs[0];
    assert_eq!(run.settling.verdict, Verdict::Steady, "{:?}", run.settling);
    // Eight without the quarter before them.
    assert!(run.host_writes >= 53 * PAGES, "{}", run.host_writes);
}

#[test]
fn a_trace_is_read_to_its_end_before_it_is_steady() {
    // Uniform writes first, which are steady before they end; then only those of one page.
    let line = |n: u64| format!("W,{},1\n", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % PAGES);
    let uniform = 30 * PAGES;
    let all = uniform + 2 * PAGES;
    let lines: String =
        (0..uniform).map(line).chain((uniform..all).map(|_| "W,7,1\n".into())).collect();
    let mut of = experiment(trace_of(lines), 100.0);
    of.ftls.truncate(1);
    let beginning = Experiment { workload: trace(uniform), repeat: false, ..of.clone() };
    assert!(all_are(&beginning.run(&mut ()).unwrap().runs, Verdict::Steady));
    let once = Experiment { repeat: false, ..of.clone() }.run(&mut ()).unwrap();
    assert_eq!(once.runs[0].host_writes, all);
    // It was looked at once, at its end.
    assert_eq!(once.runs[0].settling.looks, 1);
    let again = of.run(&mut ()).unwrap();
    assert_eq!(again.runs[0].host_writes, 100 * PAGES);
    assert!(all_are(&again.runs, Verdict::TooShort));
}

#[test]
fn a_drive_can_be_filled_twice_and_the_future_is_still_known() {
    let of = |fill| Experiment {
        fill,
        length: Length::DriveWrites(2.0),
        ftls: vec!["fk".parse().unwrap()],
        ..experiment(generator("hotcold"), 1.0)
    };
    let once = of(Fill::Sequential).run(&mut ()).unwrap();
    let twice = of(Fill::Twice).run(&mut ()).unwrap();
    assert_eq!(twice.runs[0].host_writes, 2 * PAGES);
    assert!((twice.runs[0].waf - once.runs[0].waf).abs() < 0.1, "{}", twice.runs[0].waf);
}

#[test]
fn what_never_becomes_steady_ends_all_the_same() {
    let result = experiment(generator("uniform"), 1.0).run(&mut ()).unwrap();
    assert_eq!(result.runs[0].host_writes, PAGES);
    assert!(all_are(&result.runs, Verdict::TooShort));
    assert_eq!(result.runs[0].settling.rounds, 4);
}

#[test]
fn what_can_be_read_once_cannot_be_repeated_and_the_future_of_a_steady_run_is_not_known() {
    let Workload::Requests(requests) = trace(10) else { unreachable!() };
    let once = Workload::Requests(Requests::new("once", true, move || requests.open()));
    let error = experiment(once, 5.0).prepare().err().unwrap().to_string();
    assert!(error.starts_with("once can be read once only, and is to be repeated"), "{error}");
    let fk = vec!["fk".parse().unwrap()];
    let future = Experiment { ftls: fk, ..experiment(generator("uniform"), 5.0) };
    let error = future.prepare().err().unwrap().to_string();
    assert!(error.starts_with("an FTL that knows the future needs to know"), "{error}");
}

/// What ends a run, besides a trace.
const ENDS: [Length; 4] =
    [Length::OfWorkload, Length::Writes(700), Length::DriveWrites(2.0), Length::UntilSteady(3.0)];

/// A run of one FTL on a drive of a few blocks.
fn small(workload: Workload, length: Length) -> Experiment {
    let drive = DriveOptions {
        logical: Logical::Pages(512),
        pages_per_block: Some(16),
        physical: Physical::OverProvisioning(Share(0.5)),
        ..DriveOptions::default()
    };
    Experiment {
        drive,
        length,
        fill: Fill::None,
        ftls: vec!["1r-greedy".parse().unwrap()],
        ..experiment(workload, 1.0)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_end_is_reached_or_refused(
        requests in prop::collection::vec((prop::sample::select(vec!["R", "T", "F", "W"]), 0..512_u32, 0..2_u32), 1..5),
        end in prop::sample::select(ENDS.to_vec()),
        repeat in any::<bool>(),
    ) {
        let line = |(op, page, pages): &(&str, u32, u32)| format!("{op},{page},{pages}\n");
        let lines = requests.iter().map(line).collect::<Vec<_>>().concat();
        let writes = requests.iter().any(|(op, _, pages)| *op == "W" && *pages > 0);
        let result = Experiment { repeat, ..small(trace_of(lines), end) }.run(&mut ());
        match result {
            Ok(result) => prop_assert!(writes && result.runs[0].host_writes > 0),
            Err(error) => prop_assert!(!writes && error.to_string().contains("it has no page writes at all"), "{error}"),
        }
    }
}

#[test]
fn jobs_that_cannot_write_are_refused_whatever_the_end_and_the_clock() {
    let base = "filename=drive\nbs=4k\nsize=1m\n";
    for job in [
        "rw=randread\ntime_based\nruntime=5",
        "rw=randtrim\ntime_based\nruntime=5",
        "rw=read",
        "rw=trim\nloops=1000000",
        "rw=rw\nrwmixread=100\ntime_based",
    ] {
        let mut file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
        writeln!(file, "[a]\n{base}{job}").unwrap();
        for end in ENDS {
            for timing in [None, Some("slc:unit=request")] {
                let workload = generator(&file.path().display().to_string());
                let timing = timing.map(|timing| timing.parse().unwrap());
                let error = Experiment { timing, ..small(workload, end) }
                    .run(&mut ())
                    .unwrap_err()
                    .to_string();
                assert!(error.contains("it has no page writes at all"), "{job}: {error}");
            }
        }
    }
}
