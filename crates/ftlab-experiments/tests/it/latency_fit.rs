//! Drives of the lab whose times are hidden, and found again.

use ftlab_experiments::Stop;
use ftlab_experiments::latency_fit::{
    DataSheet, LoadDrive, LoadQuestion, MeasuredLoad, MeasuredLoads, SimulatedLoad,
};
use ftlab_spec::Spec;

const SEQUENTIAL: f64 = 1.5e9;

fn question(loads: Vec<MeasuredLoad>) -> LoadQuestion {
    LoadQuestion {
        measured: MeasuredLoads { name: None, loads },
        reads_per_second: 5000.0,
        queue_depth: 64,
        queues: 1,
        reads: 1000,
        pages_of_lun: 3072,
        leaves_out: false,
        seed: 1,
        stop: Stop::default(),
    }
}

/// 16 LUNs, of which each programs 96 KiB at once, in as much time as sequential writes need.
fn hidden(read_us: f64, slice_us: f64, op_ratio: f64) -> LoadDrive {
    let program_us = (16.0 * 98_304.0 / SEQUENTIAL * 1e6 - 24.0 * 5.0) / 3.0;
    let timing = format!(
        "tlc:unit=request,channels=8,luns=2,page-types=one-shot,planes=2,flash-page=16KiB,read-us={read_us},\
         program-us={program_us:.1}/{program_us:.1}/{program_us:.1},transfer-us=5,erase-us=0,command-us=6,\
         priority=read-first,gc-priority=last,suspend=both,suspend-us=5,suspend-slice-us={slice_us},\
         write-buffer=3MiB"
    );
    LoadDrive {
        timing: timing.parse().unwrap(),
        op_ratio,
        gc: "gradual:from=0.04".parse().unwrap(),
    }
}

/// What a drive does when so many writes a second are asked for, measured with another seed.
fn measured(drive: &LoadDrive, asked: f64, expected: f64) -> MeasuredLoad {
    let load = MeasuredLoad {
        asked_per_second: Some(asked),
        writes_per_second: expected,
        ..MeasuredLoad::default()
    };
    let seed = 2;
    let done = LoadQuestion { seed, ..question(Vec::new()) }.simulate(drive, &load).unwrap();
    let kept_up = !load.is_saturated();
    MeasuredLoad {
        writes_per_second: if kept_up { asked } else { done.writes_per_second },
        reads: done.reads,
        writes: done.writes,
        ..load
    }
}

fn number(timing: &str, key: &str) -> f64 {
    timing.parse::<Spec>().unwrap().get(key).unwrap().parse().unwrap()
}

#[test]
fn times_of_a_hidden_drive_are_found_again() {
    let (read_us, slice_us, op_ratio) = (60.0, 150.0, 0.18);
    let drive = hidden(read_us, slice_us, op_ratio);
    let loads = [(20e3, 20e3), (200e3, 75e3)];
    let loads = loads.map(|(asked, expected)| measured(&drive, asked, expected)).to_vec();
    let known = DataSheet { sequential: SEQUENTIAL, random: None, op_ratio: None };
    let fit = question(loads).answer(known, 2, &|_| ()).unwrap();
    let near = |found: f64, hidden: f64, share: f64| (found / hidden - 1.0).abs() < share;
    assert!(near(number(&fit.timing, "read-us"), read_us, 0.1), "{fit:#?}");
    assert!(near(number(&fit.timing, "suspend-slice-us"), slice_us, 0.2), "{fit:#?}");
    assert!(near(fit.op_ratio, op_ratio, 0.1), "{fit:#?}");
    for row in &fit.loads {
        let offs = [row.off.read_mean, row.off.read_p50, row.off.read_p99];
        assert!(offs.iter().all(|off| off.unwrap().abs() < 0.15), "{fit:#?}");
    }
}

#[test]
fn a_load_that_only_reads_takes_its_reads_alone() {
    let drive = hidden(60.0, 150.0, 0.18);
    for (queue_depth, most_us) in [(1, 73.0), (8, 110.0)] {
        let load = MeasuredLoad {
            reads_per_second: Some(10_000.0),
            queue_depth: Some(queue_depth),
            ..MeasuredLoad::default()
        };
        let done = question(Vec::new()).simulate(&drive, &load).unwrap();
        // The command, the cells and the transfer; deeper, the others that wait for the same LUN.
        let mean_us = done.reads.mean_us.unwrap();
        assert!((71.0..most_us).contains(&mean_us), "{done:?}");
        let by_little = f64::from(queue_depth) / (mean_us / 1e6);
        assert!((done.reads_per_second / by_little - 1.0).abs() < 0.02, "{done:?}");
        assert!(done.writes_per_second < 0.01 * done.reads_per_second, "{done:?}");
    }
}

#[test]
fn reads_of_a_full_drive_wait_for_a_slot_as_writes_do() {
    let load = MeasuredLoad {
        asked_per_second: Some(200e3),
        writes_per_second: 75e3,
        ..MeasuredLoad::default()
    };
    let question = LoadQuestion { queue_depth: 224, queues: 7, ..question(Vec::new()) };
    let [all, in_turn, oldest] = ["", ",slots=64", ",slots=64,weights=oldest"].map(|slots| {
        let LoadDrive { timing, op_ratio, gc } = hidden(60.0, 150.0, 0.18);
        let timing = format!("{timing}{slots}").parse().unwrap();
        question.simulate(&LoadDrive { timing, op_ratio, gc }, &load).unwrap()
    });
    let median = |done: &SimulatedLoad| [done.reads.p50_us.unwrap(), done.writes.p50_us.unwrap()];
    let under_way = |us: f64| all.writes_per_second * us / 1e6;
    // Its own queue is never full: reads and writes wait their turn, and writes for what the drive has taken.
    let [read, write] = median(&in_turn);
    assert!(read > 1.5 * median(&all)[0], "{in_turn:?}");
    assert!((0.9..1.5).contains(&(under_way(write - read) / 64.0)), "{in_turn:?}");
    // In order, reads wait for all writes that came before, but for those that the drive has taken.
    let [read, write] = median(&oldest);
    assert!(read > median(&in_turn)[0] && read < write, "{oldest:?}");
    let of_reader = 5000.0 * (read + write) / 1e6;
    let waiting = 6.0 * 32.0 + of_reader - 64.0;
    let rate = oldest.writes_per_second + oldest.reads_per_second;
    assert!((0.9..1.15).contains(&(read * rate / 1e6 / waiting)), "{oldest:?}");
    for done in [&in_turn, &oldest] {
        assert!((done.writes_per_second / all.writes_per_second - 1.0).abs() < 0.03, "{done:?}");
        assert!((done.reads_per_second / 5000.0 - 1.0).abs() < 0.1, "{done:?}");
    }
}
