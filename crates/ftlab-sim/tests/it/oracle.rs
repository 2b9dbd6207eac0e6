//! What a generator says of its hot pages reaches the FTLs that ask for it.

use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Logical, SimError, Workload};
use ftlab_trace::OpenOptions;

fn run(workload: &str, ftls: &[&str]) -> Result<ExperimentResult, SimError> {
    let workload = Workload::parse(workload, OpenOptions::default())?;
    let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(2000),
            pages_per_block: Some(32),
            physical: ftlab_sim::Physical::Blocks(80),
            ..DriveOptions::default()
        },
        ..Experiment::new(workload, ftls)
    };
    experiment.run(&mut ())
}

#[test]
fn results_show_what_auto_came_to() {
    let ftls = [
        "oracle/greedy",
        "wolf:detector=oracle",
        "fdp-freq:detector=oracle",
        "lru/greedy:hot=auto",
        "wolf",
    ];
    let result = run("hotcold:writes=0.9,pages=0.25", &ftls).unwrap();
    let parameters = |run: usize, key: &str| result.runs[run].parameters[key].clone();
    assert_eq!(result.runs[0].ftl, "oracle/greedy");
    assert_eq!(parameters(0, "hot"), "0..0.25");
    assert_eq!(parameters(1, "oracle"), "0.25+0.75");
    assert_eq!(parameters(2, "oracle"), "0.25+0.75");
    assert_eq!(parameters(2, "hottest"), "first");
    assert_eq!((parameters(3, "hot"), parameters(3, "candidates")), ("200".into(), "1532".into()));
    assert_eq!(parameters(4, "oracle"), "auto", "it does not ask");
}

#[test]
fn what_is_told_equals_what_is_offered() {
    let result = run(
        "swap:sizes=0.3;0.7,rates=0.8;0.2,at=1",
        &[
            "oracle/cost-benefit",
            "oracle/cost-benefit:hot=0..0.3",
            "wolf:detector=oracle",
            "wolf:detector=oracle,oracle=0.3+0.7",
        ],
    )
    .unwrap();
    for pair in result.runs.chunks(2) {
        assert!(pair[0].relocations > 0);
        assert_eq!(pair[0].relocations, pair[1].relocations);
    }
}

#[test]
fn an_oracle_without_an_offer_says_what_to_type() {
    for (workload, ftl, part) in [
        ("zipf", "oracle/greedy", "oracle/greedy: hot=auto is not possible: the workload does not"),
        ("uniform", "oracle/greedy", "as in hot=0..0.1"),
        ("zipf", "wolf:detector=oracle", "as in oracle=0.1+0.9"),
        ("swap:rates=0.5;0.5", "oracle/greedy", "all its groups of pages alike"),
    ] {
        let error = run(workload, &[ftl]).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains(part), "{error}");
    }
}
