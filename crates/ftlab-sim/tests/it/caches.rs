//! Caches on drives that know streams, and on drives that do not.

use ftlab_sim::result::RunResult;
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Physical, Workload};
use ftlab_spec::Share;
use ftlab_trace::OpenOptions;

/// 256 MiB in blocks of 1 MiB, of which the cache uses all, written eight times, the last four of which count.
fn run(workload: &str) -> Vec<RunResult> {
    let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
    let ftls = ["nvme-fdp/greedy:persistent=all", "1r-greedy"];
    let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(1 << 16),
            pages_per_block: Some(256),
            physical: Physical::OverProvisioning(Share(0.145)),
            reserve_blocks: 9,
            ..DriveOptions::default()
        },
        fill: Fill::None,
        warmup_writes: 4 << 16,
        length: Length::DriveWrites(4.0),
        ..Experiment::new(workload, ftls)
    };
    let result = experiment.run(&mut ()).unwrap();
    assert!(result.workload.has_streams);
    result.runs
}

fn waf(run: &RunResult) -> f64 {
    1.0 + run.relocations as f64 / run.host_writes as f64
}

#[test]
fn streams_spare_a_cache_the_relocations_that_its_two_engines_cause_together() {
    let runs = run("cachelib:soc=0.04,region=64KiB");
    let (with, without) = (waf(&runs[0]), waf(&runs[1]));
    println!("soc 4%: {with:.3} with streams, {without:.3} without");
    assert!(with < 1.1 && without > with + 0.2, "{with} {without}");
    let handles = &runs[0].fdp.as_ref().unwrap().handles;
    let hbmw: Vec<u64> = handles.iter().map(|handle| handle.hbmw).collect();
    assert!(hbmw[1] > 0 && hbmw[2] > 0 && hbmw[0] + hbmw[3] == 0, "{hbmw:?}");
    // The regions of large objects are written in sequence: whole blocks become free.
    assert!(handles[2].mbmw < handles[2].hbmw * 102 / 100, "{handles:?}");
}

#[test]
fn the_larger_the_share_of_small_objects_the_less_streams_spare() {
    let [small, large] = ["0.04", "0.4"].map(|soc| {
        let runs = run(&format!("cachelib:soc={soc},region=64KiB"));
        (waf(&runs[0]), waf(&runs[1]))
    });
    println!("{small:?} {large:?}");
    assert!(large.0 > small.0 + 0.1 && large.0 < large.1, "{small:?} {large:?}");
}

#[test]
fn chunks_that_are_trimmed_cost_few_relocations() {
    for run in run("lmcache:chunk=256KiB") {
        assert!(waf(&run) < 1.3, "{}: {}", run.ftl, waf(&run));
    }
}
