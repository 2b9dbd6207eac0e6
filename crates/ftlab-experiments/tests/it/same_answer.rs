//! The same question has the same answer from `run --until steady --repeat`, `compare` and `advise`, and the bound of a
//! run that ends with its trace holds.

use ftlab_experiments::Stop;
use ftlab_experiments::advise::{Choice, Question, usual_length};
use ftlab_experiments::compare::{CELLS, CellStore, Comparison};
use ftlab_sim::result::RunResult;
use ftlab_sim::{
    DriveOptions, Experiment, Fill, Length, Physical, UNTIL_STEADY_DRIVE_WRITES, Verdict, Workload,
};
use ftlab_spec::{Share, Spec};
use ftlab_trace::{Layout, Op, OpenOptions, RequestBatch};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Requests that are taken of a trace.
const REQUESTS: usize = 12_000;
/// Bytes that become a page, so that the drive is small.
const PIECE_BYTES: u64 = 16 << 10;

/// The captured traces that are here.
fn traces() -> Vec<PathBuf> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/tpcc-mariadb.parquet");
    let mut traces = vec![demo];
    match std::env::var_os("FTLAB_SHARED") {
        None => eprintln!("skipped: FTLAB_SHARED does not say where the other captured traces are"),
        Some(shared) => {
            let all = Path::new(&shared).join("traces").read_dir().unwrap();
            let all = all.map(|entry| entry.unwrap().path());
            traces.extend(all.filter(|path| path.extension().is_some_and(|it| it == "parquet")));
        }
    }
    traces
}

/// The writes of the beginning of a trace, of pages that are large pieces of its addresses in order of first use.
fn beginning(trace: &Path) -> String {
    let options = OpenOptions { layout: Layout::Pieces(PIECE_BYTES), ..OpenOptions::default() };
    let workload = Workload::Trace { path: trace.to_owned(), options };
    let mut source = workload.open_trace(4096, false).unwrap().unwrap();
    let (mut lines, mut taken) = (String::new(), 0);
    let mut batch = RequestBatch::default();
    while taken < REQUESTS && source.next_batch(&mut batch).unwrap() {
        let writes = (0..batch.len()).filter(|index| batch.op[*index] == Op::Write);
        for index in writes.take(REQUESTS - taken) {
            let page = batch.lba[index] * 512 / PIECE_BYTES;
            writeln!(lines, "W,{page},1").unwrap();
            taken += 1;
        }
    }
    lines
}

/// One FTL on a small drive that the trace fills.
fn experiment(trace: &Path, ftl: &str) -> Experiment {
    let map = Some("op=1,off:pages=2,len:pages=3".to_owned());
    let options = OpenOptions { map, ..OpenOptions::default() };
    let workload = Workload::parse(&trace.display().to_string(), options).unwrap();
    let drive = DriveOptions {
        pages_per_block: Some(16),
        physical: Physical::OverProvisioning(Share(0.2)),
        ..DriveOptions::default()
    };
    Experiment { drive, ..Experiment::new(workload, vec![ftl.parse().unwrap()]) }
}

fn by_run(experiment: &Experiment) -> RunResult {
    experiment.run(&mut ()).unwrap().runs.remove(0)
}

fn by_compare(experiment: &Experiment) -> RunResult {
    let comparison = Comparison {
        base: Experiment { ftls: Vec::new(), ..experiment.clone() },
        workloads: vec![experiment.workload.clone()],
        ftls: experiment.ftls.clone(),
        fills: vec![Fill::default()],
        op_ratios: vec![Share(0.2)],
        pages_per_block: vec![Some(16)],
        models: None,
        stop: Stop::default(),
    };
    let place = tempfile::tempdir().unwrap();
    let store = CellStore::open(place.path(), CELLS).unwrap();
    comparison.run(store, 1, &|_, _, _| ()).unwrap().remove(0).run.unwrap()
}

/// The write amplification of the only point, and whether it had settled.
fn by_advise(experiment: &Experiment, ftl: &Spec) -> (f64, Verdict) {
    let length = usual_length(&experiment.workload, false);
    let question = Question {
        base: Experiment { length, repeat: false, ..experiment.clone() },
        ftls: Choice { answer: vec![ftl.clone()], ..Choice::default() },
        class: None,
        op_ratios: vec![Share(0.2)],
        target: None,
        service: None,
        stop: Stop::default(),
    };
    let advice = question.answer(1, &|_| ()).unwrap();
    let point = advice.curves[0].points[0];
    (point.waf, point.verdict)
}

#[test]
fn the_same_question_has_the_same_answer_from_every_command() {
    let mut steady = 0;
    for trace in traces() {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        std::io::Write::write_all(&mut file, beginning(&trace).as_bytes()).unwrap();
        let is_demo = trace.ends_with("demo/tpcc-mariadb.parquet");
        for ftl in ["1r-greedy", "sepbit"].into_iter().take(if is_demo { 2 } else { 1 }) {
            let name = format!("{ftl} on {}", trace.display());
            let once = experiment(file.path(), ftl);
            let length = Length::UntilSteady(UNTIL_STEADY_DRIVE_WRITES);
            let asked = Experiment { length, repeat: true, ..once.clone() };
            let run = by_run(&asked);
            let compared = by_compare(&asked);
            assert_eq!((compared.waf, compared.steady_waf), (run.waf, run.steady_waf), "{name}");
            let (waf, verdict) = by_advise(&asked, &asked.ftls[0]);
            assert_eq!(verdict, run.settling.verdict, "{name}");
            let value = run.settling.window_waf.unwrap_or(run.waf);
            assert!((waf - value).abs() < 1e-12, "{name}: {waf} by advise, {value} by run");
            let slack = 0.03 * (value - 1.0) + 0.002;
            let bounds = by_run(&once).settling;
            let low = bounds.at_least.is_none_or(|least| least <= value + slack);
            let high = bounds.at_most.is_none_or(|most| most >= value - slack);
            assert!(low && high, "{name}: {value}, and once {bounds:?}");
            steady += usize::from(run.steady_waf.is_some());
        }
    }
    assert!(steady > 0, "none is steady");
}
