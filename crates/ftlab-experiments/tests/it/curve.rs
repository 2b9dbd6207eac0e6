//! Curves and advice give the same answer.

use ftlab_experiments::Stop;
use ftlab_experiments::advise::{Choice, Question, Target};
use ftlab_experiments::curve::Sampling;
use ftlab_sim::{DriveOptions, Experiment, Length, Workload};
use ftlab_spec::{Share, Spec};
use ftlab_trace::OpenOptions;
use std::path::{Path, PathBuf};

/// The trace of the demo, and the other captured ones where they are.
fn traces() -> Vec<PathBuf> {
    let mut traces =
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/tpcc-mariadb.parquet")];
    match std::env::var_os("FTLAB_SHARED") {
        None => eprintln!("skipped: FTLAB_SHARED does not say where the other captured traces are"),
        Some(folder) => traces.extend(
            ["linkbench-mariadb", "pgbench-postgresql"]
                .map(|name| Path::new(&folder).join("traces").join(format!("{name}.parquet"))),
        ),
    }
    traces
}

fn question(trace: &Path, pages_per_block: u32) -> Question {
    let text = trace.display().to_string();
    let workload = Workload::parse(&text, OpenOptions::default()).unwrap();
    let ftls: Vec<Spec> = ["1r-greedy", "sepbit"].map(|ftl| ftl.parse().unwrap()).to_vec();
    Question {
        base: Experiment {
            drive: DriveOptions {
                pages_per_block: Some(pages_per_block),
                ..DriveOptions::default()
            },
            length: Length::Writes(1_500_000),
            ..Experiment::new(workload, Vec::new())
        },
        ftls: Choice::new(&ftls, None),
        class: None,
        op_ratios: [0.07, 0.15, 0.28].map(Share).to_vec(),
        target: Some(Target::Waf(1.3)),
        service: None,
        stop: Stop::default(),
    }
}

#[test]
fn a_sample_amplifies_as_advice_says_where_it_says_what_is_needed() {
    for trace in traces() {
        let question = question(&trace, 256);
        let advice = question.answer(2, &|_| ()).unwrap();
        for curve in &advice.curves {
            let Some(needs) = curve.needs else { continue };
            let there = Question {
                ftls: Choice::new(&[curve.ftl.parse().unwrap()], None),
                op_ratios: vec![Share(needs.op_ratio)],
                ..question.clone()
            };
            let sampling = Sampling { one_in: 4, draws: 2 };
            let drawn = there.draw_curves(Some(sampling), 2, &|_, _| ()).unwrap();
            let point = &drawn.curves[0].points[0];
            let off = (point.waf - needs.waf) / (needs.waf - 1.0);
            let which = format!("{} on {}: {point:?}, {}", curve.ftl, trace.display(), needs.waf);
            assert_eq!(point.blocks, needs.blocks, "{which}");
            assert!(off.abs() < 0.1, "{which}");
        }
        assert!(advice.curves.iter().any(|curve| curve.needs.is_some()), "{}", advice.answer);
    }
}
